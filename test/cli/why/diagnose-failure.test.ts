import { describe, expect, test } from '@jest/globals';
import type { ObjectMeta } from '../../../src/api/meta.ts';
import { DRIVER, PROVISIONED_BY_ANNOTATION, READY_REASON } from '../../../src/api/names.ts';
import * as reasons from '../../../src/api/reasons.ts';
import type { Attachment, Volume, VolumeSpec } from '../../../src/api/volume.ts';
import type { Blocker, VolumeFacts } from '../../../src/cli/why/types.ts';
import { ago, attachmentOn } from '../../support/cluster-objects.ts';
import {
  ABSENT,
  attachedAs,
  available,
  away,
  bound,
  claim,
  deleted,
  explain,
  failedBy,
  failedPv,
  forbidden,
  foreign,
  found,
  given,
  heldUpBy,
  localClass,
  noNode,
  pv,
  RECREATE,
  RETRY,
  ready,
  silentNode,
  testRows,
  unreachable,
  volume,
} from './volume-diagnosis.ts';

const BRING_BACK = ['stowage check node n1', RETRY];
const SILENT = reasons.explain('NodeSilent', { node: 'n1', seconds: 30 });
const awayFor = (why: reasons.Explanation) =>
  volume({ phase: 'Available', ...ready('Unknown', READY_REASON.nodeUnreachable, why) });

const SMALL = reasons.explain('FileSystemTooSmall', {
  ...{ type: 'xfs', needed: 314_572_800, size: '300Mi', bytes: 67_108_864 },
});
const STEP_FAILED = reasons.explain('StepFailed', { step: 'check', exit: 3 });
const FROM_IMAGE: Partial<VolumeSpec> = {
  source: { populator: { builtin: 'Image', namespace: 'db', name: 'debian', options: {} } },
};
/** Returns the failed Volume of the claim db/NAME. */
const ofClaim = (name: string, why: reasons.Explanation, spec: Partial<VolumeSpec> = {}) =>
  volume(
    { phase: 'Failed', ...ready('False', 'CreationError', why) },
    {
      metadata: { name: 'pvc-u1' },
      spec: {
        ...spec,
        template: {
          metadata: { annotations: { [PROVISIONED_BY_ANNOTATION]: DRIVER } },
          spec: { claimRef: { namespace: 'db', name, uid: 'u1' } },
        },
      },
    },
  );
/** Facts about the claim db/data, bound to a PersistentVolume if one is named. */
const claimNow = (uid: string, volumeName?: string, metadata: Partial<ObjectMeta> = {}) => ({
  templateClaim: found({
    ...claim({ name: 'data', uid, ...metadata }),
    spec: { ...(volumeName !== undefined && { volumeName }) },
  }),
});
const CHECK_UID =
  'Before its deletion, check that data-claim.yaml has the uid u1: kubectl deletes any claim of that name.';
const DELETE_VOLUME = ['stowage delete volume pvc-u1'];
const UNREAD = (what: string) =>
  `Another claim db/data may exist by now: find out its UID and its PersistentVolume, which could not be read. If the UID is u1, and the claim has no other PersistentVolume than pvc-u1, delete it${what}. Otherwise, keep the claim, and delete Volume pvc-u1.`;
const recreateClaim = (name: string, file = `${name}-claim.yaml`) => [
  `kubectl get -n db pvc ${name} -o yaml > ${file}`,
  `kubectl delete -n db pvc ${name}`,
  `kubectl create -f ${file}`,
];
const resizeTo = (size: string) => `stowage resize volume data1 ${size}`;

