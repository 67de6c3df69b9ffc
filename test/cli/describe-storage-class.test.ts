import { expect, test } from '@jest/globals';
import type { CsiStorageCapacity } from '../../src/api/core.ts';
import type { KubeObject } from '../../src/api/meta.ts';
import { stowage } from '../support/fake-io.ts';
import { expectPrintable } from '../support/printable-text.ts';
import { refusal } from '../support/refusals.ts';
import { volumeNamed } from '../support/volumes.ts';

const DRIVER = 'volume.stowage.dev';
const STATIC = 'kubernetes.io/no-provisioner';
const classWith = (more: object = {}): KubeObject =>
  ({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'fast', creationTimestamp: '2029-12-31T19:00:00Z' },
    provisioner: DRIVER,
    reclaimPolicy: 'Delete',
    volumeBindingMode: 'WaitForFirstConsumer',
    ...more,
  }) as KubeObject;
const annotated = (annotations: Record<string, string>) => ({
  metadata: { name: 'fast', annotations },
});
const volumeOf = (name: string, storageClassName: string) => {
  const volume = volumeNamed(name, { phase: 'Available', capacity: '1Gi' });
  return { ...volume, spec: { ...volume.spec, storageClassName } };
};
const room = (storageClassName: string, hostname: string): CsiStorageCapacity => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSIStorageCapacity',
  metadata: { name: `${storageClassName}-${hostname}`, namespace: 'stowage' },
  storageClassName,
  nodeTopology: { matchLabels: { 'kubernetes.io/hostname': hostname } },
  capacity: String(5 * 2 ** 30),
});
const others = {
  'volumes/data1': volumeOf('data1', 'fast'),
  'volumes/data2': volumeOf('data2', 'slow'),
  'csistoragecapacities/1': room('fast', 'host1'),
  'csistoragecapacities/2': room('slow', 'host2'),
};
const described = (found: KubeObject = classWith(), world = {}) =>
  stowage(['describe', 'storageclass', 'fast'], {
    objects: { 'storageclasses/fast': found, ...others },
    ...world,
  });

test('describe storageclass prints the options of a dynamic class, and what uses it', async () => {
  const { code, out, err } = await described(
    classWith({
      ...annotated({ 'storageclass.kubernetes.io/is-default-class': 'true' }),
      parameters: { type: 'lvm', vgName: 'vg0', thinPool: 'pool', fsType: 'xfs', overcommit: '2' },
      allowVolumeExpansion: true,
    }),
  );
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toBe(
    `Name:                     fast
Created:                  <none>
Kind:                     dynamic
Provisioner:              volume.stowage.dev
Default:                  yes
Usable:                   yes
Type:                     lvm
Volume group:             vg0
Thin pool:                pool
Overwrites free extents:  no
Overcommit:               2
Wipes deleted volumes:    no
Attach policy:            Always
File system:              xfs
mkfs options:             <none>
Mount options:            <none>
Reclaim policy:           Delete
Binding mode:             WaitForFirstConsumer
Expansion:                allowed
Volumes:
  NAME    PHASE       CAPACITY   NODE   CLAIM
  data1   Available   1Gi        n1     <none>
Free space:
  HOSTNAME   FREE
  host1      5Gi
`,
  );
});

