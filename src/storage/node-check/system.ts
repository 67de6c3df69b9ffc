import type { Probe, ProbeResult } from '../../nodes/job.ts';
import { answersOf, notUnderstood, ObservationError, succeeded } from '../probe-results.ts';
import { missingTools, type Tool, toolProbes, versionsOf } from './tools.ts';

/** What a node is, whatever Volumes it has. */
export interface System {
  missingTools: readonly Tool[];
  /** By the name of the tool; of those that say theirs. */
  versions: ReadonlyMap<string, string>;
  /** As uname(1) prints the release. */
  kernel: string;
  /** Whether the kernel makes loop devices. */
  hasLoops: boolean;
  /** How far the clock is ahead of the caller's at least, in ms; negative where it is behind. */
  aheadMs: number;
}

/** They read only. */
export const systemProbes = (): Probe[] => [
  { name: 'date', argv: ['date', '+%s'] },
  { name: 'kernel', argv: ['cat', '/proc/sys/kernel/osrelease'] },
  // Devices are made through it by their number, and opening it loads the module.
  { name: 'loop-control', argv: ['test', '-c', '/dev/loop-control'] },
  ...toolProbes(),
];

/** `asked` and `answered`: the caller's clock, in ms. @throws ObservationError for an answer that is not understood */
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
    versions: versionsOf(results),
    kernel: succeeded('kernel', get('kernel')).trim(),
    hasLoops: get('loop-control').exit === 0,
    aheadMs: ahead(Number(date) * 1000, asked, answered),
  };
}

/** A second that began at `second`, seen at some time between two others. */
function ahead(second: number, asked: number, answered: number): number {
  if (second > answered) return second - answered;
  return Math.min(0, second + 1000 - asked);
}
