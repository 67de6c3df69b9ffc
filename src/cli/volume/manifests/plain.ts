/**
 * Converts a parsed YAML value to JSON. Whole numbers arrive as bigint. Throws an Error that names
 * the field for values that JSON cannot represent: numbers that a double changes, cycles, bytes,
 * sets.
 */
export function plain(value: unknown, path = '', within: readonly unknown[] = []): unknown {
  const refuse = (found: string) => new Error(`${path === '' ? 'it' : path.slice(1)} is ${found}`);
  switch (typeof value) {
    case 'bigint':
      if (!Number.isSafeInteger(Number(value)))
        throw refuse(`${value}: write a number that large in quotes`);
      return Number(value);
    case 'number':
      if (!Number.isFinite(value)) throw refuse(`${value}, which is not a number`);
      return value;
    case 'string':
    case 'boolean':
      return value;
  }
  if (value === null || value === undefined) return null;
  if (within.includes(value)) throw refuse('an alias of an object that contains it');
  const inside = [...within, value];
  if (Array.isArray(value))
    return value.map((item, index) => plain(item, `${path}[${index}]`, inside));
  if (Object.getPrototypeOf(value) !== Object.prototype) throw refuse('of a type that JSON lacks');
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, plain(item, `${path}.${key}`, inside)]),
  );
}
