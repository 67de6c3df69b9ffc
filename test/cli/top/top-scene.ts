import type { PersistentVolumeClaim, Pod } from '../../../src/api/core.ts';
import type { KubeObject } from '../../../src/api/meta.ts';
import type { Volume, VolumeSpec, VolumeStatus } from '../../../src/api/volume.ts';
import { directoryRoomProbes } from '../../../src/storage/room.ts';
import { nodeNamed, podNamed } from '../../support/cluster-objects.ts';
import {
  type FakeNodeAnswers,
  fakeExecutor,
  ON_ROOT,
  result,
} from '../../support/fake-executor.ts';
import { stowage, type World } from '../../support/fake-io.ts';
import { podStats, summaryOf, summaryPath } from '../../support/stats-summary.ts';
import { pvOf, volumeNamed } from '../../support/volumes.ts';

/** A cluster with Volumes in pods, their kubelets, and the nodes' own figures. */

export const DIRECTORY = '/var/lib/metalk8s/storage/sparse';
export const GIB = 1024 ** 3;
export const CLAIM = { namespace: 'db', name: 'data-0' };

export const uidOf = (number: number): string =>
  `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

/** Returns a provisioned Volume on node n1: a file of 1 GiB. */
export function made(name: string, number: number, spec: Partial<VolumeSpec> = {}): Volume {
  const volume = volumeNamed(name);
  const uid = uidOf(number);
  const path =
    spec.lvmLogicalVolume === undefined
      ? (spec.rawBlockDevice?.devicePath ?? `${DIRECTORY}/${uid}`)
      : `/dev/${spec.lvmLogicalVolume.vgName}/${name}`;
  const status: VolumeStatus = {
    phase: 'Available',
    capacity: '1Gi',
    prepared: { node: spec.nodeName ?? 'n1', paths: [path], identity: '' },
  };
  const { sparseLoopDevice, ...rest } = volume.spec;
  const kind = spec.lvmLogicalVolume ?? spec.rawBlockDevice ?? sparseLoopDevice;
  return {
    ...volume,
    metadata: { ...volume.metadata, uid },
    spec: {
      ...rest,
      ...(kind === sparseLoopDevice && { sparseLoopDevice }),
      ...spec,
    } as VolumeSpec,
    status,
  };
}

/** Returns the claim db/data-0, bound to the PersistentVolume of that name. */
export const claimOf = (
  volumeName: string,
  metadata: Partial<KubeObject['metadata']> = {},
): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { ...CLAIM, uid: 'claim-1', creationTimestamp: '2029-12-31T19:30:00Z', ...metadata },
  spec: { volumeName },
  status: { phase: 'Bound' },
});

/** Returns a PersistentVolume that is bound to that claim. */
export const boundPv = (volume: Volume, uid = 'claim-1') => {
  const pv = pvOf(volume, 'Bound');
  return { ...pv, spec: { ...pv.spec, claimRef: { ...CLAIM, uid } } };
};

/** Returns the pod that mounts that claim as `data`, on node n1. */
export const mountingPod = (uid = 'pod-1', scheduled = '2029-12-31T19:45:00Z'): Pod => {
  const pod = podNamed('db-0', CLAIM.namespace, {
    nodeName: 'n1',
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: CLAIM.name } }],
  });
  const condition = { type: 'PodScheduled', status: 'True', lastTransitionTime: scheduled };
  return { ...pod, metadata: { ...pod.metadata, uid }, status: { conditions: [condition] } };
};

/** Volume in the pod. */
export const data1 = made('data1', 1);

export const objects = (): Record<string, KubeObject> => ({
  'nodes/n1': nodeNamed('n1'),
  'volumes/data1': data1,
  'persistentvolumes/data1': boundPv(data1),
  'persistentvolumeclaims/data-0': claimOf('data1'),
  'pods/db-0': mountingPod(),
});

export const paths = (figures: object = {}): Record<string, unknown> => ({
  [summaryPath('n1')]: summaryOf(podStats('pod-1', CLAIM, figures)),
});

/** Returns a node with 4 GiB of 10 GiB free. `blocks`: blocks of 512 bytes by file. */
export function nodeWith(blocks: Record<string, number>, free = 4 * GIB): FakeNodeAnswers {
  const files = Object.entries(blocks).map(([file, count]) => `${count}|${file}\n`);
  const disk = { kname: 'vda', 'maj:min': '254:0', pkname: null, type: 'disk', size: 10 * GIB };
  const probes: FakeNodeAnswers['probes'] = {
    ...ON_ROOT,
    'block devices': result(
      0,
      JSON.stringify({ blockdevices: [{ ...disk, ro: false, serial: null, wwn: null }] }),
    ),
    mounts: result(0, '24 1 254:0 / / rw - ext4 /dev/vda rw'),
  };
  for (const { name } of directoryRoomProbes(DIRECTORY, [DIRECTORY])) {
    if (name.startsWith('free ')) probes[name] = result(0, `${free / 4096}|4096\n`);
    if (name.startsWith('files ')) probes[name] = result(0, files.join(''));
  }
  return { probes };
}

/** Returns an executor for node n1, on which data1 occupies 64 MiB. */
export const executor = () => fakeExecutor({ n1: nodeWith({ [uidOf(1)]: 131072 }) });

export const top = (line: string, world: World = {}) =>
  stowage(['top', ...line.split(' ')], {
    objects: objects(),
    paths: paths(),
    executor: executor(),
    ...world,
  });
