import { describe, expect, test } from '@jest/globals';
import { READY_REASON } from '../../../src/api/names.ts';
import * as reasons from '../../../src/api/reasons.ts';
import type { Blocker } from '../../../src/cli/why/types.ts';
import { ago } from '../../support/cluster-objects.ts';
import {
  ABSENT,
  available,
  away,
  bound,
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
      heldUpBy('its storage class fast does not exist', 'spec is changed', { run: [RETRY] }),
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
        'a storage class that was corrected',
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
      heldUpBy("/dev/sdb contains it's xfs", 'spec is changed', {
        say: 'set spec.overwrite to "it\'s xfs"',
        run: [`kubectl patch volume data1 --type merge -p '{"spec":{"overwrite":"it'\\''s xfs"}}'`],
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

test('the fix for a missing storage class contains a manifest', () => {
  const { fix } = explain(failedBy('CreationError', ''), { storageClass: ABSENT }) as Blocker;
  expect(fix?.manifest).toMatchObject({ kind: 'StorageClass', metadata: { name: 'fast' } });
});