test.each<[string, object, Record<string, string | undefined>]>([
  [
    'the default directory, and the default file system',
    {},
    {
      Type: 'sparse',
      Directory: '/var/lib/metalk8s/storage/sparse',
      'Must be mounted': 'no',
      'File system': 'ext4',
      Default: 'no',
      Expansion: 'not allowed',
    },
  ],
  [
    'options of sparse files',
    {
      parameters: {
        ...{ directory: '/srv/v', requireMount: 'true', onDelete: 'Wipe' },
        ...{ attachPolicy: 'OnDemand', mkfsOptions: '["-m","0"]' },
      },
      mountOptions: ['noatime', 'discard'],
    },
    {
      Directory: '/srv/v',
      'Must be mounted': 'yes',
      'Wipes deleted volumes': 'yes',
      'Attach policy': 'OnDemand',
      'mkfs options': '-m 0',
      'Mount options': 'noatime,discard',
    },
  ],
  [
    'consent to overwrite free extents',
    { parameters: { type: 'lvm', vgName: 'vg0', overwriteFreeExtents: 'true' } },
    { 'Overwrites free extents': 'yes', 'Thin pool': '<none>' },
  ],
  [
    'a static class, which has no free space',
    { provisioner: STATIC, volumeBindingMode: undefined },
    {
      Kind: 'static',
      Usable: 'yes',
      'Binding mode': 'Immediate',
      Type: undefined,
      'Free space': undefined,
    },
  ],
  [
    'nodes that the class allows',
    { allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone', values: ['a', 'b'] }] }] },
    { 'Allowed nodes': 'zone in (a, b)' },
  ],
  [
    'how long a NotReady node keeps its volumes',
    annotated({ 'stowage.dev/max-wait-for-unmount': 'never' }),
    { 'Max wait for unmount': 'never', Usable: 'yes' },
  ],
  [
    'a wrong annotation, which leaves the class usable',
    annotated({ 'stowage.dev/max-wait-for-unmount': '0' }),
    {
      'Max wait for unmount': expect.stringContaining('"0", but must be a duration') as never,
      Usable: 'yes',
    },
  ],
  [
    'an unknown parameter of a dynamic class',
    { parameters: { nonsense: 'x' } },
    {
      Usable: expect.stringContaining('unknown parameter "nonsense"') as never,
      Parameters: 'nonsense=x',
      Type: undefined,
    },
  ],
  [
    'an unsupported file system of a static class',
    { provisioner: STATIC, parameters: { fsType: 'ntfs' } },
    {
      Usable: expect.stringContaining('no: unsupported filesystem: ntfs') as never,
      Parameters: 'fsType=ntfs',
      'File system': undefined,
    },
  ],
  [
    'a class of another provisioner',
    { provisioner: 'rbd.csi.ceph.com', parameters: { pool: 'p' } },
    {
      Kind: '<none>',
      Usable: "no: provisioner rbd.csi.ceph.com is not Stowage's",
      Parameters: 'pool=p',
    },
  ],
])('describe storageclass shows %s', async (_, more, wanted) => {
  const { out } = await described(classWith(more));
  const shown = fieldsOf(out);
  expect(Object.fromEntries(Object.keys(wanted).map((label) => [label, shown[label]]))).toEqual(
    wanted,
  );
});

/** Returns the fields that have a value in their line. */
const fieldsOf = (out: string): Record<string, string> =>
  Object.fromEntries(
    out.split('\n').flatMap((line) => {
      const [, label, value] = /^([A-Za-z ]+?): +(.+)$/.exec(line) ?? [];
      return label === undefined || value === undefined ? [] : [[label, value]];
    }),
  );

test.each([
  ['list volumes/*', 'Volumes'],
  ['list csistoragecapacities/*', 'Free space'],
])('describe storageclass shows the refusal of %s in its place', async (request, label) => {
  const { code, out } = await described(classWith(), {
    failures: { [request]: refusal(403, 'you may not') },
  });
  expect(code).toBe(0);
  expect(fieldsOf(out)[label]).toBe('not shown: you may not');
});

test('describe storageclass fails for an unknown class', async () => {
  expect(await stowage(['describe', 'sc/nowhere'], { objects: others })).toMatchObject({
    code: 3,
    out: '',
    err: 'error: storageclasses/nowhere not found\n',
  });
});

test('describe storageclass escapes control characters', async () => {
  const evil = '\u001b]0;owned\u0007\u202eUsable: yes';
  const more = { provisioner: `p${evil}`, parameters: { [`k${evil}`]: `v${evil}` } };
  const { out } = await described(classWith({ ...more, mountOptions: [`m${evil}`] }));
  expect(out.split('owned').length).toBe(6);
  expectPrintable(out);
});
