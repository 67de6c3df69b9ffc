import { describe, expect, test } from '@jest/globals';
import { DRIVER, PROVISIONED_BY_ANNOTATION } from '../../../src/api/names.ts';
import { ago, nodeNamed } from '../../support/cluster-objects.ts';
import { classNamed, onNode, volumeNamed } from '../../support/volumes.ts';
import {
  backed,
  bound,
  claim,
  claimWithout,
  free,
  merge,
  type Objects,
  on,
  pod,
  pv,
  type Row,
  releasedBy,
  testRows,
  unscheduled,
  volume,
  why,
} from './pod-objects.ts';

const STATIC: Objects = { 'storageclasses/fast': classNamed('fast') };
const EBS = classNamed('fast', { provisioner: 'ebs.csi.aws.com' });

/** The command that frees the volume a of the earlier claim data-0. */
const CLEAR = `kubectl patch pv a --type json -p '[{"op":"test","path":"/metadata/uid","value":"uid-a"},{"op":"test","path":"/spec/claimRef/uid","value":"uid-earlier"},{"op":"remove","path":"/spec/claimRef"}]'`;

/** A PersistentVolume that was provisioned for a claim. */
const [ofClaim] = Object.values(free('pvc-1'));
const provisioned = {
  'persistentvolumes/pvc-1': {
    ...ofClaim,
    metadata: { ...ofClaim?.metadata, annotations: { [PROVISIONED_BY_ANNOTATION]: DRIVER } },
  },
} as Objects;

