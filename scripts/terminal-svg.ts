import anser, { type AnserJsonEntry } from 'anser';

/** Width of the terminal. */
export const COLUMNS = 120;

const COLUMN_PX = 8.4;
const LINE_PX = 19;
const MARGIN_PX = 16;
const BAR_PX = 34;

/** Colors on a dark ground, by anser's names. */
const COLORS: Record<string, string> = {
  'ansi-red': '#ff7b72',
  'ansi-green': '#7ee787',
  'ansi-yellow': '#e3b341',
  'ansi-cyan': '#79c0ff',
};

/** Shows and hides the cursor. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: escapes begin with a control character
const CURSOR = /\u001b\[\?25[hl]/g;

/**
 * Returns an SVG picture of a terminal with this text, whose colors are ANSI escapes. Throws a
 * RangeError for a line that is longer than the given number of columns: a terminal would break it
 * within a word.
 */
export function terminalSvg(text: string, columns: number): string {
  const lines = text.replaceAll(CURSOR, '').split(/[\r\n]+/);
  const rows = lines.filter(Boolean).map((line) => rowOf(line, columns));
  const width = Math.ceil(columns * COLUMN_PX + 2 * MARGIN_PX);
  const height = BAR_PX + rows.length * LINE_PX + MARGIN_PX;
  const drawn = rows.map((row, at) => {
    const y = BAR_PX + (at + 1) * LINE_PX - 5;
    return `<text x="${MARGIN_PX}" y="${y}">${row.join('')}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="Stowage on a terminal">
<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>
<circle cx="20" cy="17" r="6" fill="#ff5f56"/><circle cx="40" cy="17" r="6" fill="#ffbd2e"/><circle cx="60" cy="17" r="6" fill="#27c93f"/>
<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14" fill="#c9d1d9">
${drawn.join('\n')}
</g>
</svg>
`;
}

/** Returns the drawn parts of a line, each of one color. Throws a RangeError. */
function rowOf(line: string, columns: number): string[] {
  const parts = anser.ansiToJson(line, { use_classes: true, remove_empty: true });
  const text = parts.map(({ content }) => content).join('');
  const width = [...text].length;
  if (width > columns) throw new RangeError(`${width} columns, but ${columns} fit: ${text}`);
  return parts.map((part) => draw(part.content, part));
}

function draw(text: string, { fg, decorations }: AnserJsonEntry): string {
  const marks = [
    ...(fg ? [`fill="${COLORS[fg] ?? 'currentColor'}"`] : []),
    ...(decorations.includes('bold') ? ['font-weight="bold"'] : []),
    ...(decorations.includes('dim') ? ['opacity="0.65"'] : []),
  ];
  // SVG collapses spaces, and viewers differ in how that is turned off.
  const escaped = anser.escapeForHtml(text).replaceAll(' ', '\u00a0');
  return marks.length === 0 ? escaped : `<tspan ${marks.join(' ')}>${escaped}</tspan>`;
}
