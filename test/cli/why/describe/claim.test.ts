import { describe, expect, test } from '@jest/globals';
import type { AnyEvent, PersistentVolumeClaim } from '../../../../src/api/core.ts';
import type { KubeObject } from '../../../../src/api/meta.ts';
import { DRIVER } from '../../../../src/api/names.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  REFERENCE_GRANTS,
  VOLUME_SNAPSHOT_LINKS,
  VOLUME_SNAPSHOTS,
} from '../../../../src/api/resources.ts';
import { ago, attachmentOn } from '../../../support/cluster-objects.ts';
import { stowage, type World } from '../../../support/fake-io.ts';
import { expectPrintable } from '../../../support/printable-text.ts';
import { refusal, refusing } from '../../../support/refusals.ts';
import { sharedClaimsCluster } from '../../../support/shared-claims-cluster.ts';
import {
  claimNamed,
  FROM_CLAIMS,
  FROM_LINKS,
  fresh,
  grantNamed,
  LINK,
  SNAPSHOT,
  TO_BACKUP,
  TO_LINK,
  TO_SNAPSHOT,
} from '../../../support/snapshots.ts';
import { classNamed } from '../../../support/volumes.ts';
import {
  backed,
  bound,
  claim,
  merge,
  type Objects,
  pod,
  unscheduled,
  volume,
} from '../pod-objects.ts';
import { expectRefusedPart, REFUSED } from './refused-part.ts';

const event = (uid: string, message: string): AnyEvent => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: 'e', namespace: 'db' },
  involvedObject: { kind: 'PersistentVolumeClaim', name: 'data-0', uid },
  ...{ type: 'Normal', reason: 'Provisioning', message, count: 2, firstTimestamp: ago(120) },
  ...{ lastTimestamp: ago(30), source: { component: 'stowage' } },
});
const snapshotOf = (name: string, source: string): Objects => ({
  [`volumesnapshots/${name}`]: {
    ...SNAPSHOT,
    metadata: { ...SNAPSHOT.metadata, name, namespace: 'db' },
    spec: { source: { persistentVolumeClaimName: source } },
  } as KubeObject,
});
/** Returns the objects with these fields in the metadata and the status of the claim. */
function withParts(objects: Objects, { metadata, status }: { metadata?: object; status?: object }) {
  const key = 'persistentvolumeclaims/data-0';
  const it = objects[key] as PersistentVolumeClaim;
  const changed: PersistentVolumeClaim = {
    ...it,
    metadata: { ...it.metadata, ...metadata },
    status: { ...it.status, ...status },
  };
  return merge(objects, { [key]: changed });
}
const BOUND = merge(
  withParts(backed(volume([attachmentOn('n1')])), {
    status: { capacity: { storage: '5Gi' } },
  }),
  pod({ status: { phase: 'Running' } }),
  snapshotOf('nightly', 'data-0'),
  snapshotOf('of-another', 'data-1'),
  {
    'events/1': event('uid-claim', 'creating data1'),
    'events/2': event('uid-earlier', 'of an earlier claim'),
  },
);
const described = (objects: Objects, world: World = {}) =>
  stowage(['describe', 'pvc', 'db/data-0'], { objects, ...world });

test('describe pvc prints all fields of a bound claim', async () => {
  const { code, out, err } = await described(BOUND);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toBe(
    `Name:              data-0
Namespace:         db
Created:           2029-12-31T23:50:00.000Z (10m ago)
Phase:             Bound
Storage class:     fast
Access modes:      ReadWriteOnce
Mode:              Filesystem
Requested:         5Gi
Capacity:          5Gi
PersistentVolume:  data1 (Bound)
Volume:            data1 (Available) on node n1
Data source:       <none>
Snapshots:         nightly (Ready)
Used by:           pod db-0 (Running) on node n1
Blocked by:        <none>
Events:
  TYPE     REASON         AGE                FROM      MESSAGE
  Normal   Provisioning   30s (x2 over 2m)   stowage   creating data1
`,
  );
});

test('describe pvc rounds a capacity in bytes', async () => {
  const { out } = await described(
    withParts(BOUND, { status: { capacity: { storage: '66043392' } } }),
  );
  expect(out).toMatch(/^Capacity: +62Mi$/m);
});

