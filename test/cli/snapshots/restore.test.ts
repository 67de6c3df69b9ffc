import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import type { AnyEvent, PersistentVolumeClaim } from '../../../src/api/core.ts';
import type { KubeObject } from '../../../src/api/meta.ts';
import {
  EVENTS,
  LEASES,
  PERSISTENT_VOLUME_CLAIMS,
  REFERENCE_GRANTS,
  STORAGE_CLASSES,
  VOLUME_POPULATORS,
  VOLUME_SNAPSHOT_CONTENTS,
  VOLUME_SNAPSHOT_LINKS,
  VOLUME_SNAPSHOTS,
} from '../../../src/api/resources.ts';
import type { VolumeSnapshotLink } from '../../../src/api/snapshot.ts';
import { needsAction } from '../../../src/cli/why/needs-action.ts';
import type { Blocker } from '../../../src/cli/why/types.ts';
import type { KubeClient } from '../../../src/kube/types.ts';
import { capturedTerminal } from '../../support/captured-terminal.ts';
import { type ClaimsCluster, startClaimsCluster } from '../../support/claims-cluster.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { heldLease } from '../../support/leading-lease.ts';
import { refusal, refusing } from '../../support/refusals.ts';
import {
  CONTENT,
  claimNamed,
  fresh,
  LINK,
  LINK_POPULATOR,
  SNAPSHOT,
} from '../../support/snapshots.ts';
import { until } from '../../support/until.ts';
import { classNamed } from '../../support/volumes.ts';

const clusters: Record<'on' | 'off' | 'bare', ClaimsCluster> = {} as never;
beforeAll(async () => {
  clusters.on = await startClaimsCluster({ crossNamespace: true });
  clusters.off = await startClaimsCluster();
  clusters.bare = await startClaimsCluster({ without: ['VolumeSnapshotLink', 'ReferenceGrant'] });
  for (const { client } of Object.values(clusters)) {
    await client.create(STORAGE_CLASSES, {
      ...classNamed('fast'),
      provisioner: 'volume.stowage.dev',
    });
    const { metadata } = await client.create(VOLUME_SNAPSHOTS, fresh(SNAPSHOT));
    await client.patch(
      VOLUME_SNAPSHOTS,
      'foo-backup',
      { status: SNAPSHOT.status },
      { namespace: 'prod', subresource: 'status' },
    );
    const volumeSnapshotRef = { ...CONTENT.spec.volumeSnapshotRef, uid: metadata.uid };
    const content = fresh({ ...CONTENT, spec: { ...CONTENT.spec, volumeSnapshotRef } });
    await client.create(VOLUME_SNAPSHOT_CONTENTS, content);
    await client.patch(
      VOLUME_SNAPSHOT_CONTENTS,
      CONTENT.metadata.name,
      { status: CONTENT.status },
      { subresource: 'status' },
    );
    await client.create(PERSISTENT_VOLUME_CLAIMS, fresh(claimNamed('foo', {}, 'prod')));
  }
});
afterAll(() => Promise.all(Object.values(clusters).map((cluster) => cluster.stop())));
afterEach(async () => {
  for (const { client } of Object.values(clusters)) {
    for (const resource of [VOLUME_SNAPSHOT_LINKS, PERSISTENT_VOLUME_CLAIMS, REFERENCE_GRANTS]) {
      const { items } = await client.list<KubeObject>(resource).catch(() => ({ items: [] }));
      for (const { metadata } of items.filter(({ metadata: { name } }) => name !== 'foo')) {
        await client.delete(resource, metadata.name, { namespace: metadata.namespace });
      }
    }
  }
});

const RESTORE = 'restore snapshot prod/foo-backup --to test/foo-testing';
const words = (line: string) => line.split(' ');
const claims = async ({ client }: ClaimsCluster) =>
  (await client.list<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS)).items.filter(
    ({ metadata }) => metadata.name !== 'foo',
  );
const links = async ({ client }: ClaimsCluster) =>
  (await client.list<VolumeSnapshotLink>(VOLUME_SNAPSHOT_LINKS)).items;
