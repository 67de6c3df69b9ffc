/**
 * Returns the rows under a key of what util-linux prints with `-J`, which is nothing at all without
 * rows. Numbers stay as printed: an inode of a network file system can exceed 2^53.
 * @throws SyntaxError if the text is not JSON, or takes too long to parse
 */
export function list<T extends object>(text: string, key: string): T[] {
  if (text.trim() === '') return [];
  const rows = rowsOf<T>(JSON.parse(text), key);
  // A reviver takes six times as long, and each device of the node is a row.
  if (rows.every(isExact)) return rows.map(numbersAsText);
  if (text.length > REVIVED)
    throw new SyntaxError(`more than ${REVIVED} characters with numbers above 2^53`);
  return rowsOf<T>(JSON.parse(text, printedAs), key);
}

/**
 * Maximum characters to parse with a reviver: 4 MiB of numbers block the process for more than a
 * second. The output of a node with a thousand devices is a quarter of this limit.
 */
const REVIVED = 1 << 20;

const rowsOf = <T>(value: Record<string, T[]>, key: string): T[] => value[key] ?? [];

const isExact = (row: object): boolean =>
  Object.values(row).every((value) => typeof value !== 'number' || Number.isSafeInteger(value));

/** Replaces numbers by text in the row itself, which has no other user. */
function numbersAsText<T extends object>(row: T): T {
  for (const [name, value] of Object.entries(row)) {
    if (typeof value === 'number') Object.assign(row, { [name]: String(value) });
  }
  return row;
}

/** Returns a number as printed. The third argument of a reviver is newer than its type. */
function printedAs(_key: string, value: unknown, ...[context]: { source?: string }[]): unknown {
  return typeof value === 'number' ? context?.source : value;
}

/** Parses a flag: util-linux before 2.33 prints flags as "0" and "1". */
export function truthy(value: boolean | string): boolean {
  return value === true || value === '1';
}