describe('a Volume is held up by', () => {
  testRows([
    [
      given(
        'an invalid spec',
        failedBy('InternalError', 'volume type not found in Volume Spec', {
          sparseLoopDevice: undefined as never,
        }),
        noNode,
      ),
      heldUpBy(
        'volume type not found in Volume Spec',
        'when it is retried, or its spec is changed',
        {
          run: RECREATE,
        },
      ),
    ],
    [
      given(
        'a status that Stowage never writes',
        failedBy('InternalError', 'status.prepared names "/etc". Correct the status'),
      ),
      heldUpBy('Correct the status', 'when it is retried, or its spec is changed', {
        run: [RETRY],
      }),
    ],
    [
      given(
        'a missing storage class',
        failedBy('CreationError', 'the storage class fast does not exist'),
        {
          storageClass: ABSENT,
        },
      ),
      heldUpBy('its storage class fast does not exist', 'spec is changed', {
        run: ['stowage create storageclass fast --static', RETRY],
      }),
    ],
    [
      given(
        'a storage class whose name no class can have: Fast',
        failedBy('CreationError', 'it does not exist', { storageClassName: 'Fast' }),
        { storageClass: ABSENT },
      ),
      heldUpBy('its storage class Fast does not exist', 'spec is changed', {
        say: 'set spec.storageClassName in volume.yaml',
        run: RECREATE,
      }),
    ],
    [
      given(
        'a storage class whose name no class can have: --default',
        failedBy('CreationError', 'it does not exist', { storageClassName: '--default' }),
        { storageClass: ABSENT },
      ),
      heldUpBy('its storage class --default does not exist', 'spec is changed', {
        say: 'set spec.storageClassName in volume.yaml',
        run: RECREATE,
      }),
    ],
    [
      given(
        'a missing storage class of a claim',
        ofClaim('data', { message: 'the storage class fast does not exist' }),
        { storageClass: ABSENT },
      ),
      heldUpBy('its storage class fast does not exist', 'spec is changed', {
        run: ['stowage create storageclass fast --dynamic', 'stowage retry volume pvc-u1'],
      }),
    ],
    [
      given(
        'a storage class with an unsupported file system',
        failedBy('CreationError', 'unsupported filesystem: btrfs'),
        { storageClass: found(localClass({ fsType: 'btrfs' })) },
      ),
      heldUpBy('storage class fast is invalid: unsupported filesystem: btrfs', 'spec is changed', {
        run: [
          'kubectl get storageclass fast -o yaml > class.yaml',
          'kubectl replace --force -f class.yaml',
          RETRY,
        ],
      }),
    ],
    [
      given(
        'a storage class with refused mkfsOptions',
        failedBy('CreationError', 'parameter mkfsOptions …'),
        { storageClass: found(localClass({ mkfsOptions: '["-U", "x"]' })) },
      ),
      heldUpBy('"-U" is not allowed', 'spec is changed'),
    ],
    [
      given(
        'a storage class that was created since',
        failedBy(
          'CreationError',
          reasons.explain('StorageClassMissing', { class: 'fast', retry: '' }),
        ),
      ),
      heldUpBy('fast did not exist at the last attempt; it is valid now', 'spec is changed', {
        run: [RETRY],
      }),
    ],
    [
      given(
        'a storage class that was corrected',
        failedBy(
          'CreationError',
          reasons.explain('StorageClassInvalid', { problem: 'x', retry: '' }),
        ),
      ),
      heldUpBy('fast was invalid at the last attempt; it is valid now', 'spec is changed', {
        run: [RETRY],
      }),
    ],
    [
      given(
        'a storage class that was created since, reported by an older daemon',
        failedBy('CreationError', 'the storage class fast does not exist'),
      ),
      heldUpBy('fast does not exist', 'spec is changed', { run: [RETRY] }),
    ],
    [
      given(
        'a storage class that may not be read',
        failedBy('CreationError', 'the storage class fast does not exist'),
        { storageClass: forbidden },
      ),
      heldUpBy('the storage class fast does not exist', 'spec is changed', { run: [RETRY] }),
    ],
    [
      given(
        'a device with a signature',
        failedBy(
          'CreationError',
          reasons.explain('DeviceCarriesData', {
            ...{ device: '/dev/sdb', content: "it's xfs", overwrite: `"it's xfs"` },
          }),
        ),
      ),
      heldUpBy(/^\/dev\/sdb contains it's xfs$/, 'spec is changed', {
        say: 'set spec.overwrite to "it\'s xfs"',
        run: [`kubectl patch volume data1 --type merge -p '{"spec":{"overwrite":"it'\\''s xfs"}}'`],
      }),
    ],
    [
      given('a volume too small for its file system', failedBy('CreationError', SMALL)),
      heldUpBy('an xfs file system needs at least 314572800 bytes', 'spec is changed', {
        say: 'Increase the size to at least 300Mi, which also retries the Volume. Or create it again with a storage class with fsType ext4.',
        run: [resizeTo('300Mi')],
      }),
    ],
    [
      given(
        'a logical volume too small for its file system',
        failedBy('CreationError', SMALL, {
          sparseLoopDevice: undefined as never,
          lvmLogicalVolume: { vgName: 'vg0', size: '64Mi' },
        }),
      ),
      heldUpBy('an xfs file system needs', 'spec is changed', {
        run: [resizeTo('300Mi')],
      }),
    ],
    [
      given(
        'a disk too small for its file system',
        failedBy('CreationError', SMALL, {
          sparseLoopDevice: undefined as never,
          rawBlockDevice: { devicePath: '/dev/sdb' },
        }),
      ),
      heldUpBy('an xfs file system needs', 'spec is changed', {
        say: 'Create the Volume again on a larger device, or with a storage class with fsType ext4: correct volume.yaml',
        run: RECREATE,
      }),
    ],
    [
      given('a claim too small for its file system', ofClaim('data', SMALL), claimNow('u1')),
      heldUpBy('an xfs file system needs', 'spec is changed', {
        say: `Create the claim again with at least 300Mi, or with a storage class with fsType ext4: correct data-claim.yaml before the last command. ${CHECK_UID} The claim then gets a new Volume.`,
        run: recreateClaim('data'),
      }),
    ],
    [
      given(
        "a claim named like a populator's, too small for its file system",
        ofClaim('prime-data', SMALL),
        claimNow('u1'),
      ),
      heldUpBy('an xfs file system needs', 'spec is changed', {
        run: recreateClaim('prime-data'),
      }),
    ],
    [
      given('a claim with any name', ofClaim("a'; b", SMALL), claimNow('u1')),
      heldUpBy('an xfs file system needs', 'spec is changed', {
        run: recreateClaim("'a'\\''; b'", 'copied-claim.yaml'),
      }),
    ],
    [
      given(
        'a volume too small, as mkfs reports it',
        failedBy(
          'CreationError',
          reasons.explain('VolumeTooSmall', { step: 'create the xfs file system', exit: 1 }),
        ),
      ),
      heldUpBy('since the volume is too small', 'spec is changed', {
        say: 'Increase the size to more than 1Gi, which also retries the Volume.',
        run: [resizeTo('SIZE')],
      }),
    ],
    [
      given(
        'a source that cannot fill it',
        ofClaim(
          'data',
          {
            ...STEP_FAILED,
            message:
              'the step "check" failed with status 3. Correct the data source, then delete the claim',
          },
          FROM_IMAGE,
        ),
        claimNow('u1'),
      ),
      heldUpBy(/^the step "check" failed with status 3$/, 'spec is changed', {
        say: `Image db/debian is immutable: correct it in source.yaml, and create it again. Then create the claim again, which gets a new Volume. ${CHECK_UID}`,
        run: [
          'kubectl get -n db images.stowage.dev debian -o yaml > source.yaml',
          ...recreateClaim('data').slice(0, 2),
          'kubectl delete -n db images.stowage.dev debian',
          'kubectl create -f source.yaml',
          'kubectl create -f data-claim.yaml',
        ],
      }),
    ],
    [
      given(
        'a file of its name, though it has a source',
        ofClaim('data', reasons.explain('FileExists', { file: '/srv/v/1' }), FROM_IMAGE),
      ),
      heldUpBy('/srv/v/1 already exists', 'spec is changed', {
        say: 'Check the file, and move it away if it is not needed. Then retry the Volume.',
        run: ['stowage retry volume pvc-u1'],
      }),
    ],
    [
      given(
        'a logical volume without a record',
        failedBy(
          'CreationError',
          reasons.explain('LogicalVolumeUnrecorded', { volume: 'vg0/a b' }),
        ),
      ),
      heldUpBy('vg0/a b was created for this Volume', 'spec is changed', {
        say: "If it holds no data, remove it on the node: lvremove 'vg0/a b'. Then retry the Volume.",
        run: [RETRY],
      }),
    ],
    [
      given(
        'a reason whose advice ends with a command',
        failedBy('CreationError', reasons.explain('VolumeGroupExported', { group: 'vg0' })),
      ),
      heldUpBy('the volume group vg0 is exported', 'spec is changed', {
        say: 'vgimport vg0. Then retry the Volume.',
        run: [RETRY],
      }),
    ],
    [
      given('any other failure', failedBy('CreationError', 'failed after 8 attempts')),
      heldUpBy('failed after 8 attempts', 'spec is changed', { run: [RETRY] }),
    ],
    [
      given(
        'a failure with a change that no daemon has observed',
        volume(
          { ...failedBy('CreationError', 'mkfs failed').status, observedGeneration: 1 },
          { metadata: { generation: 2 } },
        ),
      ),
      heldUpBy('its changed spec yet (generation 2, observed 1)', 'node n1 runs', {
        since: undefined,
        run: ['stowage watch'],
      }),
    ],
    [
      given(
        'a foreign PersistentVolume of its name',
        failedBy('CreationError', reasons.explain('PersistentVolumeExists', { name: 'data1' })),
        { pv: foreign },
      ),
      heldUpBy(
        'PersistentVolume data1 exists and does not belong to this Volume',
        'spec is changed',
        {
          run: ['kubectl delete pv data1', RETRY],
        },
      ),
    ],
    [
      given(
        'another failure beside a foreign PersistentVolume of its name',
        failedBy('CreationError', 'mkfs failed'),
        { pv: foreign },
      ),
      heldUpBy('mkfs failed', 'spec is changed', { run: [RETRY] }),
    ],
    [
      given('a node that does not exist', volume({ phase: 'Pending', ...unreachable }), noNode),
      heldUpBy('node n1 is not in this cluster', 'automatically', {
        say: 'kubectl get nodes',
        run: [
          'kubectl get volume data1 -o yaml > volume.yaml',
          'stowage delete volume data1 --forget-node --wait',
          'kubectl create -f volume.yaml',
        ],
      }),
    ],
    [
      given('a node that does not exist, with storage on it', away, {
        node: ABSENT,
        pv: pv('Available'),
      }),
      heldUpBy('node n1 is not in this cluster', 'automatically', {
        say: 'Bring the node back under that name. If it is permanently lost, delete the Volume and abandon its data there',
        run: ['stowage delete volume data1 --forget-node'],
      }),
    ],
    [
      given('a node that is NotReady', away, { ...bound, node: found(silentNode) }),
      heldUpBy(
        `node n1 is NotReady since ${ago(900)} (Kubelet stopped posting node status.), and is not reached: node n1`,
        'automatically',
        { run: BRING_BACK },
      ),
    ],
    [
      given('an unreachable node', away, bound),
      heldUpBy(
        'node n1 is not reached: node n1 is unreachable over ssh: timeout',
        'automatically',
        {
          run: BRING_BACK,
        },
      ),
    ],
    [
      given('a NotReady node that its reason names', awayFor(SILENT), {
        ...bound,
        node: found(silentNode),
      }),
      heldUpBy(
        /^node n1 is NotReady since \S+ \(Kubelet stopped posting node status\.\); node n1 did not answer within 30 s$/,
        'automatically',
        { run: BRING_BACK },
      ),
    ],
    [
      given('an unreachable node that its reason names', awayFor(SILENT), bound),
      heldUpBy(/^node n1 did not answer within 30 s$/, 'automatically', {
        say: 'check the node as that user, with the --ssh-config of the daemon',
        run: BRING_BACK,
      }),
    ],
    [
      given(
        'an unreachable node whose reason names another',
        awayFor(reasons.explain('NodeSilent', { node: 'n2', seconds: 30 })),
        bound,
      ),
      heldUpBy('node n1 is not reached: node n2 did not answer', 'automatically'),
    ],
    [
      given(
        'an unreachable node whose reason names none',
        awayFor(reasons.explain('SocketFolderUnusable', { said: 'no space' })),
        bound,
      ),
      heldUpBy('node n1 is not reached: no directory for the control sockets', 'automatically'),
    ],
    [
      given('an unreachable node that may not be read', away, { node: forbidden }),
      heldUpBy('node n1 is not reached: ', 'automatically', { run: BRING_BACK }),
    ],
    [
      given('a deletion on a node that does not exist', deleted(unreachable), noNode),
      heldUpBy('node n1 is not in this cluster', 'automatically', {
        run: ['stowage delete volume data1 --forget-node'],
      }),
    ],
    [
      given(
        'a deletion on a node that was unreachable before',
        deleted(ready('Unknown', READY_REASON.nodeUnreachable, 'timeout', 700)),
      ),
      heldUpBy('node n1 is not reached: timeout', 'automatically', { since: ago(700) }),
    ],
    [
      given(
        'an unclear answer of a node',
        volume({ phase: 'Available', ...ready('Unknown', 'NodeUnclear', 'losetup printed x') }),
      ),
      heldUpBy('the answer is inconclusive: losetup printed x', 'automatically'),
    ],
    [
      given(
        'a node that lacks a tool',
        volume({
          phase: 'Available',
          ...ready(
            'Unknown',
            'NodeUnclear',
            reasons.explain('ProbeToolMissing', { said: 'sh: lsblk: no' }),
          ),
        }),
      ),
      heldUpBy('the node lacks a tool: sh: lsblk: no', 'automatically', {
        run: ['stowage check node n1'],
      }),
    ],
    [
      given(
        'a node that lacks LVM',
        volume({
          phase: 'Available',
          ...ready(
            'Unknown',
            'NodeUnclear',
            reasons.explain('ProbeToolMissing', { package: 'lvm2', said: 'sh: lvmconfig: no' }),
          ),
        }),
      ),
      heldUpBy('the node lacks a tool of the package lvm2: sh: lvmconfig: no', 'automatically', {
        run: ['ssh n1 apt-get install -y lvm2'],
      }),
    ],
    [
      given(
        'a node that lacks a package that another program named',
        volume({
          phase: 'Available',
          ...ready(
            'Unknown',
            'NodeUnclear',
            reasons.explain('ProbeToolMissing', { package: 'evil', said: 'no' }),
          ),
        }),
      ),
      heldUpBy('the node lacks a tool of the package evil: no', 'automatically', {
        run: ['stowage check node n1'],
      }),
    ],
    [
      given(
        'a Volume on a node that lacks LVM',
        failedBy('CreationError', reasons.explain('LVMMissing', { said: 'sh: lvmconfig: no' })),
      ),
      heldUpBy('the node lacks the tools of LVM: sh: lvmconfig: no', 'retried', {
        run: ['ssh n1 apt-get install -y lvm2', 'stowage retry volume data1'],
      }),
    ],
    [
      given(
        'a missing backing file',
        failedBy('UnavailableError', 'the backing file is missing now'),
        bound,
      ),
      heldUpBy('the backing file is missing now', 'automatically', {
        say: 'Stowage creates no replacement',
      }),
    ],
    [
      given(
        'a directory that is not mounted',
        failedBy('DirectoryNotMounted', '/data is not mounted'),
        bound,
      ),
      heldUpBy('/data is not mounted', 'once it is mounted', {
        say: 'Mount the file system on n1',
        run: ['ssh n1 mount -a'],
      }),
    ],
    [
      given(
        'a directory that is not mounted, while provisioning',
        volume({
          ...{ phase: 'Pending', job: 'PrepareVolume/1', attempt: 1 },
          ...ready('Unknown', 'DirectoryNotMounted', '/data is not mounted'),
        }),
      ),
      heldUpBy('/data is not mounted', 'once it is mounted', { run: ['ssh n1 mount -a'] }),
    ],
    [
      given(
        'a directory that is not mounted, during deletion',
        deleted({
          ...{ phase: 'Terminating', job: 'UnprepareVolume/1' },
          ...ready('Unknown', 'DirectoryNotMounted', '/data is not mounted'),
        }),
      ),
      heldUpBy('/data is not mounted', 'once it is mounted', { run: ['ssh n1 mount -a'] }),
    ],
    [
      given(
        'a failed attach of an earlier version',
        volume({
          phase: 'Failed',
          job: 'AttachVolume/3',
          ...ready('False', 'UnavailableError', 'attempt 2: losetup failed', 300, 1),
        }),
        bound,
      ),
      heldUpBy('attempt 2: losetup failed', 'automatically'),
    ],
    [
      given(
        'a Failed PersistentVolume',
        failedBy('UnavailableError', 'the PersistentVolume is Failed: no deleter'),
        { pv: failedPv },
      ),
      heldUpBy('its PersistentVolume is Failed: no deleter', 'leaves the phase Failed', {
        run: ['kubectl describe pv data1'],
      }),
    ],
    [
      given('a PersistentVolume that became Failed, not observed yet', available, { pv: failedPv }),
      heldUpBy('its PersistentVolume is Failed: no deleter', 'leaves the phase Failed', {
        since: undefined,
      }),
    ],
    [
      given('a missing PersistentVolume', available),
      heldUpBy('its PersistentVolume is gone', 'if a daemon runs', {
        since: undefined,
        run: ['stowage watch'],
      }),
    ],
    [
      given('a PersistentVolume that was replaced by a foreign one', available, { pv: foreign }),
      heldUpBy('was not created for this Volume', 'is gone', {
        since: undefined,
        run: ['kubectl delete pv data1'],
      }),
    ],
  ]);
});

