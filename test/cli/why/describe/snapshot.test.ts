import { expect, test } from '@jest/globals';
import {
  EVENTS,
  PERSISTENT_VOLUME_CLAIMS,
  REFERENCE_GRANTS,
  VOLUME_SNAPSHOT_CONTENTS,
  VOLUME_SNAPSHOTS,
} from '../../../../src/api/resources.ts';
import type { VolumeSnapshot, VolumeSnapshotContent } from '../../../../src/api/snapshot.ts';
import { type ClaimsCluster, startClaimsCluster } from '../../../support/claims-cluster.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { expectPrintable } from '../../../support/printable-text.ts';
import { refusing } from '../../../support/refusals.ts';
import { sharedClaimsCluster } from '../../../support/shared-claims-cluster.ts';
import {
  boundClaim,
  CONTENT,
  FROM_CLAIMS,
  FROM_LINKS,
  fresh,
  grantNamed,
  SNAPSHOT,
  TO_BACKUP,
} from '../../../support/snapshots.ts';
import { expectRefusedPart, REFUSED } from './refused-part.ts';

const UID = '0a1b2c3d-0000-4000-8000-000000000000';
const HANDLE = `file:n1,n2:/data/snapshots/${UID}`;

const cluster = sharedClaimsCluster(
  {},
  ...[EVENTS, PERSISTENT_VOLUME_CLAIMS, REFERENCE_GRANTS],
  ...[VOLUME_SNAPSHOT_CONTENTS, VOLUME_SNAPSHOTS],
);

/** Creates prod/foo-backup with its content. Returns its UID. */
async function begin(
  status: VolumeSnapshot['status'] = SNAPSHOT.status ?? {},
  content: Partial<VolumeSnapshotContent['spec']> & { handle?: string } = {},
): Promise<string> {
  const { client } = cluster;
  const { metadata } = await client.create<VolumeSnapshot>(VOLUME_SNAPSHOTS, fresh(SNAPSHOT));
  const where = { namespace: 'prod', subresource: 'status' as const };
  await client.patch(VOLUME_SNAPSHOTS, 'foo-backup', { status }, where);
  const { handle = HANDLE, ...spec } = content;
  const object = { ...fresh(CONTENT), spec: { ...CONTENT.spec, ...spec } };
  await client.create(VOLUME_SNAPSHOT_CONTENTS, object);
  const told = { status: { ...CONTENT.status, snapshotHandle: handle } };
  await client.patch(VOLUME_SNAPSHOT_CONTENTS, CONTENT.metadata.name, told, {
    subresource: 'status',
  });
  return metadata.uid ?? '';
}
const grant = (name: string, from: object[], to: object = TO_BACKUP) =>
  cluster.client.create(REFERENCE_GRANTS, fresh(grantNamed(name, { from, to: [to] })));
const ask = (through?: Parameters<ClaimsCluster['stowage']>[2]) =>
  cluster.stowage(['describe', 'snapshot', 'prod/foo-backup'], { clock: new FakeClock() }, through);

test('describe snapshot prints all fields of a snapshot', async () => {
  const uid = await begin();
  await cluster.client.create(PERSISTENT_VOLUME_CLAIMS, fresh(boundClaim('foo', 'prod').claim));
  await grant('to-test', [FROM_CLAIMS, FROM_LINKS]);
  await grant('of-others', [FROM_CLAIMS], { ...TO_BACKUP, name: 'other' });
  await grant('of-routes', [
    { ...FROM_CLAIMS, group: 'gateway.networking.k8s.io', kind: 'HTTPRoute' },
  ]);
  await cluster.client.create(EVENTS, {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'e', namespace: 'prod' },
    involvedObject: { kind: 'VolumeSnapshot', namespace: 'prod', name: 'foo-backup', uid },
    ...{ type: 'Normal', reason: 'SnapshotReady', message: 'it is ready' },
    ...{ lastTimestamp: '2029-12-31T23:59:30Z', source: { component: 'stowage' } },
  } as never);
  const { code, out, err } = await ask();
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out.replace(/(Created:).*/, '$1')).toBe(
    `Name:            foo-backup
Namespace:       prod
Created:
Phase:           Ready
Source:          claim foo (Pending)
Snapshot class:  <none>
Ready to use:    true
Taken:           2029-12-31T23:00:05Z (59m ago)
Size:            1Gi
Granted to:      claims of namespace test, by ReferenceGrant to-test
                 links of namespace test, by ReferenceGrant to-test
Blocked by:      <none>
Content:
  Name:             snapcontent-uid-snapshot
  Driver:           volume.stowage.dev
  Deletion policy:  Delete
  Handle:           ${HANDLE}
  Node:             n1, n2
  Path:             /data/snapshots/${UID}
Events:
  TYPE     REASON          AGE   FROM      MESSAGE
  Normal   SnapshotReady   30s   stowage   it is ready
`,
  );
});

