import { isWrittenOnSeveral } from '../api/access-modes.ts';
import { age } from '../api/age.ts';
import type { KubeNode } from '../api/core.ts';
import { OUT_OF_SERVICE_TAINT } from '../api/names.ts';
import type { Volume } from '../api/volume.ts';
import { quote } from '../nodes/quote.ts';
import {
  isNodeReady,
  isOff,
  MAX_WAIT_FOR_UNMOUNT,
  notReadySince,
  readyConditionOf,
} from './node-health.ts';

/** Signs of life of a machine, as its Node shows them. */
export interface NodeSigns {
  /** There is a Node object of that name. */
  exists: boolean;
  ready: boolean;
  /** Since when it is not Ready, ms since the epoch; undefined while it is. */
  notReadySince: number | undefined;
  /** The out-of-service taint is on it, and it is not Ready: somebody vouches that it is off. */
  off: boolean;
}

export const nodeSigns = (node: KubeNode | undefined): NodeSigns => ({
  exists: node !== undefined,
  ready: isNodeReady(node),
  notReadySince: notReadySince(node),
  off: node !== undefined && isOff(node),
});

/** How the death of a node is judged for one volume. */
export interface DeathRule {
  /** Another node may write to the volume at the same time, so that only the taint counts. */
  requiresFencing: boolean;
  /** How long a node may be NotReady and live, in ms; Infinity: for ever. */
  maxWaitMs: number;
}

export type NodeDeath = 'out-of-service' | 'node-gone' | 'timeout';

/**
 * Returns why a node counts as dead; undefined while it may live. The one place where that is decided, for the daemon and
 * for commands; an operator may vouch for more (`judgeNode`, and `operatorDetachRequests` of the daemon). `now` is in ms since
 * the epoch.
 */
export function nodeDeath(signs: NodeSigns, rule: DeathRule, now: number): NodeDeath | undefined {
  if (signs.off) return 'out-of-service';
  if (!signs.exists) return rule.requiresFencing ? undefined : 'node-gone';
  return deathDeadline(signs, rule) <= now ? 'timeout' : undefined;
}

/** Returns when a node that is NotReady counts as dead, in ms since the epoch; Infinity: never by waiting. */
export const deathDeadline = (
  { notReadySince }: NodeSigns,
  { requiresFencing, maxWaitMs }: DeathRule,
): number => (requiresFencing ? Infinity : (notReadySince ?? Infinity) + maxWaitMs);

/** Returns the command that says that a machine is off. */
export const taintOff = (node: string): string =>
  `kubectl taint node ${/^[a-zA-Z0-9_./-]+$/.test(node) ? node : quote(node)} ${quote(`${OUT_OF_SERVICE_TAINT}=nodeshutdown:NoExecute`)}`;

export type NodeVerdict =
  /** `mayRun`: nobody says that the machine is off, and the volume can be attached elsewhere. */
  { dead: string; mayRun: boolean } | { alive: string; hint: string };

/**
 * Reports to an operator whether a node is known to be dead, for a Volume. `now` is in ms since the epoch.
 * @param maxWaitMs for how long a node may be NotReady and live; Infinity: for ever. Less than the default counts as that: a Lease
 *   tells it, and tenants can write Leases
 */
export function judgeNode(
  name: string,
  node: KubeNode | undefined,
  volume: Pick<Volume, 'spec'>,
  now: number,
  maxWaitMs: number,
): NodeVerdict {
  const moves = isWrittenOnSeveral(volume.spec);
  const rule = { requiresFencing: moves, maxWaitMs: Math.max(maxWaitMs, MAX_WAIT_FOR_UNMOUNT) };
  if (node === undefined) return { dead: `there is no Node ${name} any more`, mayRun: moves };
  const death = nodeDeath(nodeSigns(node), rule, now);
  if (death === 'out-of-service') return { dead: `node ${name} is out of service`, mayRun: false };
  const ready = readyConditionOf(node);
  const taint = taintOff(name);
  if (ready?.status === 'True') {
    const tainted = node.spec?.taints?.some(({ key }) => key === OUT_OF_SERVICE_TAINT) ?? false;
    return {
      alive: `node ${name} is Ready${tainted ? `, though it has the taint ${OUT_OF_SERVICE_TAINT}` : ''}`,
      hint: `Nothing is taken from a node that lives: end the pods there, and it is detached by itself. Once the machine is off: ${taint}`,
    };
  }
  const found =
    notReadySince(node) === undefined
      ? `node ${name} is NotReady, and it is not known since when`
      : `node ${name} is NotReady for ${age(ready?.lastTransitionTime, now)}`;
  if (death !== undefined) return { dead: found, mayRun: false };
  if (moves) {
    return {
      alive: `${found}, and may still write to the directory that it shares with other nodes`,
      hint: `Switch the machine off, and say so: ${taint}`,
    };
  }
  return {
    alive: found,
    hint: Number.isFinite(rule.maxWaitMs)
      ? `Wait until that is ${lengthOf(rule.maxWaitMs)}, or switch the machine off, and say so: ${taint}`
      : `Switch the machine off, and say so: ${taint}`,
  };
}

/** `6 minutes`, or in seconds where it is no whole number of those. */
const lengthOf = (ms: number): string =>
  ms % 60_000 === 0 ? `${ms / 60_000} minutes` : `${Math.ceil(ms / 1000)} s`;
