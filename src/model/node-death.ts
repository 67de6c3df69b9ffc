import { isWrittenOnSeveral } from '../api/access-modes.ts';
import { age } from '../api/age.ts';
import type { KubeNode } from '../api/core.ts';
import { OUT_OF_SERVICE_TAINT } from '../api/names.ts';
import type { Volume } from '../api/volume.ts';
import { quote } from '../nodes/quote.ts';
import { isOff, MAX_WAIT_FOR_UNMOUNT, readyConditionOf } from './node-health.ts';

/** Returns the command that says that a machine is off. */
export const taintOff = (node: string): string =>
  `kubectl taint node ${/^[a-zA-Z0-9_./-]+$/.test(node) ? node : quote(node)} ${quote(`${OUT_OF_SERVICE_TAINT}=nodeshutdown:NoExecute`)}`;

export type Verdict =
  /** `mayRun`: nobody says that the machine is off, and the volume can be attached elsewhere. */
  { dead: string; mayRun: boolean } | { alive: string; hint: string };

/**
 * Whether a node is known to be dead, for a Volume. `now` is in ms since the epoch.
 * @param maxWaitMs for how long a node may be NotReady and live; Infinity: for ever. Less than the default counts as that: a Lease
 *   tells it, and tenants can write Leases
 */
export function verdictOf(
  name: string,
  node: KubeNode | undefined,
  volume: Pick<Volume, 'spec'>,
  now: number,
  maxWaitMs: number,
): Verdict {
  const moves = isWrittenOnSeveral(volume.spec);
  const wait = Math.max(maxWaitMs, MAX_WAIT_FOR_UNMOUNT);
  if (node === undefined) return { dead: `there is no Node ${name} any more`, mayRun: moves };
  if (isOff(node)) return { dead: `node ${name} is out of service`, mayRun: false };
  const ready = readyConditionOf(node);
  const taint = taintOff(name);
  if (ready?.status === 'True') {
    const tainted = node.spec?.taints?.some(({ key }) => key === OUT_OF_SERVICE_TAINT) ?? false;
    return {
      alive: `node ${name} is Ready${tainted ? `, though it has the taint ${OUT_OF_SERVICE_TAINT}` : ''}`,
      hint: `Nothing is taken from a node that lives: end the pods there, and it is detached by itself. Once the machine is off: ${taint}`,
    };
  }
  const since = Date.parse(ready?.lastTransitionTime ?? '');
  const found = Number.isNaN(since)
    ? `node ${name} is NotReady, and it is not known since when`
    : `node ${name} is NotReady for ${age(ready?.lastTransitionTime, now)}`;
  if (moves) {
    return {
      alive: `${found}, and may still write to the directory that it shares with other nodes`,
      hint: `Switch the machine off, and say so: ${taint}`,
    };
  }
  if (now - since > wait) return { dead: found, mayRun: false };
  return {
    alive: found,
    hint: Number.isFinite(wait)
      ? `Wait until that is ${lengthOf(wait)}, or switch the machine off, and say so: ${taint}`
      : `Switch the machine off, and say so: ${taint}`,
  };
}

/** `6 minutes`, or in seconds where it is no whole number of those. */
const lengthOf = (ms: number): string =>
  ms % 60_000 === 0 ? `${ms / 60_000} minutes` : `${Math.ceil(ms / 1000)} s`;