test("the fix for a populator's claim that is too small has no commands", () => {
  const { fix } = explain(ofClaim('prime-u2', SMALL)) as Blocker;
  expect(fix).not.toHaveProperty('run');
});

describe('the claim of a failed Volume is deleted by name', () => {
  const small = ofClaim('data', SMALL);
  const unfilled = ofClaim('data', STEP_FAILED, FROM_IMAGE);
  const WITH = 'with at least 300Mi, or with a storage class with fsType ext4';
  const foreignPv = pv('Bound', { ownerReferences: [] });
  /** Facts about a PersistentVolume of the Volume. */
  const ofVolume = (of: typeof small) => {
    const owner = { ...pv().found.metadata.ownerReferences?.[0], uid: of.metadata.uid ?? '' };
    return pv('Bound', { ownerReferences: [owner as never] });
  };

  test.each<[string, Partial<VolumeFacts>, string, string[] | undefined]>([
    ['not if it was not read', {}, UNREAD(`, and create it again ${WITH}`), undefined],
    [
      'not if it may not be read',
      { templateClaim: forbidden },
      UNREAD(`, and create it again ${WITH}`),
      undefined,
    ],
    [
      'not if it is gone',
      { templateClaim: ABSENT },
      `Claim db/data no longer exists: delete the Volume, and create the claim again ${WITH}.`,
      DELETE_VOLUME,
    ],
    [
      'not if it was recreated',
      claimNow('u9', 'pvc-u9'),
      'The Volume was created for an earlier claim db/data, with the UID u1. Delete the Volume, and keep the claim that has this name now.',
      DELETE_VOLUME,
    ],
    [
      'not if it is bound to another PersistentVolume',
      claimNow('u1', 'by-hand'),
      'Claim db/data is bound to another PersistentVolume, by-hand. Delete the Volume, and keep the claim.',
      DELETE_VOLUME,
    ],
    [
      "not if it is bound to a foreign PersistentVolume of the Volume's name",
      { ...claimNow('u1', 'pvc-u1'), pv: foreignPv },
      'Claim db/data is bound to another PersistentVolume, pvc-u1. Delete the Volume, and keep the claim.',
      DELETE_VOLUME,
    ],
    [
      'not if its PersistentVolume may not be read',
      { ...claimNow('u1', 'pvc-u1'), pv: forbidden },
      UNREAD(`, and create it again ${WITH}`),
      undefined,
    ],
    [
      "if it is not bound, whatever has the Volume's name",
      { ...claimNow('u1'), pv: foreignPv },
      'Create the claim again',
      recreateClaim('data'),
    ],
    [
      "if it is bound to the Volume's own PersistentVolume",
      { ...claimNow('u1', 'pvc-u1'), pv: ofVolume(small) },
      'Create the claim again',
      recreateClaim('data'),
    ],
  ])('%s', (_, world, say, run) => {
    const { fix } = explain(small, world) as Blocker;
    expect(fix?.say).toContain(say);
    expect(fix?.run).toEqual(run);
  });

  test.each<[string, Partial<VolumeFacts>, string, string[] | undefined]>([
    [
      'not if it may not be read',
      { templateClaim: forbidden },
      UNREAD(' and Image db/debian, which is immutable, and create both again, corrected'),
      undefined,
    ],
    [
      'not if it is gone',
      { templateClaim: ABSENT },
      'and create the claim again after a corrected Image db/debian.',
      DELETE_VOLUME,
    ],
    ['not if it was recreated', claimNow('u9', 'pvc-u9'), 'keep the claim', DELETE_VOLUME],
    ['not if it is bound elsewhere', claimNow('u1', 'x'), 'keep the claim', DELETE_VOLUME],
  ])('after its source was corrected: %s', (_, world, say, run) => {
    const { fix } = explain(unfilled, world) as Blocker;
    expect(fix?.say).toContain(say);
    expect(fix?.run).toEqual(run);
  });
});