const DIRECT = {
  apiGroup: 'snapshot.storage.k8s.io',
  kind: 'VolumeSnapshot',
  name: 'foo-backup',
  namespace: 'prod',
};
const DENIED =
  "note: accessing prod/foo-backup of VolumeSnapshot dataSource from test/foo-testing isn't allowed; the claim waits until it is granted: stowage grant snapshot prod/foo-backup --to test\n";

describe('restore snapshot to another namespace', () => {
  test('names the snapshot’s namespace if the API server keeps that field', async () => {
    await clusters.on.stowage(words('grant snapshot prod/foo-backup --to test'));
    expect(await clusters.on.stowage(words(RESTORE))).toMatchObject({
      code: 0,
      out: 'persistentvolumeclaim/foo-testing created\n',
      err: '',
    });
    expect(await claims(clusters.on)).toMatchObject([
      {
        metadata: { namespace: 'test', name: 'foo-testing' },
        spec: {
          accessModes: ['ReadWriteOnce'],
          storageClassName: 'fast',
          volumeMode: 'Filesystem',
          resources: { requests: { storage: '1Gi' } },
          dataSourceRef: DIRECT,
        },
      },
    ]);
    expect(await links(clusters.on)).toEqual([]);
  });

  test('uses a link if the API server keeps the namespace but the daemon ignores it', async () => {
    const { client } = clusters.on;
    await client.create(LEASES, heldLease());
    try {
      await clusters.on.stowage(words('grant snapshot prod/foo-backup --to test --for links'));
      const { code, err } = await clusters.on.stowage(words(RESTORE));
      expect({ code, err }).toEqual({
        code: 0,
        err: 'note: the claim names VolumeSnapshotLink test/foo-testing, which is deleted with it\n',
      });
    } finally {
      await client.delete(LEASES, 'stowage', { namespace: 'default' });
    }
  });

  test('names the namespace, with a note, if Leases may not be read', async () => {
    const blind = refusing('list', 403, { resource: LEASES, message: 'Lease is forbidden' });
    await clusters.on.stowage(words('grant snapshot prod/foo-backup --to test'));
    expect(await clusters.on.stowage(words(RESTORE), {}, blind)).toMatchObject({
      code: 0,
      err: 'note: not known whether the daemon follows references to other namespaces: Lease is forbidden\n',
    });
  });

  test('uses a link owned by the claim if the API server drops the namespace', async () => {
    await clusters.off.stowage(words('grant snapshot prod/foo-backup --to test --for links'));
    const { code, err } = await clusters.off.stowage(words(RESTORE));
    expect({ code, err }).toEqual({
      code: 0,
      err: 'note: the claim names VolumeSnapshotLink test/foo-testing, which is deleted with it\n',
    });
    const [claim] = await claims(clusters.off);
    expect(claim?.spec.dataSourceRef).toEqual({
      apiGroup: 'snapshot.storage.k8s.io',
      kind: 'VolumeSnapshotLink',
      name: 'foo-testing',
    });
    expect(await links(clusters.off)).toMatchObject([
      {
        metadata: {
          namespace: 'test',
          name: 'foo-testing',
          ownerReferences: [{ kind: 'PersistentVolumeClaim', uid: claim?.metadata.uid }],
        },
        spec: { source: { name: 'foo-backup', namespace: 'prod' } },
      },
    ]);
    await clusters.off.client.delete(PERSISTENT_VOLUME_CLAIMS, 'foo-testing', {
      namespace: 'test',
    });
    await until(
      'the link is gone',
      async () => (await links(clusters.off)).length === 0 || undefined,
    );
  });

  test('fails and leaves no claim if the cluster has no VolumeSnapshotLinks', async () => {
    const { code, out, err } = await clusters.bare.stowage(words(RESTORE));
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain('drops spec.dataSourceRef.namespace, and it has no VolumeSnapshotLinks');
    expect(await claims(clusters.bare)).toEqual([]);
  });

  test('fails and leaves no claim if links are not registered or not followed', async () => {
    const { client } = clusters.off;
    await client.delete(VOLUME_POPULATORS, LINK_POPULATOR.metadata.name);
    try {
      const { code, err } = await clusters.off.stowage(words(RESTORE));
      expect([code, err]).toEqual([
        1,
        expect.stringContaining('and it has no VolumePopulator for VolumeSnapshotLinks'),
      ]);
      const blind = refusing('list', 403, { resource: VOLUME_POPULATORS });
      expect(
        (await clusters.off.stowage(words(`${RESTORE} --dry-run=server`), {}, blind)).code,
      ).toBe(0);
    } finally {
      await client.create(VOLUME_POPULATORS, LINK_POPULATOR);
    }
    await client.create(LEASES, heldLease({ links: false }));
    try {
      const { code, err } = await clusters.off.stowage(words(RESTORE));
      expect([code, err]).toEqual([
        1,
        expect.stringContaining(
          'its daemon follows no VolumeSnapshotLinks (--cross-namespace-snapshot=false)',
        ),
      ]);
    } finally {
      await client.delete(LEASES, 'stowage', { namespace: 'default' });
    }
    expect([await claims(clusters.off), await links(clusters.off)]).toEqual([[], []]);
  });

  test.each(['on', 'off'] as const)(
    'creates the claim and notes the missing grant, with the feature gate %s',
    async (gate) => {
      const { code, err } = await clusters[gate].stowage(words(RESTORE));
      expect(code).toBe(0);
      expect(err).toContain(DENIED);
      expect(await claims(clusters[gate])).toHaveLength(1);
    },
  );

  test('notes a missing grant if it uses a link but only claims are granted', async () => {
    await clusters.off.stowage(words('grant snapshot prod/foo-backup --to test --for claims'));
    expect((await clusters.off.stowage(words(RESTORE))).err).toContain(DENIED);
  });

  test('creates nothing if a link of that name refers to another snapshot', async () => {
    const other = { ...LINK, metadata: { name: 'foo-testing', namespace: 'test' } };
    await clusters.off.client.create(VOLUME_SNAPSHOT_LINKS, {
      ...other,
      spec: { source: { name: 'secret', namespace: 'prod' } },
    });
    const { code, err } = await clusters.off.stowage(words(RESTORE));
    expect(code).toBe(5);
    expect(err).toContain('already exists, and refers to prod/secret');
    expect(await claims(clusters.off)).toEqual([]);
  });

  test('replaces a link of that name that an earlier claim owned', async () => {
    const owner = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      name: 'foo-testing',
      uid: 'gone',
    };
    const metadata = { name: 'foo-testing', namespace: 'test', ownerReferences: [owner] };
    const earlier = {
      ...LINK,
      metadata,
      spec: { source: { name: 'foo-backup', namespace: 'prod' } },
    };
    // The garbage collector deletes the link here before the command does.
    let isThere = true;
    const { code } = await clusters.off.stowage(words(RESTORE), {}, (client) => ({
      ...client,
      async create(resource, object, options) {
        if (resource.kind !== LINK.kind || !isThere)
          return client.create(resource, object, options);
        throw refusal(409, 'it is there', { reason: 'AlreadyExists' });
      },
      get: (resource, name, options) =>
        resource.kind === LINK.kind && isThere
          ? Promise.resolve(earlier as never)
          : client.get(resource, name, options),
      async delete(resource, name, options) {
        if (resource.kind === LINK.kind) isThere = false;
        else await client.delete(resource, name, options);
      },
    }));
    expect(code).toBe(0);
    const [claim] = await claims(clusters.off);
    expect((await links(clusters.off)).map(({ metadata }) => metadata.ownerReferences)).toEqual([
      [{ ...owner, uid: claim?.metadata.uid }],
    ]);
  });

  test('uses an existing link to the same snapshot without owning it', async () => {
    const there = { ...LINK, metadata: { name: 'foo-testing', namespace: 'test' } };
    await clusters.off.client.create(VOLUME_SNAPSHOT_LINKS, there);
    expect((await clusters.off.stowage(words(RESTORE))).code).toBe(0);
    expect((await links(clusters.off))[0]?.metadata).not.toHaveProperty('ownerReferences');
  });
});

