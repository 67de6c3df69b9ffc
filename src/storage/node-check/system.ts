import type { Probe, ProbeResult } from '../../nodes/job.ts';
import { answersOf, notUnderstood, ObservationError, succeeded } from '../probe-results.ts';
import { formProbes, type Misunderstood, misunderstood } from './forms.ts';
import { missingTools, type Tool, toolProbes, versionsOf } from './tools.ts';

/** Facts about a node that are independent of its Volumes. */
export interface System {
  missingTools: readonly Tool[];
  /** Undefined if the node was not asked. */
  misunderstood: readonly Misunderstood[] | undefined;
  /** Versions by the name of the tool, of those that report one. */
  versions: ReadonlyMap<string, string>;
  /** Release as uname(1) prints it. */
  kernel: string;
  /** True if the kernel makes loop devices. */
  hasLoops: boolean;
  /**
   * Minimum lead of the node's clock over the caller's, in ms; negative if the node's clock is
   * behind.
   */
  aheadMs: number;
}

/** @param isThisVersion whether the rules of the node are those of this version */
export const systemProbes = (isThisVersion: boolean): Probe[] => [
  { name: 'date', argv: ['date', '+%s'] },
  { name: 'kernel', argv: ['cat', '/proc/sys/kernel/osrelease'] },
  // The kernel makes loop devices by number through it, and opening it loads the module.
  { name: 'loop-control', argv: ['test', '-c', '/dev/loop-control'] },
  ...toolProbes(),
  // Other rules may refuse a form, and with it the whole request.
  ...(isThisVersion ? formProbes() : []),
];

/**
 * Returns the facts about a node. `asked` and `answered`: the caller's clock, in ms.
 * @throws ObservationError if an answer cannot be parsed
 */
export function readSystem(
  results: ReadonlyMap<string, ProbeResult>,
  asked: number,
  answered: number,
): System {
  const get = answersOf(results);
  const date = succeeded('date', get('date')).trim();
  if (!/^\d+$/.test(date)) throw new ObservationError(notUnderstood('date', date));
  return {
    missingTools: missingTools(results),
    misunderstood: formProbes().some(({ name }) => results.has(name))
      ? misunderstood(results)
      : undefined,
    versions: versionsOf(results),
    kernel: succeeded('kernel', get('kernel')).trim(),
    hasLoops: get('loop-control').exit === 0,
    aheadMs: ahead(Number(date) * 1000, asked, answered),
  };
}

/**
 * Compares the clocks: a second that began at `second` was observed between the two other times.
 */
function ahead(second: number, asked: number, answered: number): number {
  if (second > answered) return second - answered;
  return Math.min(0, second + 1000 - asked);
}