describe('a pod is held up by', () => {
  testRows([
    [
      'a claim that does not exist, whatever the scheduler reports',
      unscheduled({ message: 'persistentvolumeclaim "data-0" not found' }),
      {
        holdup: 'its claim db/data-0 does not exist',
        since: ago(300),
        fix: 'kubectl get pvc -n db',
      },
    ],
    [
      'the absence of a scheduler',
      merge(unscheduled(), backed(volume())),
      { holdup: 'it is not scheduled yet: no scheduler has reported a reason', since: ago(300) },
    ],
    [
      'the scheduler',
      merge(
        unscheduled({ message: '0/3 nodes are available', lastTransitionTime: ago(10) }),
        backed(volume()),
      ),
      {
        holdup: 'it is not scheduled yet: 0/3 nodes are available',
        since: ago(10),
        fix: 'kubectl describe pod db-0 -n db',
      },
    ],
    [
      'the scheduler, for want of a volume',
      merge(unscheduled({ message: 'no volume' }), claim(), STATIC),
      {
        holdup:
          'it is not scheduled yet: no volume; its claim db/data-0 is Pending: there is no PersistentVolume of storage class fast',
        fix: 'stowage create volume NAME --node NODE --type sparse --size 5Gi --storage-class fast',
      },
    ],
    [
      'a Volume that is being provisioned',
      merge(pod(), claim(), STATIC, {
        'volumes/new': volumeNamed('new', { phase: 'Pending' }),
      }),
      {
        holdup:
          'its claim db/data-0 is Pending: there is no PersistentVolume of storage class fast',
        since: ago(600),
        fix: 'stowage why volume new',
      },
    ],
    ...['kubernetes.io/no-provisioner', DRIVER].map((provisioner): Row => {
      const storageClass = classNamed('fast', {
        provisioner,
        volumeBindingMode: 'WaitForFirstConsumer',
      });
      return [
        `its own spec.nodeName, with a class of ${provisioner}`,
        merge(pod(), claim(), { 'storageclasses/fast': storageClass }),
        {
          cause: 'SchedulerBypassed',
          holdup:
            'its claim db/data-0 is Pending: pod db-0, which uses it, has node n1 already (spec.nodeName), so that the scheduler selects no node for the claim',
          since: ago(600),
        },
      ];
    }),
    ...['with spec.nodeName', 'without'].map(
      (how): Row => [
        `a VolumeAttributesClass, with a static class, ${how}`,
        merge(
          how === 'without' ? unscheduled() : pod(),
          claim({ spec: { volumeAttributesClassName: 'gold' } }),
          STATIC,
        ),
        {
          cause: 'AttributesClassRefused',
          holdup:
            'its claim db/data-0 is Pending: the claim names VolumeAttributesClass gold, and only volumes of CSI drivers have one',
          since: how === 'without' ? ago(300) : ago(600),
          fix: 'kubectl delete pvc data-0 -n db',
        },
      ],
    ),
    [
      'a class that does not exist',
      merge(pod(), claim()),
      {
        cause: 'StorageClassMissing',
        holdup: 'its claim db/data-0 is Pending: its storage class fast does not exist',
        since: ago(600),
        fix: 'stowage create storageclass fast --dynamic',
      },
    ],
    [
      'a misspelled class',
      merge(pod(), claim(), { 'storageclasses/fsat': classNamed('fsat') }),
      {
        say: 'Create the class. Or create the claim again with another class (existing: fsat).',
        holdup: 'its storage class fast does not exist',
      },
    ],
    [
      'a class that does not exist, which a Volume created by hand names',
      merge(pod(), claim(), { 'volumes/new': volumeNamed('new', { phase: 'Failed' }) }),
      {
        cause: 'StorageClassMissing',
        holdup: 'its storage class fast does not exist',
        fix: 'stowage create storageclass fast --static',
      },
    ],
    [
      'a class that does not exist, which volumes of other claims had',
      merge(pod(), claim(), provisioned),
      {
        cause: 'StorageClassMissing',
        holdup: 'its storage class fast does not exist',
        fix: 'stowage create storageclass fast --dynamic',
      },
    ],
    [
      'volumes created by hand that share the name of a class, and are too small',
      merge(pod(), claim(), free('a', { capacity: { storage: '2Gi' } })),
      {
        cause: 'NoFreeVolume',
        holdup: 'the largest free PersistentVolume of storage class fast has 2Gi',
        fix: 'stowage create storageclass fast --static\nstowage create volume NAME',
      },
    ],
    [
      'volumes that are bound to other claims',
      merge(pod(), claim(), {
        'persistentvolumes/data1': {
          ...pv(volume()),
          spec: { ...pv(volume()).spec, storageClassName: 'fast' },
        },
      } as Objects),
      { holdup: 'no PersistentVolume of storage class fast is free (total: 1)' },
    ],
    [
      'the Released volume of its earlier self',
      merge(pod(), claim(), STATIC, releasedBy('old', { name: 'other' }), releasedBy('a'), {
        'volumes/new': volumeNamed('new', { phase: 'Failed' }),
      }),
      {
        cause: 'NoFreeVolume',
        holdup:
          'its claim db/data-0 is Pending: no PersistentVolume of storage class fast is free (total: 2): a is Released and keeps the data of claim db/data-0',
        fix: CLEAR,
      },
    ],
    [
      'the Released volume of its earlier self, which it names',
      merge(pod(), claim({ spec: { volumeName: 'a' } }), STATIC, releasedBy('a')),
      {
        holdup:
          'it names the PersistentVolume a: a is Released and keeps the data of claim db/data-0',
        fix: CLEAR,
      },
    ],
    [
      'the Released volume of another claim, which it names',
      merge(
        pod(),
        claim({ spec: { volumeName: 'a' } }),
        STATIC,
        releasedBy('a', { name: 'other' }),
      ),
      { holdup: 'keeps the data of claim db/other', fix: 'kubectl describe pvc data-0 -n db' },
    ],
    [
      'the Released volume of another claim',
      merge(pod(), claim(), STATIC, releasedBy('a', { name: 'other' })),
      {
        holdup: '(total: 1): a is Released and keeps the data of claim db/other',
        say: 'clear the claimRef of a instead: stowage why volume a',
        fix: 'stowage create volume NAME --node NODE',
      },
    ],
    ...(
      [
        ['too small', { capacity: { storage: '1Gi' } }],
        ['being deleted', { persistentVolumeReclaimPolicy: 'Delete' }],
        ['of the other mode', { volumeMode: 'Block' }],
      ] as const
    ).map(
      ([how, spec]): Row => [
        `a Released volume that is ${how}`,
        merge(pod(), claim(), STATIC, releasedBy('a', {}, spec)),
        {
          holdup: 'no PersistentVolume of storage class fast is free (total: 1)',
          fix: 'stowage create volume NAME --node NODE',
        },
      ],
    ),
    [
      'volumes of the other mode',
      merge(pod(), claim({ spec: { volumeMode: 'Block' } }), free('a')),
      {
        holdup: 'no free PersistentVolume of storage class fast has the volume mode Block',
        fix: '--mode Block',
      },
    ],
    [
      'volumes that are too small',
      merge(
        pod(),
        claim(),
        free('a', { capacity: { storage: '2Gi' } }),
        free('b', { capacity: { storage: '4Gi' } }),
      ),
      {
        holdup:
          'it requests 5Gi, and the largest free PersistentVolume of storage class fast has 4Gi',
      },
    ],
    [
      'an access mode that no volume has',
      merge(pod(), claim({ spec: { accessModes: ['ReadWriteMany'] } }), free('a')),
      { holdup: 'no PersistentVolume of storage class fast allows ReadWriteMany' },
    ],
    [
      'an access mode that no free volume has',
      merge(
        pod(),
        claim({ spec: { accessModes: ['ReadOnlyMany'] } }),
        free('a'),
        free('b', { accessModes: ['ReadOnlyMany'], capacity: { storage: '1Gi' } }),
      ),
      { holdup: 'no free PersistentVolume of storage class fast allows ReadOnlyMany' },
    ],
    [
      'a claim of the empty storage class',
      merge(pod(), claim({ spec: { storageClassName: '' } })),
      {
        holdup:
          'it requests a PersistentVolume without a storage class, and all those of Stowage have one',
        fix: 'stowage get volumes',
      },
    ],
    [
      'a storage class of another provisioner',
      merge(pod(), claim(), {
        'storageclasses/fast': EBS,
      }),
      {
        holdup:
          'volumes of its storage class fast are provisioned by ebs.csi.aws.com, not by Stowage',
        since: ago(600),
        fix: 'kubectl describe pvc data-0 -n db',
      },
    ],
    [
      'a lost claim of another provisioner',
      merge(pod(), claim({ phase: 'Lost', spec: { volumeName: 'gone' } }), {
        'storageclasses/fast': EBS,
      }),
      { holdup: 'its claim db/data-0 is Lost: its PersistentVolume gone is gone' },
    ],
    [
      'a claim without a storage class',
      merge(pod(), claimWithout('storageClassName')),
      {
        holdup: 'it names no storage class, and there is no default one',
        fix: 'stowage create storageclass NAME --dynamic --default',
      },
    ],
    [
      'a named PersistentVolume that does not exist',
      merge(pod(), claim({ spec: { volumeName: 'gone' } }), free('a')),
      { holdup: 'it names the PersistentVolume gone, which does not exist' },
    ],
    [
      'a named PersistentVolume that is bound to another claim',
      merge(
        pod(),
        claim({ spec: { volumeName: 'a' } }),
        free('a', { claimRef: { namespace: 'db', name: 'other', uid: 'o' } }),
      ),
      { holdup: 'the PersistentVolume a, which is bound to another claim: db/other' },
    ],
    [
      'a named PersistentVolume that is not bound yet',
      merge(pod(), claim({ spec: { volumeName: 'a' } }), free('a')),
      { holdup: 'it names the PersistentVolume a', fix: 'kubectl describe pvc data-0 -n db' },
    ],
    [
      'a free PersistentVolume that is not bound yet',
      merge(pod(), claim(), free('a')),
      {
        holdup: 'it is not bound yet, although a PersistentVolume fits (a)',
        fix: 'kubectl describe pvc data-0 -n db',
      },
    ],
    [
      'a PersistentVolume that is lost',
      merge(pod(), claim({ phase: 'Lost', spec: { volumeName: 'data1' } })),
      { holdup: 'its claim db/data-0 is Lost: its PersistentVolume data1 is gone' },
    ],
    [
      'a PersistentVolume that is gone',
      merge(pod(), bound),
      { holdup: 'the PersistentVolume data1 of its claim db/data-0 is gone' },
    ],
    [
      'a PersistentVolume of another claim of that name',
      merge(pod(), bound, {
        'volumes/data1': volume(),
        'persistentvolumes/data1': pv(volume(), {
          claimRef: { namespace: 'db', name: 'data-0', uid: 'old' },
        }),
      }),
      { holdup: 'the PersistentVolume data1 of its claim db/data-0 is bound to another claim' },
    ],
    [
      'a Volume that is gone',
      merge(pod(), bound, { 'persistentvolumes/data1': pv(volume()) }),
      { holdup: 'the Volume of its claim db/data-0 is gone' },
    ],
    [
      'a Volume of that name that was created later',
      merge(pod(), backed(volume([on('n1')])), {
        'volumes/data1': volume([on('n1')], { metadata: { name: 'data1', uid: 'uid-later' } }),
      }),
      { holdup: 'the Volume of its claim db/data-0 is gone' },
    ],
    [
      'the claim of an ephemeral volume',
      pod({ spec: { volumes: [{ name: 'scratch', ephemeral: {} }] } }),
      { holdup: 'its claim db/db-0-scratch does not exist' },
    ],
  ]);
});

test('an unscheduled pod with a bound claim waits for the label of the node of its Volume', async () => {
  const labels = { 'kubernetes.io/hostname': 'h1' };
  const { cause, chain, holdup, fix } = await why(
    merge(unscheduled({ message: '0/1 nodes are available: volume node affinity conflict' }), {
      ...backed(volume()),
      'persistentvolumes/data1': pv(volume(), { nodeAffinity: onNode('n1') }),
      'nodes/n1': { ...nodeNamed('n1'), metadata: { name: 'n1', labels } },
    }),
  );
  expect({ cause, chain }).toEqual({
    cause: 'HostnameLabelDiffers',
    chain: [
      { kind: 'Pod', namespace: 'db', name: 'db-0' },
      { kind: 'PersistentVolumeClaim', namespace: 'db', name: 'data-0' },
      { kind: 'Volume', name: 'data1' },
    ],
  });
  expect(holdup).toContain(
    'volume node affinity conflict; no pod fits PersistentVolume data1: it selects the label kubernetes.io/hostname n1, and node n1 has h1',
  );
  expect(fix.say).toContain('--node-labels of its kubelet');
});
