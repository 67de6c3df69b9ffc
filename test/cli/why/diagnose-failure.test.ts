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
      heldUpBy('volume type not found in Volume Spec', 'when its spec is changed', {
        run: RECREATE,
      }),
    ],
    [
      given(
        'a status that Stowage never writes',
        failedBy('InternalError', 'status.prepared names "/etc". Correct the status'),
      ),
      heldUpBy('Correct the status', 'when its spec is changed', { run: [RETRY] }),
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
      heldUpBy('storage class fast: unsupported filesystem: btrfs', 'spec is changed', {
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
      heldUpBy("/dev/sdb carries it's xfs", 'spec is changed', {
        say: 'set spec.overwrite to "it\'s xfs"',
        run: [`kubectl patch volume data1 --type merge -p '{"spec":{"overwrite":"it'\\''s xfs"}}'`],
      }),
    ],
    [
      given(
        'any other failure, retried by setting a default',
        failedBy('CreationError', 'given up after 8 attempts', { attachPolicy: 'Always' }),
      ),
      heldUpBy('given up after 8 attempts', 'spec is changed', {
        run: [`kubectl patch volume data1 --type merge -p '{"spec":{"onDelete":"Delete"}}'`],
      }),
    ],
    [
      given(
        'a failure of a raw device, retried without data loss',
        failedBy('CreationError', 'mkfs failed', {
          attachPolicy: 'Always',
          sparseLoopDevice: null as never,
          rawBlockDevice: { devicePath: '/dev/sdb' },
        }),
      ),
      heldUpBy('mkfs failed', 'spec is changed', {
        run: [`kubectl patch volume data1 --type merge -p '{"spec":{"onDelete":"Retain"}}'`],
      }),
    ],
    [
      given(
        'a failure of a Volume with all defaults set, recreated',
        failedBy('CreationError', 'mkfs failed', { attachPolicy: 'Always', onDelete: 'Delete' }),
      ),
      heldUpBy('mkfs failed', 'spec is changed', { run: RECREATE }),
    ],
    [
      given(
        'a failure with a change that no daemon has observed',
        volume(
          { ...failedBy('CreationError', 'mkfs failed').status, observedGeneration: 1 },
          { metadata: { generation: 2 } },
        ),
      ),
      heldUpBy('spec was changed (generation 2)', 'node n1 runs', {
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
      heldUpBy('a PersistentVolume data1 exists', 'spec is changed', {
        run: ['kubectl delete pv data1', RETRY],
      }),
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
      heldUpBy('there is no node n1 in this cluster', 'by itself', {
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
      heldUpBy('there is no node n1 in this cluster', 'by itself', {
        say: 'Bring the node back under that name. If it is lost for good, give up what it holds of this Volume, with its data',
        run: ['stowage delete volume data1 --forget-node'],
      }),
    ],
    [
      given('a node that is NotReady', away, { ...bound, node: found(silentNode) }),
      heldUpBy(
        `node n1 is NotReady since ${ago(900)} (Kubelet stopped posting node status.), and is not reached: node n1`,
        'by itself',
        { run: ['ssh n1 true'] },
      ),
    ],
    [
      given('an unreachable node', away, bound),
      heldUpBy('node n1 is not reached: node n1 is not reached over ssh: timeout', 'by itself', {
        run: ['ssh n1 true'],
      }),
    ],
    [
      given('an unreachable node that may not be read', away, { node: forbidden }),
      heldUpBy('node n1 is not reached: ', 'by itself', { run: ['ssh n1 true'] }),
    ],
    [
      given('a deletion on a node that does not exist', deleted(unreachable), noNode),
      heldUpBy('there is no node n1', 'by itself', {
        run: ['stowage delete volume data1 --forget-node'],
      }),
    ],
    [
      given(
        'a deletion on a node that was unreachable before',
        deleted(ready('Unknown', READY_REASON.nodeUnreachable, 'timeout', 700)),
      ),
      heldUpBy('node n1 is not reached: timeout', 'by itself', { since: ago(700) }),
    ],
    [
      given(
        'an unclear answer of a node',
        volume({ phase: 'Available', ...ready('Unknown', 'NodeUnclear', 'losetup printed x') }),
      ),
      heldUpBy('nothing safe follows from it: losetup printed x', 'by itself'),
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
      heldUpBy('the node lacks a tool: sh: lsblk: no', 'by itself', {
        run: ['stowage check node n1'],
      }),
    ],
    [
      given(
        'a missing backing file',
        failedBy('UnavailableError', 'the backing file is missing now'),
        bound,
      ),
      heldUpBy('the backing file is missing now', 'by itself', { say: 'Nothing is made anew' }),
    ],
    [
      given(
        'a directory that is not mounted',
        failedBy('DirectoryNotMounted', '/data is not mounted'),
        bound,
      ),
      heldUpBy('/data is not mounted', 'once it is mounted', {
        say: 'Mount it on n1',
        run: ['ssh n1 mount -a'],
      }),
    ],
    [
      given(
        'a directory that is not mounted, while it is made',
        volume({
          ...{ phase: 'Pending', job: 'PrepareVolume/1', attempt: 1 },
          ...ready('Unknown', 'DirectoryNotMounted', '/data is not mounted'),
        }),
      ),
      heldUpBy('/data is not mounted', 'once it is mounted', { run: ['ssh n1 mount -a'] }),
    ],
    [
      given(
        'a directory that is not mounted, while it is deleted',
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
      heldUpBy('attempt 2: losetup failed', 'by itself'),
    ],
    [
      given(
        'a Failed PersistentVolume',
        failedBy('UnavailableError', 'the PersistentVolume is Failed: no deleter'),
        { pv: failedPv },
      ),
      heldUpBy('its PersistentVolume is Failed: no deleter', 'in another phase', {
        run: ['kubectl describe pv data1'],
      }),
    ],
    [
      given('a PersistentVolume that became Failed, not observed yet', available, { pv: failedPv }),
      heldUpBy('its PersistentVolume is Failed: no deleter', 'in another phase', {
        since: undefined,
      }),
    ],
    [
      given('a missing PersistentVolume', available),
      heldUpBy('its PersistentVolume is gone', 'where a daemon runs', {
        since: undefined,
        run: ['stowage watch'],
      }),
    ],
    [
      given('a PersistentVolume that was replaced by a foreign one', available, { pv: foreign }),
      heldUpBy('is not its own', 'is gone', { since: undefined, run: ['kubectl delete pv data1'] }),
    ],
  ]);
});

test('a missing storage class comes with a manifest', () => {
  const { fix } = explain(failedBy('CreationError', ''), { storageClass: ABSENT }) as Blocker;
  expect(fix?.manifest).toMatchObject({ kind: 'StorageClass', metadata: { name: 'fast' } });
});
