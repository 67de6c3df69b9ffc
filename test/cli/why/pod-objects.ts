import { expect, test } from '@jest/globals';
import type {
  AnyEvent,
  ObjectReference,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
} from '../../../src/api/core.ts';
import type { KubeObject } from '../../../src/api/meta.ts';
import { type Reason, reason, reasonAnnotations } from '../../../src/api/reasons.ts';
import type { Attachment, Volume, VolumeSpec } from '../../../src/api/volume.ts';
import { ago, attachmentOn, nodeNamed } from '../../support/cluster-objects.ts';
import { stowage, type World } from '../../support/fake-io.ts';
import { scrambled } from '../../support/scramble.ts';
import { pvOf, ready, volumeNamed } from '../../support/volumes.ts';

/**
 * Objects that pod db/db-0 needs: its claim db/data-0, bound to Volume data1, for use on node n1.
 */

export type Objects = Record<string, KubeObject>;
type Condition = NonNullable<NonNullable<Pod['status']>['conditions']>[number];

export function pod(parts: { spec?: Partial<Pod['spec']>; status?: Pod['status'] } = {}): Objects {
  const object: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'db-0', namespace: 'db', uid: 'uid-pod', creationTimestamp: ago(300) },
    spec: {
      nodeName: 'n1',
      volumes: [
        { name: 'token' },
        { name: 'data', persistentVolumeClaim: { claimName: 'data-0' } },
      ],
      ...parts.spec,
    },
    status: { phase: 'Pending', ...parts.status },
  };
  return { 'pods/db-0': object };
}
export const unscheduled = (condition?: Partial<Condition>) =>
  pod({
    spec: { nodeName: '' },
    status: {
      conditions: condition ? [{ type: 'PodScheduled', status: 'False', ...condition }] : [],
    },
  });

export function claim(
  parts: {
    spec?: Partial<PersistentVolumeClaim['spec']>;
    phase?: 'Pending' | 'Bound' | 'Lost';
  } = {},
): Objects {
  const object: PersistentVolumeClaim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data-0', namespace: 'db', uid: 'uid-claim', creationTimestamp: ago(600) },
    spec: {
      storageClassName: 'fast',
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '5Gi' } },
      ...parts.spec,
    },
    status: { phase: parts.phase ?? 'Pending' },
  };
  return { 'persistentvolumeclaims/data-0': object };
}
export const claimWithout = (field: keyof PersistentVolumeClaim['spec']): Objects =>
  Object.fromEntries(
    Object.entries(claim()).map(([key, object]) => {
      const { [field]: _, ...spec } = (object as PersistentVolumeClaim).spec;
      return [key, { ...object, spec } as KubeObject];
    }),
  );
export const bound = claim({ phase: 'Bound', spec: { volumeName: 'data1' } });

export function volume(
  attachments: Attachment[] = [],
  parts: Omit<Partial<Volume>, 'spec'> & { spec?: Partial<VolumeSpec> } = {},
) {
  const base = volumeNamed('data1', {
    phase: 'Available',
    devicePath: '/dev/disk/by-uuid/u',
    ...ready('True', 'Available'),
    attachments,
    ...parts.status,
  });
  const spec = { ...base.spec, attachPolicy: 'OnDemand' as const, ...parts.spec };
  return { ...base, spec, metadata: { ...base.metadata, ...parts.metadata } };
}
export const pv = (it: Volume, parts: Partial<PersistentVolume['spec']> = {}): PersistentVolume => {
  const object = pvOf(it, 'Bound');
  const claimRef = { namespace: 'db', name: 'data-0', uid: 'uid-claim' };
  return { ...object, spec: { ...object.spec, claimRef, ...parts } };
};
export const backed = (it: Volume): Objects => ({
  ...bound,
  'volumes/data1': it,
  'persistentvolumes/data1': pv(it),
});
export const on = (node: string, more: Partial<Attachment> = {}) =>
  attachmentOn(node, { pods: ['db/db-0'], since: ago(120), ...more });