describe("a populator's claim that is too small for its file system", () => {
  const TARGET = '0f3c2f3e-7c4e-4a56-9f0e-5f3a1c2b4d6e';
  const PRIME = `prime-${TARGET}`;
  const AGAIN = 'create it again with at least 300Mi, or with a storage class with fsType ext4.';
  const own = claimNow('u1', undefined, { name: PRIME });
  const target = (uid: string, volumeName?: string) => ({
    target: found({
      ...claim({ name: 'mine', namespace: 'app', uid }),
      spec: { ...(volumeName !== undefined && { volumeName }) },
    }),
  });
  const UNKNOWN = `Delete the claim with the UID ${TARGET}, which ${PRIME} is for, and ${AGAIN} Before its deletion, check that it has no PersistentVolume.`;

  test.each<[string, Partial<VolumeFacts>, string, string[] | undefined]>([
    [
      'names the claim that it is for',
      { ...own, ...target(TARGET) },
      `Delete claim app/mine, which ${PRIME} is for, and ${AGAIN} Before its deletion, check that it has the UID ${TARGET}.`,
      undefined,
    ],
    [
      'names the UID of that claim if another claim is named',
      { ...own, ...target('u3') },
      UNKNOWN,
      undefined,
    ],
    ['names the UID of that claim if it is not known', own, UNKNOWN, undefined],
    [
      'keeps that claim if it has another PersistentVolume',
      { ...own, ...target(TARGET, 'pvc-2') },
      'Claim app/mine is bound to another PersistentVolume, pvc-2. Delete the Volume, and keep the claim.',
      DELETE_VOLUME,
    ],
    [
      'keeps that claim if the prime claim was recreated',
      claimNow('u9'),
      'earlier claim',
      DELETE_VOLUME,
    ],
    [
      'is gone',
      { templateClaim: ABSENT },
      `Claim db/${PRIME} no longer exists: delete the Volume.`,
      DELETE_VOLUME,
    ],
    [
      'may not be read',
      { templateClaim: forbidden },
      `delete the claim with the UID ${TARGET}, which it is for, and create that one again with`,
      undefined,
    ],
  ])('%s', (_, world, say, run) => {
    const { fix } = explain(ofClaim(PRIME, SMALL), world) as Blocker;
    expect(fix?.say).toContain(say);
    expect(fix?.run).toEqual(run);
  });
});

