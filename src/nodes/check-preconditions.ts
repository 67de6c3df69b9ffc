import type { Executor, Expect, Precondition, ProbeResult } from './job.ts';

/** Less than a round trip may take. What it was to list is not all there, so that nothing is to be read from it. */
const BOUNDED = ['timeout', '-s', 'KILL', '10'];

/** What is run of a precondition while no job is. */
export const asProbe = ({ argv, late }: Pick<Precondition, 'argv' | 'late'>): readonly string[] =>
  late === undefined ? argv : [...BOUNDED, ...argv];

/** Of what was not ended, and could be run at all. */
const ENDED_ITSELF = [0, 1];

/** Whether a command answered what is expected. As a job on its node sees it: without newlines at the end of the output. */
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
 * Looks in one round trip whether preconditions hold on a node, so that it can be told before the step that has them is
 * submitted. The step keeps them: what holds now need not hold then.
 * @param preconditions commands that only read, and that the node allows as probes; what may hang is ended after 10 s
 * @returns the refusal of the first that does not hold; undefined where all do
 * @throws NodeError where the node could not be asked
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
      { name: `precondition ${index}`, argv: asProbe(precondition) },
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
