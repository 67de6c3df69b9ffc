import type { Output } from '../io.ts';
import { shorten, widthOf } from './width.ts';

export interface LiveArea {
  /** Shows lines in place of those before. */
  draw(text: string): void;
  /** Leaves what is drawn where it is: what comes next is drawn below. For who has to write in between. */
  leave(): void;
}

/** The last lines of a terminal, drawn again and again. No more is drawn than fits on it. */
export function liveArea(terminal: Output): LiveArea {
  let drawn: string[] = [];
  /** Asked each time, for it may have changed. A terminal that does not say is as they were built. */
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

/** Lines of the terminal that these take: long ones are wrapped. */
const heightOf = (lines: readonly string[], columns: number): number =>
  lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / columns)), 0);

/** Up to one less than the terminal has, where the cursor stays. */
function fitting(lines: readonly string[], columns: number, rows: number): string[] {
  if (heightOf(lines, columns) < rows) return [...lines];
  const kept: string[] = [];
  for (const line of lines) {
    if (heightOf([...kept, line], columns) > rows - 2) break;
    kept.push(line);
  }
  return [...kept, shorten(`… and ${lines.length - kept.length} more`, columns)];
}