describe('the other Volume that has the device is deleted by name', () => {
  const taken = failedBy(
    'CreationError',
    reasons.explain('DeviceOfAnother', { device: '/dev/sdb', volume: 'data0' }),
  );
  const other = (seconds: number, nodeName = 'n1') => {
    const { metadata, spec, ...rest } = volume();
    return {
      otherVolume: found({
        ...rest,
        metadata: { ...metadata, name: 'data0', creationTimestamp: ago(seconds) },
        spec: { ...spec, nodeName },
      }),
    };
  };
  const CHECK = 'Check that Volume data0 still has /dev/sdb. If the data';

  test.each<[string, Partial<VolumeFacts>, string, string[]]>([
    [
      'if it is older than the failure',
      other(301),
      'If the data of that Volume is not needed, delete it, which frees /dev/sdb.',
      ['stowage delete volume data0 --wait', RETRY],
    ],
    ['not if it was created later', other(299), CHECK, [RETRY]],
    ['not if it is on another node', other(301, 'n2'), CHECK, [RETRY]],
    ['not if it may not be read', { otherVolume: forbidden }, CHECK, [RETRY]],
    ['not if it is gone', { otherVolume: ABSENT }, CHECK, [RETRY]],
    ['not if it was not read', {}, CHECK, [RETRY]],
  ])('%s', (_, world, say, run) => {
    const { fix } = explain(taken, world) as Blocker;
    expect(fix?.say.startsWith(say)).toBe(true);
    expect(fix?.run).toEqual(run);
  });
});

