import { describe, expect, test } from '@jest/globals';
import type {
  KubeNode,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from '../../../src/api/core.ts';
import type { ObjectMeta } from '../../../src/api/meta.ts';
import { PAUSED_ANNOTATION, PROTECTION_FINALIZER, READY_REASON } from '../../../src/api/names.ts';
import type { Attachment, Condition, Volume, VolumeSpec, VolumeStatus } from '../../../src/api/volume.ts';
import { diagnose } from '../../../src/cli/why/diagnose.ts';
import type { Diagnosis, Holdup, Known } from '../../../src/cli/why/types.ts';
import { pvOf, volumeNamed } from '../../support/volumes.ts';

const NOW = Date.parse('2030-01-01T00:00:00Z');
const ago = (seconds: number) => new Date(NOW - seconds * 1000).toISOString();
const CREATED = '2029-12-31T19:00:00Z';
const takeOff = (object: string, value = 'example.com/backup', at = 0) =>
  `kubectl patch ${object} --type json -p '[{"op":"test","path":"/metadata/finalizers/${at}","value":"${value}"},{"op":"remove","path":"/metadata/finalizers/${at}"}]'`;
const RETRY = `kubectl patch volume data1 --type merge -p '{"spec":{"attachPolicy":"Always"}}'`;

const ready = (
  status: Condition['status'],
  reason: string,
  message = '',
  transition = 300,
  update = transition,
): VolumeStatus => ({
  conditions: [
    {
      type: 'Ready',
      status,
      reason,
      message,
      lastTransitionTime: ago(transition),
      lastUpdateTime: ago(update),
    },
  ],
});

function volume(
  status?: VolumeStatus,
  { metadata, spec }: { metadata?: Partial<ObjectMeta>; spec?: Partial<VolumeSpec> } = {},
): Volume {
  const base = volumeNamed('data1', status);
  return {
    ...base,
    metadata: { ...base.metadata, generation: 1, finalizers: [PROTECTION_FINALIZER], ...metadata },
    spec: { ...base.spec, ...spec },
  };
}

const deleted = (status?: VolumeStatus, finalizers = [PROTECTION_FINALIZER]) =>
  volume(status, { metadata: { deletionTimestamp: ago(600), finalizers } });
const available = volume({ phase: 'Available', ...ready('True', 'Available') });
const terminating = (message: string, job?: string) =>
  deleted({ phase: 'Terminating', ...(job && { job }), ...ready('Unknown', 'Terminating', message) });
const failedBy = (reason: string, message: string, spec?: Partial<VolumeSpec>) =>
  volume({ phase: 'Failed', ...ready('False', reason, message) }, { ...(spec && { spec }) });

const on = (node: string, more: Partial<Attachment> = {}): Attachment => ({
  node,
  state: 'Attached',
  safeToMount: true,
  safeToDetach: false,
  pods: [],
  since: ago(60),
  ...more,
});

const localClass = (parameters?: Record<string, string>): StorageClass => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'fast' },
  provisioner: 'kubernetes.io/no-provisioner',
  ...(parameters && { parameters }),
});
const node = (status = 'True', annotations?: Record<string, string>): KubeNode => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1', ...(annotations && { annotations }) },
  status: {
    conditions: [
      { type: 'DiskPressure', status: 'False' },
      {
        type: 'Ready',
        status,
        message: 'Kubelet stopped posting node status.',
        lastTransitionTime: ago(900),
      },
    ],
  },
});
const claim = (metadata: Partial<ObjectMeta> = {}): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data-0', namespace: 'db', ...metadata },
  spec: {},
});
const pod = (name: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'db' },
  spec: {},
});
const found = <T>(it: T) => ({ found: it });
const absent = { absent: true } as const;
const forbidden = { forbidden: 'no' };
const pv = (phase?: NonNullable<PersistentVolume['status']>['phase'], metadata: Partial<ObjectMeta> = {}) => {
  const object = pvOf(available, phase);
  return found({
    ...object,
    metadata: { ...object.metadata, finalizers: [PROTECTION_FINALIZER], ...metadata },
  });
};
const foreign = pv('Available', { ownerReferences: [] });
const failedPv = found({
  ...pv('Failed').found,
  status: { phase: 'Failed' as const, message: 'no deleter' },
});

