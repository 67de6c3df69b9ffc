import type { PersistentVolume, PersistentVolumeClaim } from '../../src/api/core.ts';
import type { ObjectMeta } from '../../src/api/meta.ts';
import type {
  VolumeSnapshot,
  VolumeSnapshotClass,
  VolumeSnapshotContent,
} from '../../src/api/snapshot.ts';
import type { SnapshotHandle } from '../../src/api/snapshot-handle.ts';
import type { Prepared } from '../../src/api/volume.ts';
import { formatNote, type JobNote } from '../../src/controllers/snapshot/job-record.ts';
import type {
  ContentInput,
  NodeFacts,
  SnapshotInput,
} from '../../src/controllers/snapshot/types.ts';
import { NOW, pv as pvOf, UID, volume as volumeOf } from './volume-input.ts';

/** Parts of inputs for decisions about snapshots of the Volume data1, whose claim is apps/data. */

export const SNAPSHOT_UID = '0c9de1b5-1b6e-4a4f-8a53-5d6a1c4c7e01';
export const CONTENT_UID = '7f8f7c35-5bb2-4f6a-9b53-0d51a0c9a102';
export const CLAIM_UID = 'c1a1';
export const CONTENT = `snapcontent-${SNAPSHOT_UID}`;
export const PATH = `/var/lib/metalk8s/storage/sparse/snapshots/${CONTENT_UID}`;
export const HANDLE: SnapshotHandle = { type: 'file', nodes: ['n1'], path: PATH };
export const HANDLE_TEXT = `file:n1:${PATH}`;
export const BOUND = 'snapshot.storage.kubernetes.io/volumesnapshot-bound-protection';
export const AS_SOURCE = 'snapshot.storage.kubernetes.io/volumesnapshot-as-source-protection';
export const OF_CONTENT = 'snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection';
export const OF_CLAIM = 'snapshot.storage.kubernetes.io/pvc-as-source-protection';
export const DELETED = '2026-01-02T03:00:00Z';

const PREPARED: Prepared = {
  node: 'n1',
  paths: ['/var/lib/metalk8s/storage/sparse/x'],
  identity: '1:2',
};

export const volume = (
  metadata: Partial<ObjectMeta> = {},
  prepared: Prepared | undefined = PREPARED,
) =>
  volumeOf(
    { phase: 'Available', ...(prepared && { prepared }) },
    { creationTimestamp: '2026-01-01T00:00:00Z', ...metadata },
  );

/** Returns a Volume that is being restored from the content. */
export const restore = (name = 'restored') => {
  const made = volumeOf({ phase: 'Pending' }, { name, uid: 'r1' });
  return { ...made, spec: { ...made.spec, source: { snapshotContentName: CONTENT } } };
};

export const claim = (
  metadata: Partial<ObjectMeta> = {},
  spec: Partial<PersistentVolumeClaim['spec']> = {},
): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data', namespace: 'apps', uid: CLAIM_UID, ...metadata },
  spec: { volumeName: 'data1', ...spec },
  status: { phase: 'Bound' },
});

export function pv(claimUid = CLAIM_UID): PersistentVolume {
  const made = pvOf('Bound');
  return {
    ...made,
    spec: { ...made.spec, claimRef: { namespace: 'apps', name: 'data', uid: claimUid } },
  };
}

export const snapshotClass = (
  name = 'fast',
  {
    driver = 'volume.stowage.dev',
    isDefault = false,
    parameters = {} as Record<string, string>,
  } = {},
): VolumeSnapshotClass => ({
  apiVersion: 'snapshot.storage.k8s.io/v1',
  kind: 'VolumeSnapshotClass',
  metadata: {
    name,
    ...(isDefault && {
      annotations: { 'snapshot.storage.kubernetes.io/is-default-class': 'true' },
    }),
  },
  driver,
  deletionPolicy: 'Delete',
  parameters,
});

interface SnapshotParts {
  metadata?: Partial<ObjectMeta>;
  source?: VolumeSnapshot['spec']['source'];
  /** Name of the class; null for none. */
  className?: string | null;
  status?: VolumeSnapshot['status'];
}

export const snapshot = ({
  metadata = {},
  source = { persistentVolumeClaimName: 'data' },
  className = 'fast',
  status,
}: SnapshotParts = {}): VolumeSnapshot => ({
  apiVersion: 'snapshot.storage.k8s.io/v1',
  kind: 'VolumeSnapshot',
  metadata: {
    name: 'backup',
    namespace: 'apps',
    uid: SNAPSHOT_UID,
    finalizers: [BOUND],
    ...metadata,
  },
  spec: { source, ...(className !== null && { volumeSnapshotClassName: className }) },
  ...(status && { status }),
});

interface ContentParts {
  metadata?: Partial<ObjectMeta>;
  spec?: Partial<VolumeSnapshotContent['spec']>;
  status?: VolumeSnapshotContent['status'];
  note?: JobNote;
}

export const content = ({
  metadata = {},
  spec = {},
  status,
  note,
}: ContentParts = {}): VolumeSnapshotContent => ({
  apiVersion: 'snapshot.storage.k8s.io/v1',
  kind: 'VolumeSnapshotContent',
  metadata: {
    name: CONTENT,
    uid: CONTENT_UID,
    creationTimestamp: '2026-01-02T00:00:00Z',
    finalizers: [OF_CONTENT],
    ...(note && { annotations: { 'stowage.dev/snapshot-job': formatNote(note) } }),
    ...metadata,
  },
  spec: {
    volumeSnapshotRef: {
      apiVersion: 'snapshot.storage.k8s.io/v1',
      kind: 'VolumeSnapshot',
      namespace: 'apps',
      name: 'backup',
      uid: SNAPSHOT_UID,
    },
    deletionPolicy: 'Delete',
    driver: 'volume.stowage.dev',
    source: { volumeHandle: 'data1' },
    volumeSnapshotClassName: 'fast',
    sourceVolumeMode: 'Filesystem',
    ...spec,
  },
  ...(status && { status }),
});

export const note = (fields: Partial<JobNote> = {}): JobNote => ({
  ...{ do: 'take', volume: UID, node: 'n1', handle: HANDLE, attempt: 1, tries: 1, at: NOW },
  ...fields,
});

export const snapshotInput = (fields: Partial<SnapshotInput> = {}): SnapshotInput => ({
  snapshot: snapshot(),
  mode: 'builtin',
  content: undefined,
  liveContent: undefined,
  claim: claim({ finalizers: [OF_CLAIM] }),
  pv: pv(),
  volume: volume(),
  classes: [snapshotClass()],
  restores: [],
  ...fields,
});

export const node = (fields: Partial<NodeFacts> = {}): NodeFacts => ({
  ...{ exists: true, ready: true, off: false, paused: false, ours: true },
  ...fields,
});

/** Returns an input whose nodes are healthy, except for the given ones. */
export const contentInput = (
  fields: Partial<ContentInput> = {},
  nodes: Record<string, Partial<NodeFacts>> = {},
): ContentInput => ({
  content: content(),
  volume: volume(),
  place: { node: 'n1', handle: HANDLE },
  snapshot: snapshot(),
  liveSnapshot: undefined,
  snapshotClass: snapshotClass(),
  restores: [],
  roomOn: () => ({ freeBytes: 2n ** 40n }),
  nodeFacts: (name) => node(nodes[name]),
  isOfAnother: () => false,
  outcome: undefined,
  ...fields,
});