test('describe pvc shows a claim that waits for its pod', async () => {
  const { out } = await described(
    merge(unscheduled(), claim({ spec: { volumeMode: 'Block' } }), {
      'storageclasses/fast': classNamed('fast', {
        provisioner: DRIVER,
        volumeBindingMode: 'WaitForFirstConsumer',
      }),
    }),
  );
  for (const label of ['Capacity', 'PersistentVolume', 'Volume', 'Data source', 'Snapshots'])
    expect(out).toMatch(new RegExp(`^${label}: +<none>$`, 'm'));
  expect(out).toMatch(/^Mode: +Block$/m);
  expect(out).toMatch(/^Used by: +pod db-0 \(Pending\), not scheduled$/m);
  expect(out).toMatch(/^Blocked by: +NotScheduled: no node is selected for pod db-0/m);
});

test('describe pvc shows a missing PersistentVolume', async () => {
  const { out } = await described(claim({ phase: 'Lost', spec: { volumeName: 'data1' } }));
  expect(out).toMatch(/^Phase: +Lost$/m);
  expect(out).toMatch(/^PersistentVolume: +data1 \(missing\)$/m);
  expect(out).toMatch(/^Blocked by: +ClaimLost: /m);
});

test('describe pvc shows a claim that is being deleted', async () => {
  const { out } = await described(withParts(BOUND, { metadata: { deletionTimestamp: ago(10) } }));
  expect(out).toMatch(/^Deletion requested: +2029-12-31T23:59:50.000Z \(10s ago\)$/m);
  expect(out).toMatch(/^Phase: +Terminating$/m);
  expect(out).toMatch(/^Blocked by: +PodsHoldDeletion: .*db-0$/m);
});

test('describe pvc shows a data source that the API server dropped', async () => {
  const applied = {
    metadata: { name: 'data-0', namespace: 'db' },
    spec: { dataSourceRef: { kind: 'VolumeSnapshot', name: 's', namespace: 'prod' } },
  };
  const annotations = {
    'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(applied),
  };
  const { out } = await described(withParts(bound, { metadata: { annotations } }));
  expect(out).toMatch(
    /^Data source: +VolumeSnapshot prod\/s, which the API server dropped from the claim$/m,
  );
  expect(out).toMatch(/^Blocked by: +SourceDropped: /m);
});

test('describe pvc shows no grant for a data source of the same namespace', async () => {
  const dataSource = { apiGroup: '', kind: 'PersistentVolumeClaim', name: 'data-1' };
  const { out } = await described(claim({ phase: 'Bound', spec: { dataSource } }));
  expect(out).toMatch(/^Data source: +PersistentVolumeClaim db\/data-1$/m);
  expect(out).not.toContain('Allowed by');
});

test.each([
  ['get persistentvolumes/data1', 'PersistentVolume', true],
  ['get volumes/data1', 'Volume', true],
  ['list volumesnapshots/*', 'Snapshots', false],
  ['list pods/*', 'Used by', true],
  ['list events/involvedObject.name=data-0', 'Events', true],
])('describe pvc shows the refusal of %s in its place', async (request, label, isNoted) => {
  const printed = await described(BOUND, {
    failures: { [request]: refusal(403, REFUSED) },
  });
  expectRefusedPart(printed, label, isNoted);
});

test('describe pvc escapes control characters of the claim', async () => {
  const evil = '\u001b]0;owned\u0007\u009b2J\u202eName: forged';
  const dataSourceRef = { kind: `K${evil}`, name: `n${evil}` };
  const objects = merge(
    BOUND,
    claim({
      phase: 'Bound',
      spec: { storageClassName: `c${evil}`, accessModes: [`m${evil}`], dataSourceRef },
    }),
    { 'events/1': event('uid-claim', `e${evil}`) },
  );
  const { out } = await described(objects);
  expect(out.split('owned').length).toBe(6);
  expectPrintable(out);
});