test.each<[string, Volume, Partial<VolumeFacts>]>([
  ['is being deleted', deleted(unreachable), {}],
  ['is being deleted, and whose node does not exist', deleted(unreachable), noNode],
  ['may hold data, and whose node does not exist', away, noNode],
])('a Volume that %s has a fix of its own', (_, volume, world) => {
  const { fix, sharedFix } = explain(volume, { ...bound, ...world }) as Blocker;
  expect(fix?.run).toEqual(['stowage delete volume data1 --forget-node']);
  expect(sharedFix?.run).toEqual(['stowage check node n1']);
});

describe('why leaves the action of a reason to its fix, for', () => {
  const unclear = (why: reasons.Explanation) =>
    volume({ phase: 'Available', ...ready('Unknown', READY_REASON.nodeUnclear, why) });
  const PROBLEM = reasons.explain('NodeUnreachable', { node: 'n1', said: 'timeout' });
  const NOT_LISTED = { node: 'n1', command: 'lvs', found: 'not listed', minion: 'n1' };
  const NOT_MOUNTED = {
    ...{ directory: '/data', recorded: 'ext4 1', found: 'ext4 2', mountPoint: '/' },
    record: '/data/.stowage file',
  };
  testRows([
    [
      given('a node that is unreachable', awayFor(PROBLEM), bound),
      heldUpBy(/^node n1 is unreachable over ssh: timeout$/, 'automatically', {
        say: 'Bring the node back.',
        run: BRING_BACK,
      }),
    ],
    [
      given('a node that is unreachable and NotReady', awayFor(PROBLEM), {
        ...bound,
        node: found(silentNode),
      }),
      heldUpBy(/; node n1 is unreachable over ssh: timeout$/, 'automatically'),
    ],
    [
      given(
        'a node that is unreachable, unless the fix lacks the check that the action names',
        deleted(ready('Unknown', READY_REASON.nodeUnreachable, PROBLEM)),
        bound,
      ),
      heldUpBy(/ssh: timeout\. Check the node: stowage check node n1$/, 'automatically', {
        run: ['stowage delete volume data1 --forget-node'],
      }),
    ],
    [
      given('a node that does not exist', awayFor(PROBLEM), noNode),
      heldUpBy(/name: .* ssh: timeout\. Check the node: stowage check node n1$/, 'automatically'),
    ],
    [
      given(
        'a node that refuses a command',
        awayFor(reasons.explain('CommandNotListed', NOT_LISTED)),
        bound,
      ),
      heldUpBy(/^node n1 refuses 'lvs': not listed$/, 'automatically', {
        say: 'Allow it in /etc/stowage/allowed there',
        run: BRING_BACK,
      }),
    ],
    [
      given(
        'a node whose answer is unclear',
        unclear(reasons.explain('AnswerUnclear', { node: 'n1', found: '"motd"' })),
        bound,
      ),
      heldUpBy(/inconclusive: cannot parse the answer of node n1: "motd"$/, 'automatically', {
        say: 'Remove what prints in non-interactive logins on the node',
      }),
    ],
    [
      given(
        'a directory that is not mounted',
        failedBy('DirectoryNotMounted', reasons.explain('DirectoryNotMounted', NOT_MOUNTED)),
      ),
      heldUpBy(/^the file system of \/data is not mounted: .*, mounted at \/$/, 'automatically', {
        say: "remove the record on the node instead: rm '/data/.stowage file'",
        run: ['ssh n1 mount -a'],
      }),
    ],
    [
      given(
        'a device that is gone',
        failedBy('UnavailableError', reasons.explain('DeviceMissing', { device: '/dev/sdb' })),
      ),
      heldUpBy(/^[^.]*\/dev\/sdb[^.]*$/, 'automatically', { say: 'Check that the path is right' }),
    ],
    [
      given(
        'a removal that fails',
        deleted({
          phase: 'Failed',
          ...ready(
            'False',
            READY_REASON.destructionError,
            reasons.explain('LogicalVolumeInUse', {
              ...{ volume: 'vg0/data1', device: '/dev/vg0/data1', uses: 'swap' },
              command: 'swapoff /dev/dm-3',
            }),
          ),
        }),
      ),
      heldUpBy(/is not removed: [^.]*swap$/, 'automatically', {
        run: ["ssh n1 'swapoff /dev/dm-3'"],
      }),
    ],
    [
      given(
        'an uncertain attachment',
        attachedAs(
          attachmentOn('n1', {
            ...{ state: 'Uncertain', since: ago(300) },
            ...(PROBLEM as Partial<Attachment>),
          }),
        ),
        bound,
      ),
      heldUpBy(/verified: node n1 is unreachable over ssh: timeout$/, 'automatically', {
        say: 'Restore the connection to node n1.',
        run: ['stowage check node n1'],
      }),
    ],
    [
      given(
        'an attachment',
        attachedAs(
          attachmentOn('n1', {
            ...{ state: 'Detaching', since: ago(300) },
            ...(reasons.explain('DeviceInUse', {
              ...{ device: '/dev/sdb', uses: 'mounted at /mnt' },
              command: 'umount /mnt',
            }) as Partial<Attachment>),
          }),
        ),
        bound,
      ),
      heldUpBy(/is Detaching: \/dev\/sdb is in use: mounted at \/mnt$/, 'automatically', {
        run: ["ssh n1 'umount /mnt'"],
      }),
    ],
  ]);
});
