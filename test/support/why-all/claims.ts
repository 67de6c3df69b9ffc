import { join } from 'node:path';
import {
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  STORAGE_CLASSES,
  VOLUME_POPULATORS,
  VOLUME_SNAPSHOT_CLASSES,
  VOLUME_SNAPSHOT_CONTENTS,
  VOLUME_SNAPSHOT_LINKS,
  VOLUME_SNAPSHOTS,
  VOLUMES,
} from '../../../src/api/resources.ts';
import { createClass } from '../claim-objects.ts';
import { LOCAL_CLASS } from '../cluster.ts';
import type { Broken } from './broken.ts';
import { NAMESPACE, type Scene } from './scene.ts';

const SNAPSHOT_GROUP = 'snapshot.storage.k8s.io';
const fromSnapshot = (name: string, more: object = {}) => ({
  dataSourceRef: { apiGroup: SNAPSHOT_GROUP, kind: 'VolumeSnapshot', name, ...more },
});
const sized = (storage: string) => ({ resources: { requests: { storage } } });
const inPod = (claim: string) => ({ persistentVolumeClaimName: claim });

const withHandle = async (at: Scene, name: string, of: string) => {
  const { status } = await at.ready('base');
  const content = await at.client.get<never>(
    VOLUME_SNAPSHOT_CONTENTS,
    status?.boundVolumeSnapshotContentName ?? '',
  );
  const { snapshotHandle } = (content as { status: { snapshotHandle: string } }).status;
  return {
    apiVersion: 'snapshot.storage.k8s.io/v1',
    kind: 'VolumeSnapshotContent',
    metadata: { name },
    spec: {
      deletionPolicy: 'Retain',
      driver: 'volume.stowage.dev',
      source: { snapshotHandle },
      volumeSnapshotRef: { namespace: NAMESPACE, name: of },
    },
  };
};

const PROD_CLAIM = JSON.stringify({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'base', namespace: 'prod' },
  spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'fast', ...sized('10Mi') },
});

