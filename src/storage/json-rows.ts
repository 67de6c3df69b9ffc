/**
 * Rows of what util-linux prints with `-J`, under their key; it prints nothing at all when there is no row. Numbers
 * stay as they were printed: an inode of a network file system can be above 2^53.
 * @throws SyntaxError when it is not JSON, or takes too long to read
 */
export function list<T extends object>(text: string, key: string): T[] {
  if (text.trim() === '') return [];
  const rows = rowsOf<T>(JSON.parse(text), key);
  // A reviver takes six times as long, and there are as many rows as a node has devices.
  if (rows.every(isExact)) return rows.map(numbersAsText);
  if (text.length > REVIVED)
    throw new SyntaxError(`more than ${REVIVED} characters with numbers above 2^53`);
  return rowsOf<T>(JSON.parse(text, printedAs), key);
}

/** 4 MiB of numbers take more than a second, in which nothing else is done; a node with a thousand devices has a quarter of this. */
const REVIVED = 1 << 20;

const rowsOf = <T>(value: Record<string, T[]>, key: string): T[] => value[key] ?? [];

const isExact = (row: object): boolean =>
  Object.values(row).every((value) => typeof value !== 'number' || Number.isSafeInteger(value));

/** Changes the row, which is nobody else's. */
function numbersAsText<T extends object>(row: T): T {
  for (const [name, value] of Object.entries(row)) {
    if (typeof value === 'number') Object.assign(row, { [name]: String(value) });
  }
  return row;
}

/** The third argument of a reviver is newer than its type. */
function printedAs(_key: string, value: unknown, ...[context]: { source?: string }[]): unknown {
  return typeof value === 'number' ? context?.source : value;
}

/** util-linux before 2.33 prints flags as "0" and "1". */
export function truthy(value: boolean | string): boolean {
  return value === true || value === '1';
}
