import { isWrittenOnSeveral } from '../api/access-modes.ts';
import { shortDuration } from '../api/age.ts';
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

/** Signs of life of a machine, from its Node. */
export interface NodeSigns {
  /** There is a Node object of that name. */
  exists: boolean;
  ready: boolean;
  /** Start of NotReady, in ms since the epoch; undefined while the node is Ready. */
  notReadySince: number | undefined;
  /** True if the Node is tainted out of service and not Ready: a person vouches that it is off. */
  off: boolean;
}

export const nodeSigns = (node: KubeNode | undefined): NodeSigns => ({
  exists: node !== undefined,
  ready: isNodeReady(node),
  notReadySince: notReadySince(node),
  off: node !== undefined && isOff(node),
});

/** Rule by which a node counts as dead for one volume. */
export interface DeathRule {
  /** True if another node may write to the volume at the same time. Then only the taint counts. */
  requiresFencing: boolean;
  /** Time (ms) for which a NotReady node counts as alive; Infinity: no limit. */
  maxWaitMs: number;
}

export type NodeDeath = 'out-of-service' | 'node-gone' | 'timeout';

/**
 * Returns why a node counts as dead; undefined while it may be alive. Both the daemon and the
 * commands decide here. An operator may vouch for more (`judgeNode`, and `operatorDetachRequests`
 * of the daemon). `now` is in ms since the epoch.
 */
export function nodeDeath(signs: NodeSigns, rule: DeathRule, now: number): NodeDeath | undefined {
  if (signs.off) return 'out-of-service';
  if (!signs.exists) return rule.requiresFencing ? undefined : 'node-gone';
  return deathDeadline(signs, rule) <= now ? 'timeout' : undefined;
}

/** Returns when a NotReady node counts as dead, in ms since the epoch; Infinity: never by time. */
export const deathDeadline = (
  { notReadySince }: NodeSigns,
  { requiresFencing, maxWaitMs }: DeathRule,
): number => (requiresFencing ? Infinity : (notReadySince ?? Infinity) + maxWaitMs);

/** Returns the command that taints a node as out of service. */
export const taintCommand = (node: string): string =>
  `kubectl taint node ${/^[a-zA-Z0-9_./-]+$/.test(node) ? node : quote(node)} ${quote(`${OUT_OF_SERVICE_TAINT}=nodeshutdown:NoExecute`)}`;

export type NodeVerdict =
  /** `mayRun`: nobody vouches that the machine is off, and the volume can be attached elsewhere. */
  { dead: string; mayRun: boolean } | { alive: string; hint: string };

/**
 * Reports to an operator whether a node is known to be dead, for a Volume.
 * @param notReadyMs time for which the node is NotReady; undefined if it is Ready, or if unknown
 * @param maxWaitMs time for which a NotReady node counts as alive; Infinity: no limit. A time below
 * MAX_WAIT_FOR_UNMOUNT counts as that: the value comes from a Lease, and tenants can write Leases
 */
export function judgeNode(
  name: string,
  node: KubeNode | undefined,
  volume: Pick<Volume, 'spec'>,
  notReadyMs: number | undefined,
  maxWaitMs: number,
): NodeVerdict {
  const requiresFencing = isWrittenOnSeveral(volume.spec);
  const rule = { requiresFencing, maxWaitMs: Math.max(maxWaitMs, MAX_WAIT_FOR_UNMOUNT) };
  if (node === undefined) return { dead: `Node ${name} no longer exists`, mayRun: requiresFencing };
  const since = notReadyMs === undefined ? undefined : -notReadyMs;
  const death = nodeDeath({ ...nodeSigns(node), notReadySince: since }, rule, 0);
  if (death === 'out-of-service') return { dead: `node ${name} is out of service`, mayRun: false };
  const ready = readyConditionOf(node);
  const taint = taintCommand(name);
  if (ready?.status === 'True') {
    const tainted = node.spec?.taints?.some(({ key }) => key === OUT_OF_SERVICE_TAINT) ?? false;
    return {
      alive: `node ${name} is Ready${tainted ? `, though it has the taint ${OUT_OF_SERVICE_TAINT}` : ''}`,
      hint: `Delete the pods on that node, after which the volume is detached. Or, once the machine is off, taint the Node: ${taint}`,
    };
  }
  const found =
    notReadyMs === undefined
      ? `node ${name} is NotReady since an unknown time`
      : `node ${name} is NotReady for ${shortDuration(Math.max(0, Math.floor(notReadyMs / 1000)))}`;
  if (death !== undefined) return { dead: found, mayRun: false };
  if (requiresFencing) {
    return {
      alive: `${found}, and may still write to the directory that it shares with other nodes`,
      hint: `Switch the machine off, then taint the Node: ${taint}`,
    };
  }
  return {
    alive: found,
    hint: Number.isFinite(rule.maxWaitMs)
      ? `Wait until that is ${lengthOf(rule.maxWaitMs)}; or switch the machine off, then taint the Node: ${taint}`
      : `Switch the machine off, then taint the Node: ${taint}`,
  };
}

/** Formats a duration as `6 minutes`, or in seconds if it is no whole number of minutes. */
const lengthOf = (ms: number): string =>
  ms % 60_000 === 0 ? `${ms / 60_000} minutes` : `${Math.ceil(ms / 1000)} s`;