test('describe snapshot rounds a size in bytes', async () => {
  await begin({ ...SNAPSHOT.status, restoreSize: '66043392' });
  const { out } = await ask();
  expect(out).toMatch(/^Size: +62Mi$/m);
});

test('describe snapshot shows a failed snapshot of a missing claim', async () => {
  await begin({ error: { message: 'the claim is gone' } }, { handle: '' });
  const { out } = await ask();
  expect(out).toMatch(/^Phase: +Failed$/m);
  expect(out).toMatch(/^Source: +claim foo \(missing\)$/m);
  expect(out).toMatch(/^Error: +the claim is gone$/m);
  for (const label of ['Ready to use', 'Taken', 'Size', 'Content', 'Granted to', 'Events'])
    expect(out).toMatch(new RegExp(`^${label}: +<none>$`, 'm'));
  expect(out).toMatch(/^Blocked by: +SnapshotClassMissing: /m);
});

test.each<[string, Parameters<typeof begin>[1], string[]]>([
  ['a logical volume', { handle: `lvm:n1:vg0/snap-${UID}` }, [`Logical volume: vg0/snap-${UID}`]],
  ['an invalid handle', { handle: 'x' }, ['Invalid: "x" is neither']],
])('%s', async (_, content, lines) => {
  await begin(undefined, content);
  const { out } = await ask();
  const printed = out.split('\n').map((line) => line.trim().replace(/: +/, ': '));
  expect(printed).toEqual(
    expect.arrayContaining(lines.map((line) => expect.stringContaining(line))),
  );
});

test('describe snapshot does not parse a handle of another driver', async () => {
  await begin(undefined, { driver: 'ebs.csi.aws.com' });
  const { out } = await ask();
  expect(out).toContain(HANDLE);
  expect(out).not.toMatch(/^ +(Node|Path|Invalid):/m);
});

test('describe snapshot shows a snapshot of existing content', async () => {
  const spec = { source: { volumeSnapshotContentName: 'by-hand' } };
  await cluster.client.create(VOLUME_SNAPSHOTS, fresh({ ...SNAPSHOT, spec }));
  const { out } = await ask();
  expect(out).toMatch(/^Source: +content by-hand$/m);
  expect(out).toMatch(/^Blocked by: +ContentMissing: /m);
});

test.each([
  ['get', PERSISTENT_VOLUME_CLAIMS, 'Source', true],
  ['get', VOLUME_SNAPSHOT_CONTENTS, 'Content', true],
  ['list', REFERENCE_GRANTS, 'Granted to', false],
  ['list', EVENTS, 'Events', true],
] as const)(
  'describe snapshot shows the refusal to %s %j in its place',
  async (verb, resource, label, isNoted) => {
    await begin();
    const printed = await ask(refusing(verb, 403, { resource, message: REFUSED }));
    expectRefusedPart(printed, label, isNoted);
  },
);

test('describe snapshot escapes control characters of the snapshot', async () => {
  const evil = '\u001b]0;owned\u0007\u009b2J\u202eName: forged';
  const status = { ...SNAPSHOT.status, error: { message: `s${evil}` } };
  await begin({ ...status, readyToUse: false }, { handle: `file:${evil}` });
  const { out } = await ask();
  // The blocker repeats the error, and the next field the handle.
  expect(out.split('owned').length).toBe(5);
  expectPrintable(out);
});

test.each([
  [{ without: ['ReferenceGrant'] }, 0, /^Granted to: +<none>$/m],
  [{ without: ['VolumeSnapshot'] }, 3, /stowage install --components snapshot-crds/],
])('a cluster %j', async (options, exit, shown) => {
  const other = await startClaimsCluster(options);
  try {
    if (exit === 0) await other.client.create(VOLUME_SNAPSHOTS, fresh(SNAPSHOT));
    const { code, out, err } = await other.stowage(['describe', 'vs', 'prod/foo-backup']);
    expect(code).toBe(exit);
    expect(out + err).toMatch(shown);
  } finally {
    await other.stop();
  }
});
