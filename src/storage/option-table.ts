/** Each pattern matches whole values only, none of which begins with `-` or is empty. */
export type Check = (value: string) => string | undefined;

/** The options that a class may set of a program, each with a check of its value; `flag` for one without a value. */
export type OptionTable = ReadonlyMap<string, Check | 'flag'>;

export const like =
  (pattern: RegExp, wanted: string): Check =>
  (value) =>
    pattern.test(value) ? undefined : `must be ${wanted}`;

/** `key=value,…`, each key known. A pattern of undefined is that of a key without a value. */
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
        return `has ${JSON.stringify(setting)}, whose value is not one of ${key}`;
      }
    }
    return undefined;
  };

/**
 * Options as a storage class gives them: a list of strings. Returned with option and value apart (`-m0` becomes `-m`,
 * `0`), or what is wrong with them.
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