describe('a data source of another namespace', () => {
  const cluster = sharedClaimsCluster(
    { crossNamespace: true },
    PERSISTENT_VOLUME_CLAIMS,
    REFERENCE_GRANTS,
    VOLUME_SNAPSHOTS,
    VOLUME_SNAPSHOT_LINKS,
  );
  const begin = async (dataSourceRef: typeof TO_SNAPSHOT) => {
    await cluster.client.create(VOLUME_SNAPSHOTS, fresh(SNAPSHOT));
    await cluster.client.create(VOLUME_SNAPSHOT_LINKS, fresh(LINK));
    const asked = claimNamed('foo-testing', { dataSourceRef });
    await cluster.client.create(PERSISTENT_VOLUME_CLAIMS, fresh(asked));
  };
  const grant = (from: typeof FROM_CLAIMS) =>
    cluster.client.create(
      REFERENCE_GRANTS,
      fresh(grantNamed('to-test', { from: [from], to: [TO_BACKUP] })),
    );
  const ask = async () => {
    const { code, out } = await cluster.stowage(['describe', 'pvc', 'foo-testing', '-n', 'test']);
    expect(code).toBe(0);
    return out;
  };

  test('is allowed by a grant for claims', async () => {
    await begin(TO_SNAPSHOT);
    await grant(FROM_LINKS);
    const before = await ask();
    expect(before).toMatch(/^Namespace: +test$/m);
    expect(before).toMatch(/^Data source: +VolumeSnapshot prod\/foo-backup$/m);
    expect(before).toMatch(/^Allowed by: +no ReferenceGrant of namespace prod$/m);
    await cluster.empty(REFERENCE_GRANTS);
    await grant(FROM_CLAIMS);
    expect(await ask()).toMatch(/^Allowed by: +ReferenceGrant prod\/to-test$/m);
  });

  test('is allowed by a grant for the link that the claim names', async () => {
    await begin(TO_LINK as typeof TO_SNAPSHOT);
    await grant(FROM_CLAIMS);
    const before = await ask();
    expect(before).toMatch(/^Data source: +VolumeSnapshotLink test\/foo-link$/m);
    expect(before).toMatch(/^Links to: +VolumeSnapshot prod\/foo-backup$/m);
    expect(before).toMatch(/^Allowed by: +no ReferenceGrant of namespace prod$/m);
    await cluster.empty(REFERENCE_GRANTS);
    await grant(FROM_LINKS);
    expect(await ask()).toMatch(/^Allowed by: +ReferenceGrant prod\/to-test$/m);
  });

  test('needs no grant if the link is missing, or in the namespace of its source', async () => {
    await begin(TO_LINK as typeof TO_SNAPSHOT);
    await cluster.empty(VOLUME_SNAPSHOT_LINKS);
    const missing = await ask();
    expect(missing).toMatch(/^Links to: +<none>$/m);
    expect(missing).not.toContain('Allowed by');
    const own = { ...LINK, spec: { source: { name: 'foo-backup' } } };
    await cluster.client.create(VOLUME_SNAPSHOT_LINKS, fresh(own));
    const here = await ask();
    expect(here).toMatch(/^Links to: +VolumeSnapshot test\/foo-backup$/m);
    expect(here).not.toContain('Allowed by');
  });

  test('shows no grant for a link of another namespace', async () => {
    await begin({ ...TO_LINK, namespace: 'prod' } as typeof TO_SNAPSHOT);
    const links = { ...LINK, metadata: { ...LINK.metadata, namespace: 'prod' } };
    await cluster.client.create(VOLUME_SNAPSHOT_LINKS, {
      ...fresh(links),
      spec: { source: { name: 'foo-backup' } },
    });
    const out = await ask();
    expect(out).toMatch(/^Data source: +VolumeSnapshotLink prod\/foo-link$/m);
    expect(out).toMatch(/^Links to: +VolumeSnapshot prod\/foo-backup$/m);
    expect(out).not.toContain('Allowed by');
  });

  test('shows that grants may not be read', async () => {
    await begin(TO_SNAPSHOT);
    const { code, out } = await cluster.stowage(
      ['describe', 'pvc', 'test/foo-testing'],
      {},
      refusing('list', 403, { resource: REFERENCE_GRANTS, message: 'no grants' }),
    );
    expect(code).toBe(0);
    expect(out).toMatch(/^Allowed by: +not shown: no grants$/m);
  });

  test('is found in the namespace of the name, else of -n', async () => {
    await begin(TO_SNAPSHOT);
    const line = 'describe pvc/test/foo-testing pvc/foo-testing -n other';
    const { code, out, err } = await cluster.stowage(line.split(' '));
    expect(code).toBe(7);
    expect(out.match(/^Name: .*$/gm)).toHaveLength(1);
    expect(err).toMatch(/"foo-testing" not found\nerror: 1 of 2 failed\n$/);
  });
});
