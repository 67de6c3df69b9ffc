export type Fields = Record<string, unknown>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Returns a deep copy. (Objects from structuredClone belong to another realm within
 * jest, and then equal nothing.)
 */
export function copyOf<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}

/** Returns a copy with the keys of each object sorted. */
export function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (!isFields(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sortedKeys(value[key])]),
  );
}