export const free = (name: string, parts: Partial<PersistentVolume['spec']> = {}): Objects => {
  const object = pvOf(volumeNamed(name), 'Available');
  const spec = {
    ...object.spec,
    storageClassName: 'fast',
    capacity: { storage: '10Gi' },
    ...parts,
  };
  return { [`persistentvolumes/${name}`]: { ...object, spec } as PersistentVolume };
};
/** Returns a PersistentVolume with the data of an earlier claim, by default the earlier data-0. */
export function releasedBy(
  name: string,
  claimRef: Partial<ObjectReference> = {},
  parts: Partial<PersistentVolume['spec']> = {},
): Objects {
  const earlier = { namespace: 'db', name: 'data-0', uid: 'uid-earlier', ...claimRef };
  const [object] = Object.values(free(name, { claimRef: earlier, ...parts }));
  const metadata = { ...object?.metadata, uid: `uid-${name}` };
  return {
    [`persistentvolumes/${name}`]: {
      ...object,
      metadata,
      status: { phase: 'Released' },
    } as PersistentVolume,
  };
}
export const shared = { attachableNodes: ['n1', 'n2'] };
export const pausedNode = nodeNamed('n1', { annotations: { 'stowage.dev/paused': 'true' } });
export const condition = (message: string): Pod['status'] => ({
  conditions: [
    { type: 'stowage.dev/VolumesAttached', status: 'False', message, lastTransitionTime: ago(30) },
  ],
});

/**
 * Returns an event for the pod with the reason that its volume is not attached. `by` is the
 * component that the event names.
 */
export const reportedBy = (by: string, detail: Reason | undefined, at = 30): Objects => {
  const event: AnyEvent = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: {
      name: `told-${at}`,
      namespace: 'db',
      ...(detail && { annotations: reasonAnnotations(detail) }),
    },
    involvedObject: { apiVersion: 'v1', kind: 'Pod', name: 'db-0', uid: 'uid-pod' },
    ...{ type: 'Warning', reason: 'FailedAttachVolume', message: 'see the annotations' },
    ...{ lastTimestamp: ago(at), source: { component: by } },
  };
  return { [`events/told-${at}`]: event };
};
/** The reason that the daemon reports to a pod that waits for another node. */
export const ofHolder = reason('MultiAttachUncertain', {
  ...{ volume: 'data1', use: 'exclusively attached to one node', node: 'n2', state: 'Uncertain' },
});

export async function why(objects: Objects, world: World = {}) {
  const ask = async (all: Objects) => {
    const argv = ['why', 'pod', 'db-0', '-n', 'db', '-o', 'json'];
    const { out, code } = await stowage(argv, { objects: all, ...world });
    expect(code).toBe(0);
    return JSON.parse(out);
  };
  const [said, byCodes] = [await ask(objects), await ask(scrambled(objects))];
  expect([byCodes.cause, byCodes.fix?.run]).toEqual([said.cause, said.fix?.run]);
  return said;
}

export const merge = (...all: Objects[]): Objects => Object.assign({}, ...all);
/**
 * Returns a pod that waits for a Volume of two nodes with this attachment to node n2, which is
 * Ready by default.
 */
export const heldOnN2 = (more: Partial<Attachment>, ready = 'True'): Objects =>
  merge(pod(), backed(volume([on('n2', more)], { spec: shared })), {
    'nodes/n2': nodeNamed('n2', { ready }),
  });

export type Row = [
  cause: string,
  objects: Objects,
  expected: { holdup: string; cause?: string; since?: string; say?: string; fix?: string },
];

/**
 * Declares a test for each row: the blocker of the pod, its time, and a part of the commands that
 * fix it.
 */
export function testRows(rows: readonly Row[]): void {
  test.each(rows)('%s', async (_, objects, { holdup, cause, since, say, fix }) => {
    const found = await why(objects);
    expect(found).toMatchObject({
      kind: 'Pod',
      namespace: 'db',
      name: 'db-0',
      holdup: expect.any(String),
    });
    expect(found.holdup).toContain(holdup);
    if (cause !== undefined) expect(found.cause).toBe(cause);
    if (since !== undefined) expect(found.since).toBe(since);
    if (say !== undefined) expect(found.fix.say).toContain(say);
    if (fix !== undefined) expect(found.fix.run.join('\n')).toContain(fix);
  });
}