describe('restore snapshot, if the claim loses its data source', () => {
  /** Drops the data source like an admission webhook that ignores dry runs. */
  const dropping =
    (answersTruly: boolean, namespaceOnly = false) =>
    (client: KubeClient): KubeClient => ({
      ...client,
      async create(resource, object, options = {}) {
        if (resource !== PERSISTENT_VOLUME_CLAIMS || options.dryRun)
          return client.create(resource, object, options);
        const { dataSourceRef, ...spec } = (object as unknown as PersistentVolumeClaim).spec;
        const { namespace: _, ...rest } = dataSourceRef ?? {};
        const kept = namespaceOnly ? { ...spec, dataSourceRef: rest } : spec;
        const stored = await client.create(resource, { ...object, spec: kept }, options);
        return answersTruly ? stored : { ...object, metadata: stored.metadata };
      },
    });

  test.each([
    ['with the loss in the response', true],
    ['with the loss in a later read only', false],
  ])('deletes the claim, %s', async (_name, answersTruly) => {
    for (const line of [RESTORE, 'restore snapshot prod/foo-backup --to prod/again']) {
      const { code, out, err } = await clusters.on.stowage(words(line), {}, dropping(answersTruly));
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toContain('The API server dropped spec.dataSourceRef of PersistentVolumeClaim');
      expect(await claims(clusters.on)).toEqual([]);
    }
  });

  test('deletes a claim whose data source lost only its namespace', async () => {
    expect((await clusters.on.stowage(words(RESTORE), {}, dropping(true, true))).code).toBe(1);
    expect(await claims(clusters.on)).toEqual([]);
  });

  test('reports a claim that it cannot delete', async () => {
    const stuck = (client: KubeClient) => refusing('delete', 403)(dropping(true)(client));
    const { code, err } = await clusters.on.stowage(words(RESTORE), {}, stuck);
    expect(code).toBe(1);
    expect(err).toContain(
      'PersistentVolumeClaim test/foo-testing could not be deleted again, and may be bound to an empty volume',
    );
    expect(err).toContain('kubectl delete pvc foo-testing -n test');
  });

  test('deletes the claim if the link cannot be created', async () => {
    const unlinked = refusing('create', 403, { resource: VOLUME_SNAPSHOT_LINKS });
    expect((await clusters.off.stowage(words(RESTORE), {}, unlinked)).code).toBe(4);
    expect(await claims(clusters.off)).toEqual([]);
  });
});

