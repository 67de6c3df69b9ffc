import type { Executor, Expect, Precondition, ProbeResult } from './job.ts';

/**
 * Time limit, shorter than that of a round trip. The output of a killed command is incomplete, so
 * that nothing is concluded from it.
 */
const BOUNDED = ['timeout', '-s', 'KILL', '10'];

/** Returns the command of a precondition for a check outside a job. */
export const probeArgv = ({
  argv,
  late,
}: Pick<Precondition, 'argv' | 'late'>): readonly string[] =>
  late === undefined ? argv : [...BOUNDED, ...argv];

/** Exit statuses of a command that could run and was not killed. */
const ENDED_ITSELF = [0, 1];

/**
 * Reports whether a command gave the expected answer. Newlines at the end of the output are
 * ignored, as in a job on the node.
 */
export function holds(
  { exit, stdout: text }: Expect,
  result: Pick<ProbeResult, 'exit' | 'stdout'>,
): boolean {
  const stdout = result.stdout.replace(/\n+$/, '');
  if (exit !== undefined && exit !== result.exit) return false;
  if (text === undefined) return true;
  return 'is' in text
    ? stdout === text.is
    : stdout.includes(text.has) && !stdout.includes(text.lacks);
}

/**
 * Checks in one round trip whether preconditions hold on a node, so that a refusal is known before
 * the step is submitted. The step keeps its preconditions, which may fail later.
 * @param preconditions read-only commands that the node allows as probes; what may hang is killed
 * after 10 s
 * @returns the refusal of the first that does not hold; undefined if all hold
 * @throws NodeError if the node could not be queried
 */
export async function checkPreconditions(
  executor: Pick<Executor, 'observe'>,
  node: string,
  preconditions: readonly Precondition[],
): Promise<Omit<Precondition, 'argv' | 'expect'> | undefined> {
  if (preconditions.length === 0) return undefined;
  // Preconditions of several devices have commands in common, such as reading /proc/swaps.
  const probes = new Map(
    preconditions.map((precondition, index) => [
      JSON.stringify(precondition.argv),
      { name: `precondition ${index}`, argv: probeArgv(precondition) },
    ]),
  );
  const results = await executor.observe(node, [...probes.values()]);
  for (const { argv, expect, late, ...refused } of preconditions) {
    const result = results.get(probes.get(JSON.stringify(argv))?.name ?? '');
    if (late !== undefined && !ENDED_ITSELF.includes(result?.exit ?? -1)) return late;
    if (result === undefined || !holds(expect, result)) return refused;
  }
  return undefined;
}
