import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { PersistentVolumeClaim, Pod } from '../../../src/api/core.ts';
import type { KubeObject } from '../../../src/api/meta.ts';
import { DRIVER } from '../../../src/api/names.ts';
import { type Explanation, explain, reasonAnnotations } from '../../../src/api/reasons.ts';
import {
  EVENTS,
  LEASES,
  PERSISTENT_VOLUME_CLAIMS,
  PODS,
  REFERENCE_GRANTS,
  STORAGE_CLASSES,
  VOLUME_SNAPSHOTS,
} from '../../../src/api/resources.ts';
import type { KubeClient } from '../../../src/kube/types.ts';
import { type ClaimsCluster, startClaimsCluster } from '../../support/claims-cluster.ts';
import { heldLease } from '../../support/leading-lease.ts';
import { refusing } from '../../support/refusals.ts';
import {
  claimNamed,
  FROM_CLAIMS,
  fresh,
  grantNamed,
  SNAPSHOT,
  TO_BACKUP,
  TO_SNAPSHOT,
} from '../../support/snapshots.ts';
import { classNamed } from '../../support/volumes.ts';

let cluster: ClaimsCluster;
let client: KubeClient;
beforeAll(async () => {
  cluster = await startClaimsCluster({ crossNamespace: true });
  client = cluster.client;
  await client.create(STORAGE_CLASSES, { ...classNamed('fast'), provisioner: DRIVER });
  const claim = claimNamed('foo-testing', { dataSourceRef: TO_SNAPSHOT });
  await client.create<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS, fresh(claim));
  await client.create<Pod>(PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'reader', namespace: 'test' },
    spec: {
      containers: [{ name: 'c', image: 'i' }],
      volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'foo-testing' } }],
    },
  } as Pod);
});
afterAll(() => cluster.stop());

const why = async (line: string, through?: (client: KubeClient) => KubeClient) =>
  cluster.stowage(['why', ...line.split(' ')], {}, through);
const DENIED =
  "accessing prod/foo-backup of VolumeSnapshot dataSource from test/foo-testing isn't allowed";

test('explains a claim from a missing grant to a snapshot that is not taken', async () => {
  const denied = await why('pvc test/foo-testing');
  expect(denied).toMatchObject({ code: 0, err: '' });
  expect(denied.out).toContain('PersistentVolumeClaim:  test/foo-testing (Pending)\n');
  expect(denied.out).toContain(`Blocked by:             ${DENIED}\n`);
  expect(denied.out).toContain('stowage grant snapshot prod/foo-backup --to test --for claims\n');

  const wrong = grantNamed('bar', { from: [FROM_CLAIMS], to: [{ ...TO_BACKUP, name: 'foo' }] });
  await client.create(REFERENCE_GRANTS, wrong);
  expect((await why('pvc foo-testing -n test')).out).toContain(
    `${DENIED} (ReferenceGrant prod/bar nearly allows it: to.name is "foo", not "foo-backup")\n`,
  );

  await cluster.stowage('grant snapshot prod/foo-backup --to test --for claims'.split(' '));
  expect((await why('persistentvolumeclaim/test/foo-testing')).out).toContain(
    'Blocked by:             VolumeSnapshot prod/foo-backup does not exist\n',
  );
  // Based on lists, which do not contain the snapshot, either.
  expect((await why('--all')).out).toContain('SourceMissing (VolumeSnapshot prod/foo-backup)\n');

  await client.create(VOLUME_SNAPSHOTS, fresh(SNAPSHOT));
  const waiting = JSON.parse((await why('pvc test/foo-testing -o json')).out);
  expect(waiting).toMatchObject({
    kind: 'PersistentVolumeClaim',
    name: 'foo-testing',
    namespace: 'test',
    phase: 'Pending',
    holdup: 'VolumeSnapshot prod/foo-backup is not bound to a VolumeSnapshotContent',
    fix: { run: ['stowage why snapshot prod/foo-backup'] },
  });

  const snapshot = JSON.parse((await why('snapshot prod/foo-backup -o json')).out);
  expect(snapshot).toMatchObject({
    kind: 'VolumeSnapshot',
    name: 'foo-backup',
    namespace: 'prod',
    phase: 'Pending',
    holdup: 'it names no class, and there is no default one of volume.stowage.dev',
    fix: { run: ['stowage create snapshotclass stowage --default'] },
  });

  // The cause is the same for the pod that waits for the claim.
  expect((await why('pod test/reader')).out).toMatch(
    /Blocked by: +it is not scheduled yet: .*; its claim test\/foo-testing is Pending: VolumeSnapshot prod\/foo-backup is not bound to a VolumeSnapshotContent\n/,
  );
});