const explain = (it: Volume, world: Partial<Known> = {}): Diagnosis =>
  diagnose(
    {
      volume: it,
      pv: absent,
      claim: absent,
      pods: absent,
      storageClass: found(localClass()),
      node: found(node()),
      ...world,
    },
    NOW,
  );

/** What is held against it, in this order: what holds it up, since when, what comes next, what fixes it. */
type Row = [
  cause: string,
  volume: Volume,
  world: Partial<Known>,
  expected: {
    holdup: string;
    since?: string;
    next: string | Holdup['next'];
    say?: string;
    run?: string[];
  },
];

const PAUSED = { [PAUSED_ANNOTATION]: 'true' };
const preparing = (message: string, attempt = 1, update = 1) =>
  volume({
    phase: 'Pending',
    job: `PrepareVolume/${attempt}`,
    attempt,
    ...ready('Unknown', 'Pending', message, 300, update),
  });
const unreachable = ready(
  'Unknown',
  READY_REASON.nodeUnreachable,
  'node n1 is not reached over ssh: timeout',
);

const ROWS: Row[] = [
  [
    'never looked at',
    volume(),
    {},
    { holdup: 'no daemon has looked at it', since: CREATED, next: 'node n1 runs', run: ['stowage watch'] },
  ],
  [
    'never looked at, of a node that is none',
    volume(),
    { node: absent },
    { holdup: 'there is no node n1 in this cluster', since: CREATED, next: 'node n1 runs' },
  ],
  [
    'never looked at, invalid',
    volume(undefined, { spec: { nodeName: 'N 1' } }),
    { node: absent },
    { holdup: 'no daemon has looked at it', since: CREATED, next: 'runs' },
  ],
  [
    'its change not looked at',
    volume({ ...available.status, observedGeneration: 1 }, { metadata: { generation: 2 } }),
    { pv: pv('Bound') },
    { holdup: 'spec was changed (generation 2)', next: 'node n1 runs', run: ['stowage watch'] },
  ],
  [
    'its deletion not looked at',
    deleted({ phase: 'Available', ...ready('True', 'Available', '', 700) }),
    {},
    {
      holdup: 'no daemon has taken up its deletion',
      since: ago(600),
      next: 'node n1 runs',
      run: ['stowage watch'],
    },
  ],
  [
    'deleted and never looked at',
    deleted(),
    {},
    { holdup: 'no daemon has taken up its deletion', since: ago(600), next: 'node n1 runs' },
  ],
  [
    'a job that runs',
    preparing('make the file system'),
    {},
    {
      holdup: 'PrepareVolume (attempt 1) is under way on node n1: make the file system',
      since: ago(1),
      next: 'when the job has ended',
    },
  ],
  [
    'a job that said nothing for long',
    preparing('make the file system', 1, 600),
    {},
    { holdup: 'under way', since: ago(600), next: 'the job has ended', say: 'what it logs' },
  ],
  [
    'what it starts from is used, for long',
    volume({
      phase: 'Pending',
      job: 'PrepareVolume/1',
      attempt: 1,
      ...ready('Unknown', READY_REASON.waitingForSource, 'the volume data0 is in use', 6000, 6000),
    }),
    {},
    { holdup: 'the volume data0 is in use', since: ago(6000), next: 'looked at again every 5 min' },
  ],
  [
    'an attempt that waits for its time',
    preparing('attempt 4 ended early: the job ended without a result', 5, 3),
    {},
    {
      holdup: 'PrepareVolume (attempt 5) waits for its time on node n1: attempt 4 ended early',
      since: ago(3),
      next: { at: ago(-5) },
    },
  ],
  [
    'an attempt that waited and runs',
    preparing('make the file system', 5, 3),
    {},
    { holdup: 'PrepareVolume (attempt 5) is under way', since: ago(3), next: 'the job has ended' },
  ],
  [
    'a device that is made, without its PersistentVolume yet',
    volume({ phase: 'Pending', job: 'PrepareVolume/DONE', ...ready('Unknown', 'Pending', '', 300, 2) }),
    {},
    { holdup: 'its PersistentVolume is not yet there', since: ago(2), next: 'where a daemon runs' },
  ],
  [
    'attached again',
    volume({ phase: 'Failed', job: 'AttachVolume/1', ...ready('Unknown', 'Attaching', 'attach', 9) }),
    { pv: pv('Bound') },
    {
      holdup: 'AttachVolume (attempt 1) is under way on node n1: attach',
      since: ago(9),
      next: 'job has ended',
    },
  ],
  [
    'attached again, and changed meanwhile',
    volume(
      {
        phase: 'Available',
        observedGeneration: 1,
        job: 'AttachVolume/1',
        ...ready('Unknown', 'Attaching', '', 9),
      },
      { metadata: { generation: 2 } },
    ),
    { pv: pv('Bound') },
    { holdup: 'AttachVolume (attempt 1) is under way', since: ago(9), next: 'job has ended' },
  ],
  [
    'to be attached, and not begun',
    volume({ phase: 'Available', ...ready('Unknown', 'Attaching', 'is being attached', 9) }),
    { pv: pv('Bound') },
    {
      holdup: 'is being attached',
      since: ago(9),
      next: 'a daemon with the controller attachment runs',
      run: ['stowage watch'],
    },
  ],
  [
    'being attached',
    volume({
      phase: 'Available',
      ...ready('Unknown', 'Attaching', 'is being attached', 9),
      attachments: [on('n1', { state: 'Attaching', safeToMount: false, message: 'losetup: no' })],
    }),
    { pv: pv('Bound') },
    {
      holdup: 'its attachment to node n1 is Attaching: losetup: no',
      since: ago(60),
      next: 'after a delay',
      say: 'Put right what the message names.',
    },
  ],
  [
    'detached by a job that takes long',
    volume({
      phase: 'Available',
      ...ready('True', 'Available'),
      attachments: [on('n1', { state: 'Detaching', message: 'its job is under way: write back' })],
    }),
    { pv: pv('Bound') },
    {
      holdup: 'its attachment to node n1 is Detaching: its job is under way: write back',
      since: ago(60),
      next: 'after a delay',
      say: 'such as a file server that does not answer',
      run: ['ssh n1 ps axl'],
    },
  ],
  [
    'attached as soon as others are',
    volume({
      phase: 'Available',
      ...ready('Unknown', 'Attaching', 'is being attached', 9),
      attachments: [on('n1', { state: 'Attaching', message: 'waits until others have ended' })],
    }),
    { pv: pv('Bound') },
    {
      holdup: 'its attachment to node n1 is Attaching: waits until others have ended',
      since: ago(60),
      next: 'after a delay',
      say: 'See what the others wait for',
      run: ['stowage get attachments -o wide'],
    },
  ],
  [
    'attached nobody knows how',
    volume({
      phase: 'Available',
      ...ready('True', 'Available'),
      attachments: [on('n2'), on('n1', { state: 'Uncertain', message: 'no route' })],
    }),
    { pv: pv('Bound') },
    {
      holdup: 'Uncertain, which counts as attached until the node was looked at: no route',
      since: ago(60),
      next: 'after a delay',
      say: 'Only if the machine is dead, and switched off, have it let go: stowage detach volume data1 --node n1 --force',
      run: ['ssh n1 true'],
    },
  ],
  ...(
    [
      ['/dev/loop3 goes with its last user', 'End what still uses the device there', 'losetup -l'],
      ['a job of this Volume still runs on node n1', 'See what the programs there wait for', 'ps axl'],
      ["'/srv/v' is on /, which is of type ext4: wanted is an NFS 4 mount", 'Put right what', 'findmnt'],
    ] as const
  ).map(
    ([message, say, look]): Row => [
      `attached nobody knows how, by a node that answered: ${message}`,
      volume({
        phase: 'Available',
        ...ready('True', 'Available'),
        attachments: [on('n1', { state: 'Uncertain', message })],
      }),
      { pv: pv('Bound') },
      { holdup: message, since: ago(60), next: 'after a delay', say, run: [`ssh n1 ${look}`] },
    ],
  ),
  [
    'attached nobody knows how, and nothing is said of it',
    volume({
      phase: 'Available',
      ...ready('True', 'Available'),
      attachments: [on('n1', { state: 'Uncertain' })],
    }),
    { pv: pv('Bound') },
    { holdup: 'its attachment to node n1 is Uncertain', since: ago(60), next: 'after a delay' },
  ],
  [
    'not detached',
    volume({
      phase: 'Available',
      ...ready('True', 'Available'),
      attachments: [on('n1', { state: 'Detaching', message: 'mounted', pods: ['db/x'] })],
    }),
    { pv: pv('Bound') },
    {
      holdup: 'its attachment to node n1 is Detaching: mounted',
      since: ago(60),
      next: 'after a delay',
      say: 'pods that need it on node n1: db/x',
    },
  ],
  [
    'attachment that is switched off',
    volume({ phase: 'Available', ...ready('Unknown', 'AttachmentDisabled', 'switched off', 9) }),
    { pv: pv('Bound') },
    {
      holdup: 'switched off',
      since: ago(9),
      next: 'when a daemon runs that has',
      run: ["stowage watch --controllers '*'"],
    },
  ],
  [
    'deleted, while attachment is switched off',
    deleted({
      phase: 'Terminating',
      ...ready('Unknown', 'AttachmentDisabled', 'is still attached on n1', 9),
      attachments: [on('n1')],
    }),
    { pv: pv('Released') },
    { holdup: 'is still attached on n1', since: ago(9), next: 'when a daemon runs that has' },
  ],
  [
    'deleted, and still attached',
    deleted({
      phase: 'Terminating',
      ...ready('Unknown', 'Terminating', 'is still attached on n1', 9),
      attachments: [on('n1', { state: 'Detaching', message: 'mounted' })],
    }),
    { pv: pv('Released') },
    {
      holdup:
        'it is to be detached before its storage is removed; its attachment to node n1 is Detaching: mounted',
      since: ago(60),
      next: 'after a delay',
    },
  ],
  [
    'invalid',
    failedBy('InternalError', 'volume type not found in Volume Spec', {
      sparseLoopDevice: undefined as never,
    }),
    { node: absent },
    {
      holdup: 'volume type not found in Volume Spec',
      since: ago(300),
      next: 'when its spec is changed',
      run: [
        'kubectl get volume data1 -o yaml > volume.yaml',
        'stowage delete volume data1 --wait',
        'kubectl create -f volume.yaml',
      ],
    },
  ],
  [
    'a status that Stowage never wrote',
    failedBy('InternalError', 'status.prepared names "/etc". Correct the status'),
    {},
    { holdup: 'Correct the status', since: ago(300), next: 'when its spec is changed', run: [RETRY] },
  ],
  [
    'a class that is missing',
    failedBy('CreationError', 'the storage class fast does not exist'),
    { storageClass: absent },
    {
      holdup: 'its storage class fast does not exist',
      since: ago(300),
      next: 'spec is changed',
      run: [RETRY],
    },
  ],
  [
    'an unsupported file system',
    failedBy('CreationError', 'unsupported filesystem: btrfs'),
    { storageClass: found(localClass({ fsType: 'btrfs' })) },
    {
      holdup: 'storage class fast: unsupported filesystem: btrfs',
      since: ago(300),
      next: 'spec is changed',
      run: [
        'kubectl get storageclass fast -o yaml > class.yaml',
        'kubectl replace --force -f class.yaml',
        RETRY,
      ],
    },
  ],
  [
    'bad mkfsOptions',
    failedBy('CreationError', 'parameter mkfsOptions …'),
    { storageClass: found(localClass({ mkfsOptions: '["-U", "x"]' })) },
    { holdup: '"-U" is not allowed', since: ago(300), next: 'spec is changed' },
  ],
  [
    'a class that was wrong and is right now',
    failedBy('CreationError', 'the storage class fast does not exist'),
    {},
    { holdup: 'fast does not exist', since: ago(300), next: 'spec is changed', run: [RETRY] },
  ],
  [
    'a class that may not be read',
    failedBy('CreationError', 'the storage class fast does not exist'),
    { storageClass: forbidden },
    {
      holdup: 'the storage class fast does not exist',
      since: ago(300),
      next: 'spec is changed',
      run: [RETRY],
    },
  ],
  [
    'a device that holds data',
    failedBy('CreationError', `/dev/sdb holds a signature. Consent with overwrite: "it's xfs"`),
    {},
    {
      holdup: '/dev/sdb holds a signature',
      since: ago(300),
      next: 'spec is changed',
      say: 'set spec.overwrite to "it\'s xfs"',
      run: [`kubectl patch volume data1 --type merge -p '{"spec":{"overwrite":"it'\\''s xfs"}}'`],
    },
  ],
  [
    'any other failure, tried again by what is the default',
    failedBy('CreationError', 'given up after 8 attempts', { attachPolicy: 'Always' }),
    {},
    {
      holdup: 'given up after 8 attempts',
      since: ago(300),
      next: 'spec is changed',
      run: [`kubectl patch volume data1 --type merge -p '{"spec":{"onDelete":"Delete"}}'`],
    },
  ],
  [
    'a failure of a raw device keeps its data when tried again',
    failedBy('CreationError', 'mkfs failed', {
      attachPolicy: 'Always',
      sparseLoopDevice: null as never,
      rawBlockDevice: { devicePath: '/dev/sdb' },
    }),
    {},
    {
      holdup: 'mkfs failed',
      since: ago(300),
      next: 'spec is changed',
      run: [`kubectl patch volume data1 --type merge -p '{"spec":{"onDelete":"Retain"}}'`],
    },
  ],
  [
    'a failure of what has all defaults written is made anew',
    failedBy('CreationError', 'mkfs failed', { attachPolicy: 'Always', onDelete: 'Delete' }),
    {},
    {
      holdup: 'mkfs failed',
      since: ago(300),
      next: 'spec is changed',
      run: [
        'kubectl get volume data1 -o yaml > volume.yaml',
        'stowage delete volume data1 --wait',
        'kubectl create -f volume.yaml',
      ],
    },
  ],
  [
    'a failure whose change no daemon took up',
    volume(
      { ...failedBy('CreationError', 'mkfs failed').status, observedGeneration: 1 },
      { metadata: { generation: 2 } },
    ),
    {},
    { holdup: 'spec was changed (generation 2)', next: 'node n1 runs', run: ['stowage watch'] },
  ],
  [
    'the name of its PersistentVolume is taken',
    failedBy('CreationError', 'a PersistentVolume data1 exists that does not belong to this Volume'),
    { pv: foreign },
    {
      holdup: 'a PersistentVolume data1 exists',
      since: ago(300),
      next: 'spec is changed',
      run: ['kubectl delete pv data1', RETRY],
    },
  ],
  [
    'another failure beside a PersistentVolume of its name',
    failedBy('CreationError', 'mkfs failed'),
    { pv: foreign },
    { holdup: 'mkfs failed', since: ago(300), next: 'spec is changed', run: [RETRY] },
  ],
  [
    'a node that is missing',
    volume({ phase: 'Pending', ...unreachable }),
    { node: absent },
    {
      holdup: 'there is no node n1 in this cluster',
      since: ago(300),
      next: 'by itself',
      say: 'kubectl get nodes',
      run: [
        'kubectl get volume data1 -o yaml > volume.yaml',
        'stowage delete volume data1 --forget-node --wait',
        'kubectl create -f volume.yaml',
      ],
    },
  ],
  [
    'a node that is missing, and has what was made',
    volume({ phase: 'Available', ...unreachable }),
    { node: absent, pv: pv('Available') },
    {
      holdup: 'there is no node n1 in this cluster',
      since: ago(300),
      next: 'by itself',
      say: 'Bring the node back under that name. If it is lost for good, give up what it holds of this Volume, with its data',
      run: ['stowage delete volume data1 --forget-node'],
    },
  ],
  [
    'a node that is NotReady',
    volume({ phase: 'Available', ...unreachable }),
    { node: found(node('Unknown')), pv: pv('Bound') },
    {
      holdup: `node n1 is NotReady since ${ago(900)} (Kubelet stopped posting node status.), and is not reached: node n1`,
      since: ago(300),
      next: 'by itself',
      run: ['ssh n1 true'],
    },
  ],
  [
    'a node that is not reached',
    volume({ phase: 'Available', ...unreachable }),
    { pv: pv('Bound') },
    {
      holdup: 'node n1 is not reached: node n1 is not reached over ssh: timeout',
      since: ago(300),
      next: 'by itself',
      run: ['ssh n1 true'],
    },
  ],
  [
    'a node that is not reached, and may not be read',
    volume({ phase: 'Available', ...unreachable }),
    { node: forbidden },
    { holdup: 'node n1 is not reached: ', since: ago(300), next: 'by itself', run: ['ssh n1 true'] },
  ],
  [
    'a node that is not reached, by which it is to be deleted',
    deleted(unreachable),
    { node: absent },
    {
      holdup: 'there is no node n1',
      since: ago(300),
      next: 'by itself',
      run: ['stowage delete volume data1 --forget-node'],
    },
  ],
  [
    'a node that was not reached already when it was deleted',
    deleted(ready('Unknown', READY_REASON.nodeUnreachable, 'timeout', 700)),
    {},
    { holdup: 'node n1 is not reached: timeout', since: ago(700), next: 'by itself' },
  ],
  [
    'a node that is unclear',
    volume({ phase: 'Available', ...ready('Unknown', 'NodeUnclear', 'losetup printed x') }),
    {},
    { holdup: 'nothing safe follows from it: losetup printed x', since: ago(300), next: 'by itself' },
  ],
  [
    'a backing file that is gone',
    failedBy('UnavailableError', 'the backing file is missing now'),
    { pv: pv('Bound') },
    {
      holdup: 'the backing file is missing now',
      since: ago(300),
      next: 'by itself',
      say: 'Nothing is made anew',
    },
  ],
  [
    'an attach that failed and waits',
    volume({
      phase: 'Failed',
      job: 'AttachVolume/3',
      ...ready('False', 'UnavailableError', 'attempt 2: losetup failed', 300, 1),
    }),
    { pv: pv('Bound') },
    { holdup: 'attempt 2: losetup failed', since: ago(300), next: { at: ago(-1) } },
  ],
  [
    'a PersistentVolume that is Failed',
    failedBy('UnavailableError', 'the PersistentVolume is Failed: no deleter'),
    { pv: failedPv },
    {
      holdup: 'its PersistentVolume is Failed: no deleter',
      since: ago(300),
      next: 'in another phase',
      run: ['kubectl describe pv data1'],
    },
  ],
  [
    'a PersistentVolume that is Failed since just now',
    available,
    { pv: failedPv },
    { holdup: 'its PersistentVolume is Failed: no deleter', next: 'in another phase' },
  ],
  [
    'a PersistentVolume that is gone',
    available,
    {},
    { holdup: 'its PersistentVolume is gone', next: 'where a daemon runs', run: ['stowage watch'] },
  ],
  [
    'a PersistentVolume that was exchanged',
    available,
    { pv: foreign },
    { holdup: 'is not its own', next: 'is gone', run: ['kubectl delete pv data1'] },
  ],
  [
    'deletion: a job that makes it must end',
    deleted({
      job: 'PrepareVolume/2',
      ...ready('Unknown', 'Terminating', 'waits for the end of PrepareVolume/2'),
    }),
    {},
    { holdup: 'PrepareVolume/2 must end first on node n1', since: ago(600), next: 'when that has ended' },
  ],
  [
    'deletion: bound to a claim',
    terminating('the PersistentVolume is still in use'),
    { pv: pv('Bound'), claim: found(claim()), pods: found([]) },
    {
      holdup: 'its PersistentVolume is in use: it is bound to the claim db/data-0',
      since: ago(600),
      next: 'when the claim is gone',
      run: ['kubectl delete pvc data-0 -n db'],
    },
  ],
  [
    'deletion: bound to a claim that pods use',
    terminating('the PersistentVolume is still in use'),
    { pv: pv('Bound'), claim: found(claim()), pods: found([pod('db-0'), pod('db-1')]) },
    {
      holdup: 'the claim db/data-0, which these pods use: db-0, db-1',
      since: ago(600),
      next: 'claim is gone',
      run: ['kubectl delete pvc data-0 -n db'],
    },
  ],
  [
    'deletion: bound to a claim that is being deleted while pods use it',
    terminating('the PersistentVolume is still in use'),
    {
      pv: pv('Bound'),
      claim: found(claim({ deletionTimestamp: ago(60) })),
      pods: found([pod('db-0')]),
    },
    {
      holdup: 'which is being deleted and used by pods: db-0',
      since: ago(60),
      next: 'claim is gone',
      run: ['kubectl delete pod -n db db-0'],
    },
  ],
  [
    'deletion: bound to a claim that finalizers hold',
    terminating('the PersistentVolume is still in use'),
    {
      pv: pv('Bound'),
      claim: found(claim({ deletionTimestamp: ago(60), finalizers: ['example.com/backup'] })),
      pods: found([]),
    },
    {
      holdup: 'held by its finalizers example.com/backup',
      since: ago(60),
      next: 'claim is gone',
      run: ['kubectl get pvc data-0 -n db -o yaml', takeOff('pvc data-0 -n db')],
    },
  ],
  [
    'deletion: bound to a claim whose pods may not be read, held by what Kubernetes takes off',
    terminating('the PersistentVolume is still in use'),
    {
      pv: pv('Bound'),
      claim: found(claim({ deletionTimestamp: ago(60), finalizers: ['kubernetes.io/pvc-protection'] })),
      pods: forbidden,
    },
    {
      holdup: 'held by its finalizers kubernetes.io/pvc-protection',
      since: ago(60),
      next: 'claim is gone',
      run: ['kubectl describe pvc data-0 -n db'],
    },
  ],
  [
    'deletion: bound to a claim that may not be read',
    terminating('the PersistentVolume is still in use'),
    { pv: pv('Bound'), claim: forbidden },
    {
      holdup: 'it is bound to the claim db/data-0',
      since: ago(600),
      next: 'nothing holds it',
      run: ['kubectl get pv data1 -o yaml'],
    },
  ],
  [
    'deletion: finalizers of others on the PersistentVolume',
    terminating('the PersistentVolume is still in use'),
    { pv: pv('Released', { finalizers: [PROTECTION_FINALIZER, 'example.com/backup'] }) },
    {
      holdup: 'finalizers of others hold it: example.com/backup',
      since: ago(600),
      next: 'nothing holds it',
      run: ['kubectl get pv data1 -o yaml', takeOff('pv data1', 'example.com/backup', 1)],
    },
  ],
  [
    'deletion: finalizers of others on the Volume',
    deleted({ job: 'UnprepareVolume/DONE', ...ready('Unknown', 'Terminating') }, ['example.com/backup']),
    {},
    {
      holdup: 'Stowage is done with it, and finalizers of others hold it: example.com/backup',
      since: ago(600),
      next: 'taken off',
      run: ['kubectl get volume data1 -o yaml', takeOff('volume data1')],
    },
  ],
  [
    'deletion: finalizers of others on a Volume that nobody looked at',
    deleted(undefined, ['example.com/backup']),
    {},
    { holdup: 'finalizers of others hold it: example.com/backup', since: ago(600), next: 'taken off' },
  ],
  [
    'deletion: in use on the node',
    terminating('/dev/loop3 is mounted at /mnt', 'UnprepareVolume/1'),
    { pv: pv('Released') },
    {
      holdup: 'being removed from node n1: /dev/loop3 is mounted at /mnt',
      since: ago(300),
      next: 'by itself',
    },
  ],
  [
    'deletion: a step failed',
    deleted({
      phase: 'Failed',
      job: 'UnprepareVolume/4',
      ...ready('False', 'DestructionError', 'attempt 3: rm failed', 300, 1),
    }),
    { pv: pv('Released') },
    { holdup: 'is not removed: attempt 3: rm failed', since: ago(300), next: { at: ago(-3) } },
  ],
  [
    'deletion: refused',
    deleted({
      phase: 'Failed',
      job: 'UnprepareVolume/4',
      ...ready('False', 'DestructionError', 'it is not our file', 300),
    }),
    { pv: pv('Released') },
    { holdup: 'is not removed: it is not our file', since: ago(300), next: 'by itself' },
  ],
  [
    'deletion: reclaimed, though a claim is bound',
    terminating('', 'UnprepareVolume/DONE'),
    { pv: pv('Bound'), claim: found(claim()) },
    { holdup: 'being removed from node n1: UnprepareVolume/DONE', since: ago(300), next: 'by itself' },
  ],
  [
    'paused',
    volume(preparing('').status, { metadata: { annotations: PAUSED } }),
    {},
    {
      holdup: 'it is paused: volume data1 has the annotation stowage.dev/paused',
      next: 'is taken off',
      run: ['kubectl annotate volume data1 stowage.dev/paused-'],
    },
  ],
  [
    'paused with its node, while it is deleted',
    terminating(''),
    { node: found(node('True', PAUSED)) },
    {
      holdup: 'it is paused: node n1 has',
      next: 'is taken off',
      run: ['kubectl annotate node n1 stowage.dev/paused-'],
    },
  ],
  [
    'paused, and Failed for another reason',
    volume(failedBy('CreationError', 'mkfs failed').status, { metadata: { annotations: PAUSED } }),
    {},
    { holdup: 'mkfs failed', since: ago(300), next: 'spec is changed' },
  ],
];

