import type { KubeNode, Pod } from '../../src/api/core.ts';
import type { Attachment } from '../../src/api/volume.ts';

/** Initial time of FakeClock. */
export const NOW = Date.parse('2030-01-01T00:00:00Z');
export const ago = (seconds: number): string => new Date(NOW - seconds * 1000).toISOString();

interface NodeParts {
  annotations?: Record<string, string>;
  /** Status of the condition Ready, before its other fields. */
  ready?: string;
  since?: string | undefined;
  message?: string;
  /** Keys of the taints. */
  taints?: readonly string[];
}

/** Returns a Node. Without `ready`, its kubelet has not reported yet. */
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

/** Returns an attachment for a Volume's status: attached and safe to mount. */
export const attachmentOn = (node: string, more: Partial<Attachment> = {}): Attachment => ({
  node,
  ...{ state: 'Attached', safeToMount: true, safeToDetach: false, pods: [], since: ago(60) },
  ...more,
});
