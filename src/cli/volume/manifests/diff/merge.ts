/** Applies a JSON merge patch (RFC 7386) to a value, as API servers do. */
export function merged(value: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result = new Map(isObject(value) ? Object.entries(value) : []);
  for (const [key, change] of Object.entries(patch)) {
    if (change === null) result.delete(key);
    else result.set(key, merged(result.get(key), change));
  }
  return Object.fromEntries(result);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
