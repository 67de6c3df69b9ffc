import type { KubeNode } from '../api/core.ts';
import { isDnsSubdomain } from '../api/dns-name.ts';
import type { Volume, VolumeStatus } from '../api/volume.ts';
import { nodeOf } from './desired-volume.ts';
import { parseJobName } from './job-name.ts';
import { isNodeReady, isOff } from './node-health.ts';

type NodeNamed = (name: string) => KubeNode | undefined;

/** Every node that work on a Volume may run on: its own, and those that share its directory. */
export function nodesOf(volume: Volume): string[] {
  return [...new Set([nodeOf(volume), ...sharedBy(volume)])];
}

/** What can be no node's name is none. */
function sharedBy({ spec: { attachableNodes } }: Volume): string[] {
  return attachableNodes?.filter((node) => isDnsSubdomain(node)) ?? [];
}

/**
 * The node that work on a Volume runs on now. A job that was named stays where it is, so that it never runs twice at once,
 * unless somebody vouches that this machine is off. Else it is where the device is, else its own node, else, where its kubelet
 * does not answer, another one of those that share its directory.
 */
export function workNode(volume: Volume, nodeNamed: NodeNamed): string {
  const home = nodeOf(volume);
  const nodes = nodesOf(volume);
  if (nodes.length === 1) return home;
  const { job, jobNode, attachments = [] } = volume.status ?? {};
  if (parseJobName(job)?.attempt !== undefined) {
    // Whoever may write a status could otherwise have work done on any node.
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

/** A status with the node of the job that it names, where that is not the Volume's own. */
export function withJobNode(volume: Volume, node: string, status: VolumeStatus): VolumeStatus {
  if (status.job === volume.status?.job) return status;
  const { jobNode: _, ...rest } = status;
  const elsewhere = parseJobName(status.job)?.attempt !== undefined && node !== nodeOf(volume);
  return elsewhere ? { ...rest, jobNode: node } : rest;
}