describe('restore snapshot in its own namespace', () => {
  const OWN = 'restore vs foo-backup --to again -n prod';
  test.each(['on', 'off', 'bare'] as const)('uses a plain reference, cluster %s', async (which) => {
    const { code, err } = await clusters[which].stowage(words(OWN));
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const { namespace: _, ...reference } = DIRECT;
    expect(await claims(clusters[which])).toMatchObject([
      {
        metadata: { namespace: 'prod', name: 'again' },
        spec: { dataSourceRef: reference, dataSource: reference },
      },
    ]);
  });

  test('applies the flags to the claim', async () => {
    const line = `${OWN} --size 2Gi --storage-class slow --access-mode ReadWriteOncePod,ReadOnlyMany --mode Block`;
    expect((await clusters.on.stowage(words(line))).code).toBe(0);
    expect((await claims(clusters.on))[0]?.spec).toMatchObject({
      accessModes: ['ReadWriteOncePod', 'ReadOnlyMany'],
      storageClassName: 'slow',
      volumeMode: 'Block',
      resources: { requests: { storage: '2Gi' } },
    });
  });

  test.each([
    [
      'manual',
      'Claims of storage class "manual" are bound to volumes created by hand, which are not filled from a snapshot',
    ],
    ['cloud', 'Storage class cloud is of the provisioner csi.example, which'],
  ])('refuses class %s, which does not restore snapshots of Stowage', async (name, message) => {
    const { client } = clusters.on;
    const provisioner = name === 'cloud' ? 'csi.example' : 'kubernetes.io/no-provisioner';
    await client.create(STORAGE_CLASSES, { ...classNamed(name), provisioner });
    const { code, err } = await clusters.on.stowage(words(`${OWN} --storage-class ${name}`));
    expect([code, err]).toEqual([5, expect.stringContaining(message)]);
    expect(await claims(clusters.on)).toEqual([]);
  });

  test('refuses a claim that already exists', async () => {
    await clusters.on.stowage(words(OWN));
    expect(await clusters.on.stowage(words(OWN))).toMatchObject({ code: 5 });
    expect(await claims(clusters.on)).toHaveLength(1);
  });

  test('--dry-run creates no claim', async () => {
    const { out } = await clusters.on.stowage(
      words(`${RESTORE} --size 1Gi --dry-run=client -o yaml`),
    );
    expect(parse(out)).toMatchObject({ spec: { dataSourceRef: DIRECT } });
    expect(await clusters.on.stowage(words(`${OWN} --dry-run=server`))).toMatchObject({
      code: 0,
      out: 'persistentvolumeclaim/again created (server dry run)\n',
    });
    expect(await claims(clusters.on)).toEqual([]);
  });
});