test('reports what may not be read, and explains the rest', async () => {
  const blind = refusing('list', 403, {
    resource: REFERENCE_GRANTS,
    message: 'ReferenceGrant is forbidden',
  });
  const { code, out, err } = await why('pvc test/foo-testing', blind);
  expect(code).toBe(0);
  expect(err).toBe('note: not checked: ReferenceGrant is forbidden\n');
  expect(out).toContain('no daemon has processed it yet');
});

describe('a daemon whose gate is off', () => {
  const OFF =
    /Blocked by: +dataSourceRef names VolumeSnapshot prod\/foo-backup in another namespace than test, which this daemon does not allow\n/;
  const lead = async (isOn: boolean) => {
    const lease = heldLease({
      featureGates: { CrossNamespaceVolumeDataSource: isOn },
    });
    await client.delete(LEASES, 'stowage', { namespace: 'default' }).catch(() => undefined);
    await client.create(LEASES, lease);
  };
  const tell = ({ message, detail }: Explanation, component: string, type: string, at: number) =>
    client.create<KubeObject>(EVENTS, {
      ...{ apiVersion: 'v1', kind: 'Event', type, reason: 'ProvisioningFailed', message },
      metadata: {
        name: `e${at}`,
        namespace: 'test',
        ...(detail && { annotations: reasonAnnotations(detail) }),
      },
      involvedObject: {
        kind: 'PersistentVolumeClaim',
        namespace: 'test',
        name: 'foo-testing',
        uid: uidOfClaim,
      },
      source: { component },
      reportingComponent: component,
      lastTimestamp: new Date(Date.now() - 60_000 + at * 1000).toISOString().replace(/\.\d+/, ''),
    } as never);
  let uidOfClaim: string | undefined;
  beforeAll(async () => {
    const options = { namespace: 'test' };
    const claim = await client.get<PersistentVolumeClaim>(
      PERSISTENT_VOLUME_CLAIMS,
      'foo-testing',
      options,
    );
    uidOfClaim = claim.metadata.uid;
  });
  afterAll(() => client.delete(LEASES, 'stowage', { namespace: 'default' }));

  test('is reported by its Lease, regardless of grants', async () => {
    await lead(false);
    expect((await why('pvc test/foo-testing')).out).toMatch(OFF);
    await lead(true);
    expect((await why('pvc test/foo-testing')).out).not.toMatch(OFF);
  });

  test('is reported by its last event, with a note, if its Lease may not be read', async () => {
    const off = { kind: 'VolumeSnapshot', source: 'prod/foo-backup', namespace: 'test' };
    await tell(explain('GateOff', off), 'stowage', 'Warning', 1);
    // The PV controller emits this event every few seconds.
    const waits = { message: 'Waiting for a volume to be created' };
    await tell(waits, 'persistentvolume-controller', 'Normal', 2);
    const blind = refusing('list', 403, { resource: LEASES, message: 'Lease is forbidden' });
    const { out, err } = await why('pvc test/foo-testing', blind);
    expect(out).toMatch(OFF);
    expect(out).toContain("stowage watch --feature-gates 'CrossNamespaceVolumeDataSource=true'");
    expect(err).toBe('note: not checked: Lease is forbidden\n');
    // The current leader's Lease has precedence over the event.
    await lead(true);
    expect((await why('pvc test/foo-testing')).out).not.toMatch(OFF);
  });
});

test.each(['pvc test/nowhere', 'snapshot prod/nowhere'])('why %s exits with 3', async (line) => {
  expect(await why(line)).toMatchObject({ code: 3, out: '' });
});
