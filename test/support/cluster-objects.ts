import type { KubeNode, Pod } from '../../src/api/core.ts';
import type { Attachment } from '../../src/api/volume.ts';

/** The time at which FakeClock stands at first. */
export const NOW = Date.parse('2030-01-01T00:00:00Z');
export const ago = (seconds: number): string => new Date(NOW - seconds * 1000).toISOString();

interface NodeParts {
  annotations?: Record<string, string>;
  /** Of the condition Ready, with its other fields. */
  ready?: string;
  since?: string | undefined;
  message?: string;
  /** Keys. */
  taints?: readonly string[];
}

/** A Node; without `ready`, its kubelet has not reported yet. */
export const nodeNamed = (name: string, parts: NodeParts = {}): KubeNode => {
  const { annotations, ready, since, message, taints } = parts;
  const condition = {
    ...{ type: 'Ready', status: ready ?? '' },
    ...(message && { message }),
    ...(since && { lastTransitionTime: since }),
  };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, ...(annotations && { annotations }) },
    ...(taints && { spec: { taints: taints.map((key) => ({ key, effect: 'NoExecute' })) } }),
    status: { conditions: ready === undefined ? [] : [condition] },
  };
};

export const podNamed = (name: string, namespace: string, spec: Pod['spec'] = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace },
  spec,
});

/** An entry of a Volume's status: attached, and can be mounted. */
export const attachmentOn = (node: string, more: Partial<Attachment> = {}): Attachment => ({
  node,
  ...{ state: 'Attached', safeToMount: true, safeToDetach: false, pods: [], since: ago(60) },
  ...more,
});
