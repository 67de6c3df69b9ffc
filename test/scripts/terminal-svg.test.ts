import { describe, expect, test } from '@jest/globals';
import { terminalSvg } from '../../scripts/terminal-svg.ts';

/** Returns the rows of the picture, with ordinary spaces. */
const rowsOf = (text: string, columns = 80): string[] =>
  [...terminalSvg(text, columns).matchAll(/<text [^>]*>(.*)<\/text>/g)].map(([, row = '']) =>
    row.replaceAll('\u00a0', ' '),
  );

describe('terminalSvg', () => {
  test('draws a row per line, and none for an empty one', () => {
    expect(rowsOf('one\r\n\ntwo\n')).toEqual(['one', 'two']);
  });

  test('colors what ANSI escapes color', () => {
    expect(rowsOf('\u001b[31merror:\u001b[39m no \u001b[2mhint\u001b[22m')).toEqual([
      '<tspan fill="#ff7b72">error:</tspan> no <tspan opacity="0.65">hint</tspan>',
    ]);
  });

  test('keeps spaces, which SVG would collapse', () => {
    expect(terminalSvg('a  b', 80)).toContain('a\u00a0\u00a0b');
  });

  test('escapes text that would be markup', () => {
    expect(rowsOf('<none> & "x"')).toEqual(['&lt;none&gt; &amp; &quot;x&quot;']);
  });

  test('refuses a line that is wider than the terminal, which would break a word', () => {
    expect(rowsOf('one\nab\u001b[31mc\u001b[39m', 3)).toEqual([
      'one',
      'ab<tspan fill="#ff7b72">c</tspan>',
    ]);
    expect(() => terminalSvg('one\nab\u001b[31mcd\u001b[39m', 3)).toThrow(
      new RangeError('4 columns, but 3 fit: abcd'),
    );
  });

  test('draws no escape that hides the cursor', () => {
    expect(rowsOf('\u001b[?25lone\u001b[?25h')).toEqual(['one']);
  });
});
