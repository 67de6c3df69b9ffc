/**
 * Check of a value, which returns the problem. Patterns match whole values only, and never an empty
 * value or one that begins with `-`.
 */
export type Check = (value: string) => string | undefined;

/**
 * Options that a class may set for a program, each with a check of its value; `flag` if it has
 * none.
 */
export type OptionTable = ReadonlyMap<string, Check | 'flag'>;

export const like =
  (pattern: RegExp, wanted: string): Check =>
  (value) =>
    pattern.test(value) ? undefined : `must be ${wanted}`;

/** Checks `key=value,…` with known keys. A key whose pattern is undefined has no value. */
export const settings =
  (known: ReadonlyMap<string, RegExp | undefined>): Check =>
  (value) => {
    for (const setting of value.split(',')) {
      const [key = '', ...rest] = setting.split('=');
      if (!known.has(key))
        return `has ${JSON.stringify(key)}; allowed are ${[...known.keys()].join(', ')}`;
      const pattern = known.get(key);
      const given = rest.length === 0 ? undefined : rest.join('=');
      if (pattern === undefined ? given !== undefined : !pattern.test(given ?? '')) {
        return `has ${JSON.stringify(setting)}, whose value is not valid for ${key}`;
      }
    }
    return undefined;
  };

/**
 * Checks the options of a storage class, a list of strings. Returns options and values as separate
 * elements (`-m0` becomes `-m`, `0`), or the problem.
 */
export function checkOptions(
  table: OptionTable,
  options: unknown,
): { options: string[] } | { problem: string } {
  if (!Array.isArray(options) || !options.every((option) => typeof option === 'string')) {
    return {
      problem: `${JSON.stringify(options)} is not a JSON list of strings, such as ["-m", "0"]`,
    };
  }
  const checked: string[] = [];
  const left = options.values();
  for (const element of left) {
    const option = element.slice(0, 2);
    const check = table.get(option);
    if (check === undefined || (check === 'flag' && element.length > 2)) {
      return {
        problem: `option ${JSON.stringify(element)} is not allowed; allowed are ${[...table.keys()].join(' ')}`,
      };
    }
    if (check === 'flag') {
      checked.push(option);
      continue;
    }
    const value = element.length > 2 ? element.slice(2) : left.next().value;
    if (value === undefined) return { problem: `option ${option} needs a value` };
    const problem = check(value);
    if (problem !== undefined)
      return { problem: `option ${option} ${JSON.stringify(value)} ${problem}` };
    checked.push(option, value);
  }
  return { options: checked };
}