/** Claims, snapshots and pods. The snapshot `base` of the claim `base` is ready from the start. */
export const BROKEN_CLAIMS: readonly Broken[] = [
  {
    cause: 'StorageClassMissing',
    root: 'PersistentVolumeClaim test/nowhere',
    breaks: (at) => at.claim('nowhere', { storageClassName: 'none' }),
    // The class waits for a first consumer.
    after: (at) => at.pod('nowhere', 'nowhere'),
  },
  {
    cause: 'NoConsumer',
    root: 'PersistentVolumeClaim test/unused',
    breaks: (at) => at.claim('unused', { storageClassName: 'waits' }),
  },
  {
    cause: 'ClaimUnbound',
    root: 'PersistentVolumeClaim test/unused',
    objects: ['VolumeSnapshot test/early'],
    breaks: (at) => at.snapshot('early', inPod('unused')),
    // The fix refers to the claim.
    follow: {},
  },
  {
    cause: 'NotScheduled',
    root: 'Pod test/picky',
    objects: ['PersistentVolumeClaim test/picky', 'Pod test/picky'],
    async breaks(at) {
      await at.claim('picky', { storageClassName: 'waits' });
      await at.pod('picky', 'picky', { nodeSelector: { disk: 'ssd' } });
    },
    person: (at) => at.patch(NODES, 'n1', { metadata: { labels: { disk: 'ssd' } } }),
  },
  {
    cause: 'ClaimMissing',
    root: 'Pod test/lonely',
    breaks: (at) => at.pod('lonely', 'absent'),
    person: (at) => at.claim('absent'),
  },
  {
    cause: 'NoFreeVolume',
    root: 'PersistentVolumeClaim test/static',
    async breaks(at) {
      await at.client.create(STORAGE_CLASSES, { ...LOCAL_CLASS, metadata: { name: 'static' } });
      await at.claim('static', { storageClassName: 'static' });
    },
    follow: { fill: { NAME: 'for-static', NODE: 'n1' } },
    after: (at) => at.pod('static', 'static'),
  },
  {
    cause: 'ClaimLost',
    root: 'PersistentVolumeClaim test/lost',
    async sound(at) {
      await at.foreignPv('lost', 'theirs', 'lost');
      await at.claim('lost', { storageClassName: 'theirs', volumeName: 'lost' });
      await at.bound('lost');
    },
    async breaks(at) {
      await at.client.delete(PERSISTENT_VOLUMES, 'lost');
      await at.patch(PERSISTENT_VOLUMES, 'lost', { metadata: { finalizers: null } });
    },
    after: (at) => at.client.delete(PERSISTENT_VOLUME_CLAIMS, 'lost', { namespace: NAMESPACE }),
  },
  {
    cause: 'ForeignProvisioner',
    root: 'PersistentVolumeClaim test/theirs',
    async breaks(at) {
      await at.client.create(STORAGE_CLASSES, {
        ...LOCAL_CLASS,
        ...{ metadata: { name: 'theirs' }, provisioner: 'example.com/disks' },
        ...{ volumeBindingMode: 'Immediate', parameters: {} },
      });
      await at.claim('theirs', { storageClassName: 'theirs' });
    },
    // The foreign provisioner runs again, and provisions a volume.
    after: (at) => at.foreignPv('theirs', 'theirs', 'theirs'),
  },
  {
    cause: 'SourceDropped',
    root: 'PersistentVolumeClaim test/dropped',
    breaks: (at) =>
      at.claim(
        'dropped',
        {},
        {
          annotations: {
            'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify({
              metadata: { name: 'dropped', namespace: NAMESPACE },
              spec: fromSnapshot('base', { namespace: 'prod' }),
            }),
          },
        },
      ),
  },
  {
    cause: 'SourceRefused',
    root: 'PersistentVolumeClaim test/refused',
    breaks: (at) => at.claim('refused', { storageClassName: 'static', ...fromSnapshot('base') }),
    follow: { fill: { NAME: 'anew' } },
  },
  {
    cause: 'KindNotRegistered',
    root: 'PersistentVolumeClaim test/unknown',
    breaks: (at) =>
      at.claim('unknown', {
        dataSourceRef: { apiGroup: 'hello.example.com', kind: 'Hello', name: 'example' },
      }),
    // No populator handles this kind here: create another claim, with the intended kind.
    follow: { only: /get populators/ },
    async after(at) {
      await at.client.delete(PERSISTENT_VOLUME_CLAIMS, 'unknown', { namespace: NAMESPACE });
      await at.claim('known', fromSnapshot('base'));
    },
  },
  {
    cause: 'ForeignPopulator',
    root: 'PersistentVolumeClaim test/populated',
    async breaks(at) {
      await at.client.create(VOLUME_POPULATORS, {
        apiVersion: 'populator.storage.k8s.io/v1beta1',
        kind: 'VolumePopulator',
        metadata: { name: 'theirs' },
        sourceKind: { group: 'theirs.example.com', kind: 'Disk' },
      } as never);
      await at.claim('populated', {
        dataSourceRef: { apiGroup: 'theirs.example.com', kind: 'Disk', name: 'golden' },
      });
    },
    // The foreign populator runs again, and populates a volume.
    after: (at) => at.foreignPv('populated', 'fast', 'populated'),
  },
  {
    cause: 'SourceMissing',
    root: 'VolumeSnapshot test/late',
    objects: ['PersistentVolumeClaim test/late'],
    breaks: (at) => at.claim('late', fromSnapshot('late')),
    follow: { fill: { CLAIM: 'base' } },
  },
  {
    cause: 'SourceNotReady',
    root: 'VolumeSnapshot test/going',
    objects: ['PersistentVolumeClaim test/going'],
    async sound(at) {
      await at.snapshot('going', inPod('base'));
      const { metadata } = await at.ready('going');
      const finalizers = [...(metadata.finalizers ?? []), 'example.com/audit'];
      await at.patch(VOLUME_SNAPSHOTS, 'going', { metadata: { finalizers } });
    },
    async breaks(at) {
      await at.client.delete(VOLUME_SNAPSHOTS, 'going', { namespace: NAMESPACE });
      await at.claim('going', fromSnapshot('going'));
    },
    // The fix refers to the snapshot.
    follow: {},
  },
  {
    cause: 'ForeignFinalizer',
    root: 'VolumeSnapshot test/going',
    breaks: async () => {},
    follow: { fill: { CLAIM: 'base' } },
    next: ['SourceMissing', 'PersistentVolumeClaim test/going'],
  },
  {
    cause: 'GrantMissing',
    root: 'VolumeSnapshot prod/base',
    objects: ['PersistentVolumeClaim test/linked'],
    async breaks(at) {
      await at.client.create(
        VOLUME_SNAPSHOT_LINKS,
        {
          apiVersion: 'snapshot.storage.k8s.io/v1alpha1',
          kind: 'VolumeSnapshotLink',
          metadata: { name: 'theirs' },
          spec: { source: { namespace: 'prod', name: 'base' } },
        } as never,
        { namespace: NAMESPACE },
      );
      await at.claim('linked', {
        dataSourceRef: { apiGroup: SNAPSHOT_GROUP, kind: 'VolumeSnapshotLink', name: 'theirs' },
      });
    },
  },
  {
    cause: 'GateOff',
    root: 'PersistentVolumeClaim test/crossing',
    async sound(at) {
      await at.someone.shell('kubectl create -f -', PROD_CLAIM);
      await at.someone.shell(
        'stowage create snapshot prod/base --pvc base && stowage grant snapshot prod/base --to test --for claims && kubectl wait volumesnapshot base -n prod --for jsonpath={.status.readyToUse}=true --timeout 60s',
      );
    },
    breaks: (at) => at.claim('crossing', fromSnapshot('base', { namespace: 'prod' })),
    // Restart the daemon with its own flags and the printed one.
    follow: false,
    person: (at) => at.watch('--feature-gates', 'CrossNamespaceVolumeDataSource=true'),
  },
  {
    cause: 'ClaimTooSmall',
    root: 'VolumeSnapshot test/base',
    objects: ['PersistentVolumeClaim test/tight'],
    breaks: (at) => at.claim('tight', { ...fromSnapshot('base'), ...sized('1Mi') }),
  },
  {
    cause: 'SnapshotFailing',
    root: 'VolumeSnapshot test/odd',
    async breaks(at) {
      await at.client.create(VOLUME_SNAPSHOT_CLASSES, {
        apiVersion: 'snapshot.storage.k8s.io/v1',
        kind: 'VolumeSnapshotClass',
        metadata: { name: 'odd' },
        driver: 'volume.stowage.dev',
        deletionPolicy: 'Delete',
        parameters: { speed: 'high' },
      } as never);
      await at.snapshot('odd', inPod('base'), 'odd');
    },
    person: (at) =>
      at.someone.shell(
        `kubectl get volumesnapshotclass odd -o yaml | sed '/^parameters:/,+1d' | kubectl replace --force -f -`,
      ),
  },
  {
    cause: 'SnapshotNotReady',
    root: 'VolumeSnapshot test/odd',
    objects: ['PersistentVolumeClaim test/waiting'],
    breaks: (at) => at.claim('waiting', fromSnapshot('odd')),
  },
  {
    cause: 'SnapshotClassMissing',
    root: 'VolumeSnapshot test/rare',
    breaks: (at) => at.snapshot('rare', inPod('base'), 'rare'),
  },
  {
    cause: 'ContentMissing',
    root: 'VolumeSnapshot test/imported',
    breaks: (at) => at.snapshot('imported', { volumeSnapshotContentName: 'imported' }),
    person: async (at) => at.apply(await withHandle(at, 'imported', 'imported')),
  },
  {
    cause: 'ContentMismatch',
    root: 'VolumeSnapshot test/mixed-up',
    async breaks(at) {
      await at.apply(await withHandle(at, 'mixed-up', 'another'));
      await at.snapshot('mixed-up', { volumeSnapshotContentName: 'mixed-up' });
    },
    async after(at) {
      await at.client.delete(VOLUME_SNAPSHOTS, 'mixed-up', { namespace: NAMESPACE });
      await at.apply(await withHandle(at, 'put-right', 'put-right'));
      await at.snapshot('put-right', { volumeSnapshotContentName: 'put-right' });
    },
  },
  {
    cause: 'PodsHoldDeletion',
    root: 'PersistentVolumeClaim test/leaving',
    async sound(at) {
      await at.claim('leaving', {}, { finalizers: ['kubernetes.io/pvc-protection'] });
      await at.bound('leaving');
      await at.pod('leaving', 'leaving');
    },
    breaks: (at) => at.client.delete(PERSISTENT_VOLUME_CLAIMS, 'leaving', { namespace: NAMESPACE }),
  },
  {
    cause: 'UsedAsSource',
    root: 'PersistentVolumeClaim test/copied',
    async sound(at) {
      await at.claim('copied');
      const { spec } = await at.bound('copied');
      await at.patch(VOLUMES, spec.volumeName ?? '', {
        metadata: { annotations: { 'stowage.dev/paused': 'true' } },
      });
    },
    async breaks(at) {
      await at.snapshot('copied', inPod('copied'));
      await at.someone.untilCause('snapshot test/copied', 'Paused');
      await at.client.delete(PERSISTENT_VOLUME_CLAIMS, 'copied', { namespace: NAMESPACE });
    },
  },
  {
    cause: 'Paused',
    root: 'VolumeSnapshot test/copied',
    breaks: async () => {},
  },
  {
    cause: 'NotGrown',
    root: 'PersistentVolumeClaim test/growing',
    async sound(at) {
      const directory = await at.tmpfs('tight', '400m');
      await createClass(at.client, 'tight', directory, 'ext4', { allowVolumeExpansion: true });
      await at.claim('growing', { storageClassName: 'tight' });
      await at.bound('growing');
    },
    breaks: (at) => at.patch(PERSISTENT_VOLUME_CLAIMS, 'growing', { spec: sized('900Mi') }),
    person: (at) => at.sh(`mount -o remount,size=4g ${join(at.folder, 'tight')}`),
  },
  {
    cause: 'NoRoom',
    root: 'PersistentVolumeClaim test/vast',
    breaks: (at) => at.claim('vast', { storageClassName: 'tight', ...sized('800Mi') }),
    follow: { only: /get nodes/ },
  },
];