test.each(ROWS)('%s', (_, it, world, { holdup, since, next, say, run }) => {
  const diagnosis = explain(it, world) as Holdup;
  expect(diagnosis).toMatchObject({ holdup: expect.stringContaining(holdup) });
  expect(diagnosis.since).toBe(since);
  expect(diagnosis.next).toEqual(typeof next === 'string' ? { when: expect.stringContaining(next) } : next);
  if (say !== undefined) expect(diagnosis.fix?.say).toContain(say);
  if (run !== undefined) expect(diagnosis.fix?.run).toEqual(run);
});

test('a missing class is given, to be created', () => {
  const { fix } = explain(failedBy('CreationError', ''), { storageClass: absent }) as Holdup;
  expect(fix?.manifest).toMatchObject({ kind: 'StorageClass', metadata: { name: 'fast' } });
});

test('what cannot grow is told with when it is tried next', () => {
  const message = 'growing to 8E: attempt 4: truncate: File too large';
  const it = volume({
    ...available.status,
    job: 'GrowVolume/5',
    attempt: 5,
    ...ready('True', 'Available', message),
  });
  expect(explain(it, { pv: pv('Bound') })).toMatchObject({
    holdup: expect.stringContaining(message),
    next: expect.anything(),
  });
  expect(
    explain(
      volume({ phase: 'Available', ...ready('True', 'Available', 'cannot grow to 2 bytes: no room') }),
      {
        pv: pv('Bound'),
      },
    ),
  ).toMatchObject({
    holdup: 'its device is Available and can be used, but it has not grown: cannot grow to 2 bytes: no room',
    next: { when: 'every 30 s' },
  });
  const growing = volume({ ...available.status, job: 'GrowVolume/1', attempt: 1 });
  expect(explain(growing, { pv: pv('Bound') })).toHaveProperty('nothing');
});

describe('nothing holds up what is Available', () => {
  test.each([
    [pv('Available'), 'no claim has it yet'],
    [pv('Bound'), 'bound to the claim db/data-0'],
    [pv('Released'), 'which is gone'],
    [pv('Bound', { deletionTimestamp: ago(5) }), 'marked for deletion'],
    [forbidden, 'nothing holds it up'],
  ])('%j', (its, text) => {
    expect(explain(available, { pv: its })).toEqual({ nothing: expect.stringContaining(text) });
  });

  test('where it is attached is said', () => {
    const it = volume({ ...available.status, attachments: [on('n1'), on('n2', { state: 'Attaching' })] });
    expect(explain(it, { pv: pv('Bound') })).toEqual({
      nothing: expect.stringMatching(/it is attached to n1, n2$/),
    });
  });

  test('paused', () => {
    const it = volume(available.status, { metadata: { annotations: PAUSED } });
    expect(explain(it, { pv: pv('Bound') })).toHaveProperty('nothing');
  });
});
