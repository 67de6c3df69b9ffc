import { Readable, Writable } from 'node:stream';
import { expect, test } from '@jest/globals';
import type { Io, Output } from '../../../src/cli/lib/io.ts';
import { showProgress } from '../../../src/cli/lib/output/progress.ts';
import { systemClock } from '../../../src/workqueue/clock.ts';

function ioTo(stderr: Output, env: Io['env'] = {}): Io {
  const unexpected = () => {
    throw new Error('standard output is for data');
  };
  return {
    stdin: Readable.from([]),
    stdout: { write: unexpected },
    stderr,
    env,
    signal: new AbortController().signal,
    onHangup() {},
    clock: systemClock,
    connect: unexpected,
    nodes: unexpected,
    prompts: unexpected,
  };
}

const TASKS = [
  {
    title: 'a',
    run: async (tell: (state: string) => void) => {
      tell('starting');
      tell('starting');
      tell('done\u001b[2J');
      return 1;
    },
  },
  {
    title: 'b',
    run: async (tell: (state: string) => void): Promise<number> => {
      tell('starting');
      throw new Error('no');
    },
  },
];
const ENDS = [
  { status: 'fulfilled', value: 1 },
  { status: 'rejected', reason: new Error('no') },
];

test('without a terminal there is a line for each change', async () => {
  let text = '';
  const write = (more: string) => {
    text += more;
  };
  expect(await showProgress(ioTo({ write }), TASKS)).toEqual(ENDS);
  expect(text).toBe('a: starting\na: done\ufffd[2J\nb: starting\n');
});

/** Creates a stream with the properties of a terminal that progress output uses. */
function terminal(): { stream: Output; shown(): string } {
  let text = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += chunk;
      done();
    },
  });
  return {
    stream: Object.assign(stream, { isTTY: true, columns: 80, rows: 24 }) as Output,
    shown: () => text,
  };
}

test('on a terminal, progress is redrawn in place on standard error only', async () => {
  const { stream, shown } = terminal();
  expect(await showProgress(ioTo(stream), TASKS)).toEqual(ENDS);
  expect(shown()).toContain('a: done\ufffd[2J');
  expect(shown()).toContain('b: starting');
  expect(shown()).toContain('\u001b[?25h');
});

test('a dumb terminal gets a line for each change', async () => {
  const { stream, shown } = terminal();
  await showProgress(ioTo(stream, { TERM: 'dumb' }), TASKS);
  expect(shown()).toBe('a: starting\na: done\ufffd[2J\nb: starting\n');
});
