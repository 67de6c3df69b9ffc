import type { Output } from '../io.ts';
import { shorten, widthOf } from './width.ts';

export interface LiveArea {
  /** Shows lines in place of those before. */
  draw(text: string): void;
  /** Keeps the drawn lines; the next ones are drawn below. Call it before writing anything else. */
  leave(): void;
}

/** Returns an area of a terminal's last lines, to draw repeatedly. Draws only as many as fit. */
export function liveArea(terminal: Output): LiveArea {
  let drawn: string[] = [];
  /** Returns the current size, which may change. Default: the classic 80 by 24. */
  const size = () => ({ columns: terminal.columns || 80, rows: terminal.rows || 24 });
  return {
    draw(text) {
      const { columns, rows } = size();
      const lines = fitting(text.replace(/\n$/, '').split('\n'), columns, rows);
      if (lines.join('\n') === drawn.join('\n')) return;
      const up = heightOf(drawn, columns);
      const back = up === 0 ? '' : `\u001b[${up}A\r\u001b[0J`;
      terminal.write(`${back}${lines.map((line) => `${line}\n`).join('')}`);
      drawn = lines;
    },
    leave() {
      drawn = [];
    },
  };
}

/** Returns the number of lines on the terminal, where long ones are wrapped. */
const heightOf = (lines: readonly string[], columns: number): number =>
  lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / columns)), 0);

/** Returns the lines that fit on all rows but the last, where the cursor stays. */
function fitting(lines: readonly string[], columns: number, rows: number): string[] {
  if (heightOf(lines, columns) < rows) return [...lines];
  const kept: string[] = [];
  for (const line of lines) {
    if (heightOf([...kept, line], columns) > rows - 2) break;
    kept.push(line);
  }
  return [...kept, shorten(`… and ${lines.length - kept.length} more`, columns)];
}
