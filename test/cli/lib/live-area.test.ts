import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { liveArea } from '../../../src/cli/lib/output/live-area.ts';
import { screen } from '../../support/screen.ts';
import { TEST_SEED } from '../../support/test-seed.ts';

test('redraws its own lines, and leaves earlier output alone', () => {
  const terminal = screen(20, 8);
  terminal.write('$ stowage\n');
  const area = liveArea(terminal);
  area.draw('one\ntwo\nthree\n');
  area.draw('only one\n');
  expect(terminal.shown()).toEqual(['$ stowage', 'only one']);
  area.draw('one\ntwo\n');
  expect(terminal.shown()).toEqual(['$ stowage', 'one', 'two']);
});

test('writes nothing if the drawing is unchanged', () => {
  const terminal = screen(20, 8);
  const area = liveArea(terminal);
  area.draw('one\n');
  terminal.write('by hand');
  area.draw('one\n');
  expect(terminal.shown()).toEqual(['one', 'by hand']);
});

test('clears wrapped lines when it redraws', () => {
  const terminal = screen(10, 8);
  const area = liveArea(terminal);
  area.draw('0123456789abc\nshort\n');
  expect(terminal.shown()).toEqual(['0123456789', 'abc', 'short']);
  area.draw('short\n');
  expect(terminal.shown()).toEqual(['short']);
  expect(terminal.scrolled).toEqual([]);
});

test('draws no more than fits, and counts the lines left out', () => {
  const terminal = screen(20, 4);
  const area = liveArea(terminal);
  for (let round = 0; round < 3; round++) area.draw(`NAME\na\nb${round}\nc\n`);
  expect(terminal.shown()).toEqual(['NAME', 'a', '… and 2 more']);
  expect(terminal.scrolled).toEqual([]);
});

test('continues below output that others wrote', () => {
  const terminal = screen(20, 8);
  const area = liveArea(terminal);
  area.draw('one\n');
  area.leave();
  terminal.write('warning\n');
  area.draw('two\n');
  area.draw('three\n');
  expect(terminal.shown()).toEqual(['one', 'warning', 'three']);
});

test(`leaves the last drawing on the screen, whatever was drawn before (seed ${TEST_SEED})`, () => {
  const line = fc.stringMatching(/^[a-z]{0,24}$/);
  fc.assert(
    fc.property(
      fc.array(fc.array(line, { minLength: 1, maxLength: 6 }), { minLength: 1 }),
      fc.integer({ min: 8, max: 30 }),
      (drawings, columns) => {
        // Space for all: six lines, each wrapped at most three times.
        const terminal = screen(columns, 40);
        const area = liveArea(terminal);
        for (const lines of drawings) area.draw(lines.join('\n'));
        const fresh = screen(columns, 40);
        fresh.write(drawings.at(-1)?.join('\n') ?? '');
        expect(terminal.shown()).toEqual(fresh.shown());
      },
    ),
    { seed: TEST_SEED },
  );
});
