import { LANES } from './lanes.ts';
import { toRegExp, UsageError } from './main.ts';

export interface Arguments {
  stages: readonly string[];
  /** Regular expressions of paths. */
  patterns: readonly string[];
  /** Options of jest, with their values. */
  options: readonly string[];
}

const isStage = (arg: string): boolean =>
  arg === 'checks' || arg === 'unit' || Object.hasOwn(LANES, arg);

/**
 * Reads `LANE… [--] [PATTERN…] [JEST OPTION…]`. Lanes end at `--`, or at the first argument that is
 * not a lane. After `--`, a pattern may have the name of a lane. Everything from the first option
 * on is passed to jest. Throws a UsageError.
 */
export function parseArguments(args: readonly string[]): Arguments {
  const separator = args.indexOf('--');
  const end = separator < 0 ? args.findIndex((arg) => !isStage(arg)) : separator;
  const stages = end < 0 ? args : args.slice(0, end);
  const unknown =
    stages.find((stage) => !isStage(stage)) ?? (stages.length === 0 ? (args[0] ?? '') : undefined);
  if (unknown !== undefined) {
    throw new UsageError(
      `there is no lane '${unknown}', only ${['checks', 'unit', ...Object.keys(LANES)].join(', ')}`,
    );
  }
  const rest = end < 0 ? [] : args.slice(separator < 0 ? end : end + 1);
  const first = rest.findIndex((arg) => arg.startsWith('-'));
  const patterns = first < 0 ? rest : rest.slice(0, first);
  for (const pattern of patterns) toRegExp(pattern);
  return { stages, patterns, options: first < 0 ? [] : rest.slice(first) };
}
