import type { KubeNode, PersistentVolumeClaim, Pod, StorageClass } from '../../../src/api/core.ts';
import type { Volume } from '../../../src/api/volume.ts';
import type { Room } from '../../../src/controllers/lib/capacity/capacity-cache.ts';
import { decideClaim } from '../../../src/controllers/provisioner/decide-claim.ts';
import type { ClaimDecision, ClaimInput } from '../../../src/controllers/provisioner/types.ts';
import { claimVolume } from '../../../src/model/claim-volume.ts';
import { type DynamicClass, dynamicClass } from '../../../src/model/dynamic-class.ts';

export const UID = '3f1c0d52-7f0a-4c1e-9a53-0e3cf0a6b111';
export const NOW = Date.parse('2026-03-01T12:00:00Z');
export const GIB = 1n << 30n;

export const storageClass = (more: Partial<StorageClass> = {}): StorageClass => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'dynamic' },
  provisioner: 'volume.stowage.dev',
  volumeBindingMode: 'Immediate',
  ...more,
});

export const waiting = storageClass({ volumeBindingMode: 'WaitForFirstConsumer' });

export const claim = (
  spec: Partial<PersistentVolumeClaim['spec']> = {},
  more: { node?: string; status?: PersistentVolumeClaim['status']; deleted?: true } = {},
): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: {
    namespace: 'prod',
    name: 'data',
    uid: UID,
    ...(more.node && { annotations: { 'volume.kubernetes.io/selected-node': more.node } }),
    ...(more.deleted && { deletionTimestamp: '2026-03-01T11:59:00Z' }),
  },
  spec: {
    accessModes: ['ReadWriteOnce'],
    storageClassName: 'dynamic',
    resources: { requests: { storage: '2Gi' } },
    ...spec,
  },
  status: more.status ?? { phase: 'Pending' },
});

export const node = (
  name: string,
  status: 'True' | 'False' = 'True',
  metadata: Partial<KubeNode['metadata']> = {},
): KubeNode => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, ...metadata },
  status: { conditions: [{ type: 'Ready', status }] },
});

/** Returns a pod of the claim that the scheduler has not assigned to a node yet. */
export const pod = (spec: Pod['spec'] = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'prod', name: 'db-0' },
  spec,
});

export const options = (of: StorageClass = storageClass()): DynamicClass => {
  const found = dynamicClass(of);
  if ('problem' in found) throw new Error(found.problem);
  return found;
};

export const volume = (more: Partial<Volume> = {}): Volume => ({
  ...claimVolume(claim(), options(), 'n1', undefined),
  ...more,
});

export interface Parts extends Partial<Omit<ClaimInput, 'roomOn'>> {
  rooms?: Record<string, Room>;
}

export function input({ rooms = { n1: { freeBytes: 10n * GIB } }, ...parts }: Parts): ClaimInput {
  const of = parts.storageClass ?? storageClass();
  return {
    claim: claim(),
    storageClass: of,
    options: of.provisioner === 'volume.stowage.dev' ? dynamicClass(of) : undefined,
    volume: undefined,
    pv: undefined,
    consumers: [pod()],
    nodes: [node('n1')],
    isGone: () => false,
    source: undefined,
    lastEventKey: undefined,
    ...parts,
    roomOn: (name) => rooms[name],
  };
}

/** Returns the code of the event's reason. */
export function codeOf(parts: Parts): string | undefined {
  const { action } = decideClaim(input(parts), NOW);
  return action !== undefined && 'event' in action ? action.event.detail?.code : undefined;
}

/** Returns the decision in short form. */
export function outcome(parts: Parts): string {
  return inShort(decideClaim(input(parts), NOW));
}

function inShort({ action, requeueAfter }: ClaimDecision): string {
  if (action === undefined) {
    return requeueAfter === undefined ? 'rest' : `again in ${requeueAfter}`;
  }
  switch (action.do) {
    case 'observe-room':
      return `observe-room ${action.nodes.join(' ')}`;
    case 'create-volume':
      return `create ${action.volume.metadata.name} on ${action.volume.spec.nodeName}`;
    case 'take-back':
      return `take back ${action.volume.metadata.name}${action.node === undefined ? '' : ` and ${action.node}`}: ${action.event.message}`;
    case 'give-back':
      return `reschedule from ${action.node}: ${action.event.message}`;
    case 'emit-event':
      return `${action.event.type} ${action.event.reason}: ${action.event.message}`;
    case 'expand':
      return `expand to ${action.size}`;
    case 'set-claim-status':
      return `status ${JSON.stringify(action.status)}`;
    default:
      return action.do;
  }
}
