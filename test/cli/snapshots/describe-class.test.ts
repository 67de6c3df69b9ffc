import { expect, test } from '@jest/globals';
import type { KubeObject } from '../../../src/api/meta.ts';
import { stowage } from '../../support/fake-io.ts';
import { expectPrintable } from '../../support/printable-text.ts';
import { refusal } from '../../support/refusals.ts';
import { SNAPSHOT } from '../../support/snapshots.ts';

const classWith = (more: object = {}): KubeObject =>
  ({
    apiVersion: 'snapshot.storage.k8s.io/v1',
    kind: 'VolumeSnapshotClass',
    metadata: { name: 'fast', creationTimestamp: '2029-12-31T19:00:00Z' },
    driver: 'volume.stowage.dev',
    deletionPolicy: 'Delete',
    ...more,
  }) as KubeObject;
const snapshotOf = (name: string, volumeSnapshotClassName: string): KubeObject =>
  ({
    ...SNAPSHOT,
    metadata: { ...SNAPSHOT.metadata, name, namespace: 'prod' },
    spec: { ...SNAPSHOT.spec, volumeSnapshotClassName },
    status: { readyToUse: true },
  }) as KubeObject;
const described = (found: KubeObject = classWith(), world = {}) =>
  stowage(['describe', 'snapshotclass', 'fast'], {
    objects: {
      'volumesnapshotclasses/fast': found,
      'volumesnapshots/a': snapshotOf('a', 'fast'),
      'volumesnapshots/b': snapshotOf('b', 'slow'),
    },
    ...world,
  });

test('describe snapshotclass prints the options of a class, and its snapshots', async () => {
  const annotations = { 'snapshot.storage.kubernetes.io/is-default-class': 'true' };
  const { code, out, err } = await described(
    classWith({ metadata: { name: 'fast', annotations }, parameters: { frozenCopySeconds: '30' } }),
  );
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out.replace(/(prod +a +Ready +)\S+$/m, '$1AGE')).toBe(
    `Name:                 fast
Created:              <none>
Driver:               volume.stowage.dev
Default:              yes
Usable:               yes
Longest freeze:       30s
Copies frozen files:  yes
Deletion policy:      Delete
Snapshots:
  NAMESPACE   NAME   PHASE   AGE
  prod        a      Ready   AGE
`,
  );
});

test.each<[string, object, RegExp[]]>([
  [
    'a class without parameters',
    {},
    [
      /^Default: +no$/m,
      /^Usable: +yes$/m,
      /^Longest freeze: +10s$/m,
      /^Copies frozen files: +no$/m,
    ],
  ],
  [
    'an unknown parameter',
    { parameters: { x: 'y' } },
    [/^Usable: +no: VolumeSnapshotClass fast: unknown parameter "x"/m, /^Parameters: +x=y$/m],
  ],
  [
    'a freeze that is too long',
    { parameters: { frozenCopySeconds: '9999' } },
    [/^Usable: +no: .*frozenCopySeconds is "9999"/m],
  ],
  [
    'a class of another driver',
    { driver: 'rbd.csi.ceph.com', parameters: { pool: 'p' } },
    [/^Usable: +no: driver rbd.csi.ceph.com is not Stowage's$/m, /^Parameters: +pool=p$/m],
  ],
])('describe snapshotclass shows %s', async (_, more, wanted) => {
  const { out } = await described(classWith(more));
  for (const line of wanted) expect(out).toMatch(line);
});

test('describe snapshotclass shows a refusal in place of the snapshots', async () => {
  const { code, out } = await described(classWith(), {
    failures: { 'list volumesnapshots/*': refusal(403, 'you may not') },
  });
  expect(code).toBe(0);
  expect(out).toMatch(/^Snapshots: +not shown: you may not$/m);
});

test('describe snapshotclass fails for an unknown class', async () => {
  expect(await stowage(['describe', 'vsclass/nowhere'])).toMatchObject({ code: 3, out: '' });
});

test.each([['fast'], []])('describe snapshotclass %s names a missing kind', async (...name) => {
  const missing = refusal(404, 'the server could not find the requested resource');
  const { code, err } = await stowage(['describe', 'snapshotclass', ...name], {
    failures: {
      'get volumesnapshotclasses/fast': missing,
      'list volumesnapshotclasses/*': missing,
    },
  });
  expect(code).toBe(3);
  expect(err).toContain('This cluster has no VolumeSnapshots');
});

test('describe snapshotclass escapes control characters', async () => {
  const evil = '\u001b]0;owned\u0007\u202eUsable: yes';
  const { out } = await described(classWith({ driver: `d${evil}`, parameters: { a: `v${evil}` } }));
  expect(out.split('owned').length).toBe(4);
  expectPrintable(out);
});
