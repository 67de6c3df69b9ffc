import type { KubeNode } from '../api/core.ts';
import { isDnsSubdomain } from '../api/dns-name.ts';
import type { Volume, VolumeStatus } from '../api/volume.ts';
import { parseJobName } from './job-name.ts';
import { isNodeReady, isOff } from './node-health.ts';

type NodeNamed = (name: string) => KubeNode | undefined;

/** Returns the node on which the Volume was provisioned, else the node of its spec. */
export function nodeOf(volume: Volume): string {
  return volume.status?.prepared?.node ?? volume.spec.nodeName;
}

/** Returns every node on which work for a Volume may run: its own, and those with its directory. */
export function eligibleNodes(volume: Volume): string[] {
  return [...new Set([nodeOf(volume), ...sharedBy(volume)])];
}

/** Returns the nodes that share the directory, without invalid names. */
function sharedBy({ spec: { attachableNodes } }: Volume): string[] {
  return attachableNodes?.filter((node) => isDnsSubdomain(node)) ?? [];
}

/**
 * Returns the node on which work for a Volume runs now. A job in the status keeps its node, so that
 * it never runs twice at once, unless a person vouches that the machine is off. Otherwise: the node
 * with the device, else the first Ready node, starting with the Volume's own, else its own node.
 */
export function workNode(volume: Volume, nodeNamed: NodeNamed): string {
  const home = nodeOf(volume);
  const nodes = eligibleNodes(volume);
  if (nodes.length === 1) return home;
  const { job, jobNode, attachments = [] } = volume.status ?? {};
  if (parseJobName(job)?.attempt !== undefined) {
    // Anyone who may write a status could otherwise run work on any node.
    const named = jobNode !== undefined && nodes.includes(jobNode) ? jobNode : home;
    const object = nodeNamed(named);
    if (object === undefined || !isOff(object)) return named;
  }
  const attached = attachments.filter(({ node }) => nodes.includes(node));
  const [there] = [
    ...attached.filter(({ state }) => state === 'Attached'),
    // Uncertain counts as attached.
    ...attached,
  ];
  return there?.node ?? nodes.find((node) => isNodeReady(nodeNamed(node))) ?? home;
}

/** Returns a status with the node of its new job, if that is not the Volume's own node. */
export function withJobNode(volume: Volume, node: string, status: VolumeStatus): VolumeStatus {
  if (status.job === volume.status?.job) return status;
  const { jobNode: _, ...rest } = status;
  const elsewhere = parseJobName(status.job)?.attempt !== undefined && node !== nodeOf(volume);
  return elsewhere ? { ...rest, jobNode: node } : rest;
}
