import type { Output } from '../../src/cli/lib/io.ts';

export interface Screen extends Output {
  columns: number;
  rows: number;
  /** Returns the visible lines, without whitespace and empty lines at the end of the screen. */
  shown(): string[];
  /** Lines that scrolled off the top and can no longer be overwritten. */
  scrolled: string[];
}

/** Returns a terminal with line breaks, wrapping, cursor up, and clear to the end of the screen. */
export function screen(columns: number, rows: number): Screen {
  let lines: string[] = [''];
  let row = 0;
  let column = 0;
  const newline = () => {
    column = 0;
    row++;
    if (row < lines.length) return;
    lines.push('');
    if (lines.length <= result.rows) return;
    result.scrolled.push(lines.shift() ?? '');
    row--;
  };
  const result: Screen = {
    isTTY: true,
    columns,
    rows,
    scrolled: [],
    shown: () => lines.join('\n').trimEnd().split('\n'),
    write(text) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: terminals are steered by them
      for (const part of text.match(/\u001b\[[0-9]*[A-Z]|./gsu) ?? []) {
        // biome-ignore lint/suspicious/noControlCharactersInRegex: terminals are steered by them
        const [, count, command] = /^\u001b\[([0-9]*)([A-Z])$/.exec(part) ?? [];
        if (command === 'A') row = Math.max(0, row - Number(count));
        else if (command === 'J')
          lines = [...lines.slice(0, row), (lines[row] ?? '').slice(0, column)];
        else if (part === '\r') column = 0;
        else if (part === '\n') newline();
        else {
          if (column === result.columns) newline();
          const line = (lines[row] ?? '').padEnd(column);
          lines[row] = line.slice(0, column) + part + line.slice(column + 1);
          column++;
        }
      }
    },
  };
  return result;
}