describe('restore snapshot', () => {
  const NOWHERE = 'restore snapshot prod/nowhere --to test/c';
  test('needs --size for a snapshot that does not exist', async () => {
    expect(await clusters.on.stowage(words(NOWHERE))).toMatchObject({
      code: 3,
      err: expect.stringContaining('Set --size to create a claim that waits for it.'),
    });
    expect(await clusters.on.stowage(words(`${NOWHERE} --size 1Gi`))).toMatchObject({
      code: 0,
      err: expect.stringContaining('note: there is no VolumeSnapshot prod/nowhere yet\n'),
    });
  });

  test('needs --size for a snapshot that the user may not read', async () => {
    const blind = refusing('get', 403, { resource: VOLUME_SNAPSHOTS });
    const refused = await clusters.on.stowage(words(RESTORE), {}, blind);
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.err).toContain(
      '--size is required: you may not read VolumeSnapshot prod/foo-backup',
    );
    expect((await clusters.on.stowage(words(`${RESTORE} --size 1Gi`), {}, blind)).code).toBe(0);
  });

  test.each([
    [`${RESTORE} --size 1Mi`, 'too small: VolumeSnapshot prod/foo-backup needs 1Gi'],
    [`${RESTORE} --size 0`, 'Write a size'],
    [`${RESTORE} --size large`, 'Write a size'],
    [`${RESTORE} --access-mode ReadWriteMany`, 'Allowed choices are ReadWriteOnce'],
    ['restore snapshot a', '--to'],
    [`${RESTORE} --dry-run=client`, '--size is required'],
  ])('%s is wrong usage', async (line, message) => {
    const { code, out, err } = await clusters.on.stowage(words(line));
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(message);
    expect(await claims(clusters.on)).toEqual([]);
  });
});

