export type Fields = Record<string, unknown>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A deep copy. (Objects from structuredClone are of another realm within jest, and then equal to nothing.) */
export function copyOf<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}

/** A copy with the keys of each object in the order of their text. */
export function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (!isFields(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sortedKeys(value[key])]),
  );
}
