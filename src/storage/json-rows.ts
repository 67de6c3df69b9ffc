/**
 * Rows of what util-linux prints with `-J`, under their key; it prints nothing at all when there is no row. Numbers
 * stay as they were printed: an inode of a network file system can be above 2^53.
 * @throws SyntaxError when it is not JSON
 */
export function list<T>(text: string, key: string): T[] {
  return text.trim() === '' ? [] : ((JSON.parse(text, numberAsText) as Record<string, T[]>)[key] ?? []);
}

/** The third argument of a reviver is newer than its type. */
function numberAsText(_key: string, value: unknown, ...[context]: { source?: string }[]): unknown {
  return typeof value === 'number' ? context?.source : value;
}

/** util-linux before 2.33 prints flags as "0" and "1". */
export function truthy(value: boolean | string): boolean {
  return value === true || value === '1';
}