describe('restore snapshot --wait', () => {
  const bind = async ({ client }: ClaimsCluster, status: PersistentVolumeClaim['status']) =>
    client.patch(
      PERSISTENT_VOLUME_CLAIMS,
      'foo-testing',
      { status },
      { namespace: 'test', subresource: 'status' },
    );
  const say = (
    { client }: ClaimsCluster,
    uid: string | undefined,
    name: string,
    message: string,
    component = 'stowage',
  ) =>
    client.create<AnyEvent>(EVENTS, {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, namespace: 'test' },
      involvedObject: {
        kind: 'PersistentVolumeClaim',
        namespace: 'test',
        name: 'foo-testing',
        uid,
      },
      type: 'Warning',
      reason: 'ProvisioningFailed',
      message,
      lastTimestamp: new Date().toISOString(),
      source: { component },
    } as AnyEvent);

  test('shows events of the daemon about the claim until it is bound', async () => {
    const cluster = clusters.on;
    const { terminal, text, shows } = capturedTerminal();
    const waiting = cluster.stowage(words(`${RESTORE} --wait`), { terminal });
    const claim = await until('the claim', async () => (await claims(cluster))[0]);
    await say(cluster, claim.metadata.uid, 'a', 'it is not allowed');
    await shows('it is not allowed');
    await say(cluster, 'another', 'b', 'not of this claim');
    await say(
      cluster,
      claim.metadata.uid,
      'd',
      'waiting for a provisioner',
      'persistentvolume-controller',
    );
    await say(cluster, claim.metadata.uid, 'c', 'it is not ready');
    await shows('it is not ready');
    await bind(cluster, { phase: 'Bound' });
    const { code, err } = await waiting;
    expect(code).toBe(0);
    expect(text()).toMatch(/persistentvolumeclaim\/foo-testing bound\n$/);
    expect(err).toContain(DENIED);
    expect(err).toContain('foo-testing: Pending; ProvisioningFailed: it is not allowed\n');
    expect(err).not.toContain('not of this claim');
    expect(err).not.toContain('waiting for a provisioner');
  });

  /** Runs the command, and lets a minute pass without changes. */
  async function waitInVain(line: string) {
    const clock = new FakeClock();
    const { terminal, text, shows } = capturedTerminal();
    const waiting = clusters.on.stowage(words(`${line} --wait --timeout 1m`), { clock, terminal });
    await shows('foo-testing: Pending');
    await clock.advance(60_000);
    const { code, err } = await waiting;
    // Standard output stays empty.
    expect(text()).toBe(err);
    return { code, err };
  }

  test('times out with the last state and a hint', async () => {
    const { code, err } = await waitInVain(RESTORE);
    expect(code).toBe(6);
    expect(err).toContain('PersistentVolumeClaim test/foo-testing: timed out after 60 s: Pending');
    expect(err).toContain(
      'The daemon continues it. Find out what holds it up: stowage why pvc test/foo-testing',
    );
    expect(await claims(clusters.on)).toHaveLength(1);
  });

  test('exits with 5 if manual action is needed, and notes the wait for a pod', async () => {
    const odd = classNamed('odd', {
      provisioner: 'volume.stowage.dev',
      volumeBindingMode: 'WaitForFirstConsumer',
    });
    await clusters.on.client.create(STORAGE_CLASSES, { ...odd, parameters: { size: '1Gi' } });
    const clock = new FakeClock();
    const { terminal, shows } = capturedTerminal();
    const line = `${RESTORE} --storage-class odd --wait`;
    await clusters.on.stowage(words('grant snapshot prod/foo-backup --to test'));
    const waiting = clusters.on.stowage(words(line), { clock, terminal });
    await shows('foo-testing: Pending');
    await clock.advance(3000);
    const { code, err } = await waiting;
    expect(code).toBe(5);
    expect(err).toContain(
      'note: storage class odd waits for the first pod that uses claim foo-testing\n',
    );
    expect(err).toContain(
      'PersistentVolumeClaim test/foo-testing needs manual action: storage class odd: ',
    );
  });

  test('ends if its class waits for a pod, and no pod uses the claim', async () => {
    const lazy = classNamed('lazy', {
      provisioner: 'volume.stowage.dev',
      volumeBindingMode: 'WaitForFirstConsumer',
    });
    await clusters.on.client.create(STORAGE_CLASSES, lazy);
    const clock = new FakeClock();
    const { terminal, shows } = capturedTerminal();
    await clusters.on.stowage(words('grant snapshot prod/foo-backup --to test'));
    const line = `${RESTORE} --storage-class lazy --wait`;
    const waiting = clusters.on.stowage(words(line), { clock, terminal });
    await shows('foo-testing: Pending');
    await clock.advance(3000);
    const { code, err } = await waiting;
    expect(code).toBe(5);
    expect(err).toMatch(
      /needs manual action: its storage class waits for the first pod .*\nhint: Create a pod /,
    );
  });

  test('reports manual action if the daemon runs without the controller claim', async () => {
    const { client } = clusters.on;
    await client.create(LEASES, heldLease({ controllers: ['volume'] }));
    const object = { kind: 'PersistentVolumeClaim', namespace: 'test', name: 'foo-testing' };
    const { signal } = new AbortController();
    try {
      const waiting: Blocker = { cause: 'NotTakenUp', holdup: 'no daemon has processed it yet' };
      expect(await needsAction(waiting, object, client, Date.now(), signal)).toMatchObject({
        code: 'conflict',
        message:
          'PersistentVolumeClaim test/foo-testing needs manual action: the daemon that leads runs without the controller claim',
      });
    } finally {
      await client.delete(LEASES, 'stowage', { namespace: 'default' });
    }
  });
});
