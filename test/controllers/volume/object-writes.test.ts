import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { KubeNode, PersistentVolume } from '../../../src/api/core.ts';
import type { Leftover } from '../../../src/api/leftover.ts';
import type { KubeObject, Resource } from '../../../src/api/meta.ts';
import { PROTECTION_FINALIZER } from '../../../src/api/names.ts';
import { LEFTOVERS, NODES, PERSISTENT_VOLUMES, VOLUMES } from '../../../src/api/resources.ts';
import type { Volume } from '../../../src/api/volume.ts';
import { createLeftover } from '../../../src/controllers/volume/create-leftover.ts';
import { leftoverOf, volumeOf } from '../../../src/controllers/volume/leftover.ts';
import { createLeftoverWrites } from '../../../src/controllers/volume/leftover-writes.ts';
import { createVolumeWrites } from '../../../src/controllers/volume/volume-writes.ts';
import { createInformer, type Informer } from '../../../src/kube/informer.ts';
import { sparseVolume, startCluster, type TestCluster } from '../../support/cluster.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { memoryLogger } from '../../support/logger.ts';

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

/** Creates a cache that only has these objects and recorded writes. */
function cacheOf<T extends KubeObject>(resource: Resource, ...objects: T[]): Informer<T> {
  const { client } = cluster;
  const informer = createInformer<T>({
    client,
    resource,
    clock: new FakeClock(),
    random: () => 0,
    logger: memoryLogger(),
  });
  for (const object of objects) informer.recordWrite(object);
  return informer;
}

const kubeNode = (name: string): KubeNode => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name },
});
const paused = { metadata: { annotations: { 'stowage.dev/paused': 'true' } } };
let count = 0;

async function aVolume() {
  count += 1;
  const node = `n${count}`;
  const [volume] = await Promise.all([
    cluster.client.create(VOLUMES, sparseVolume(`v${count}`, node, '32Mi')),
    cluster.client.create(NODES, kubeNode(node)),
  ]);
  const volumes = cacheOf<Volume>(VOLUMES, volume);
  const nodes = cacheOf<KubeNode>(NODES);
  const persistentVolumes = cacheOf<PersistentVolume>(PERSISTENT_VOLUMES);
  const deps = { client: cluster.client, volumes, nodes, persistentVolumes };
  return { volume, node, volumes, nodes, objects: createVolumeWrites(deps) };
}

async function aLeftover(uid: string) {
  const { node, volume, nodes } = await aVolume();
  const gone = { ...volume, metadata: { ...volume.metadata, uid } };
  const leftover = await cluster.client.create<Leftover>(LEFTOVERS, leftoverOf(gone));
  const leftovers = cacheOf<Leftover>(LEFTOVERS, leftover);
  const volumes = cacheOf<Volume>(VOLUMES);
  const objects = createLeftoverWrites({ client: cluster.client, leftovers, volumes, nodes });
  return { leftover, leftovers, node, volumes, objects, volume };
}
const uidOf = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;

describe('isCurrent of a Volume', () => {
  test('is true if nothing was written', async () => {
    const { volume, node, objects } = await aVolume();
    expect(await objects.isCurrent(volume, node)).toBe(true);
  });

  test('is false if the Volume was changed, and updates the cache', async () => {
    const { volume, node, objects, volumes } = await aVolume();
    await cluster.client.patch(VOLUMES, volume.metadata.name, paused);
    expect(await objects.isCurrent(volume, node)).toBe(false);
    expect(volumes.get(volume.metadata.name)?.metadata.annotations).toEqual(
      paused.metadata.annotations,
    );
  });

  test('is false if its Node was paused, and updates the cache', async () => {
    const { volume, node, objects, nodes } = await aVolume();
    await cluster.client.patch(NODES, node, paused);
    expect(await objects.isCurrent(volume, node)).toBe(false);
    expect(nodes.get(node)?.metadata.annotations).toEqual(paused.metadata.annotations);
  });

  test('is true if its Node does not exist', async () => {
    const { volume, objects } = await aVolume();
    expect(await objects.isCurrent(volume, 'elsewhere')).toBe(true);
  });
});

test('a status write conflicts with an earlier write to the Volume', async () => {
  const { volume, objects } = await aVolume();
  await cluster.client.patch(VOLUMES, volume.metadata.name, paused);
  await expect(objects.writeStatus(volume, { phase: 'Failed' })).rejects.toMatchObject({
    code: 'conflict',
  });
});

describe('releasing a Volume', () => {
  const finalizersOf = async ({ metadata }: Volume) =>
    (await cluster.client.get<Volume>(VOLUMES, metadata.name)).metadata.finalizers;
  const protect = ({ metadata }: Volume, others: string[]) =>
    cluster.client.patch<Volume>(VOLUMES, metadata.name, {
      metadata: { finalizers: [PROTECTION_FINALIZER, ...others] },
    });

  test('removes only our finalizer', async () => {
    const { volume, objects } = await aVolume();
    await objects.release(await protect(volume, ['example.com/theirs']));
    expect(await finalizersOf(volume)).toEqual(['example.com/theirs']);
  });

  test('does not touch a recreated Volume of the same name', async () => {
    const { volume, objects } = await aVolume();
    const { name, uid } = volume.metadata;
    await cluster.client.delete(VOLUMES, name, { uid });
    const again = await cluster.client.create<Volume>(VOLUMES, sparseVolume(name, 'n1', '32Mi'));
    await protect(again, []);
    await objects.release(volume);
    expect(await finalizersOf(again)).toEqual([PROTECTION_FINALIZER]);
  });
});

describe('isCurrent of a Leftover', () => {
  test('is true if nothing was written', async () => {
    const { leftover, node, objects } = await aLeftover(uidOf(1));
    expect(await objects.isCurrent(volumeOf(leftover), node)).toBe(true);
  });

  test('is false if its Node was paused', async () => {
    const { leftover, node, objects } = await aLeftover(uidOf(2));
    await cluster.client.patch(NODES, node, paused);
    expect(await objects.isCurrent(volumeOf(leftover), node)).toBe(false);
  });

  test('is false if a Volume with its UID exists, and updates the cache', async () => {
    const { volume } = await aVolume();
    const { uid = '' } = volume.metadata;
    const { leftover, node, objects, volumes } = await aLeftover(uid);
    expect(await objects.isCurrent(volumeOf(leftover), node)).toBe(false);
    expect(volumes.get(volume.metadata.name)?.metadata.uid).toBe(uid);
  });
});

describe('a write to a Leftover', () => {
  test('sets the status without prepared, and conflicts with an earlier write', async () => {
    const { leftover, leftovers, objects } = await aLeftover(uidOf(3));
    const shown = volumeOf(leftover);
    const prepared = { node: 'x', paths: ['/x'], identity: '' };
    await objects.writeStatus(shown, {
      phase: 'Terminating',
      job: 'UnprepareVolume/1',
      attempt: 1,
      prepared,
    });
    expect(leftovers.get(uidOf(3))?.status).toEqual({
      phase: 'Terminating',
      job: 'UnprepareVolume/1',
      attempt: 1,
    });
    // The status was decided on an earlier version.
    await expect(objects.writeStatus(shown, { phase: 'Failed' })).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  test('conflicts with another Leftover of the same name', async () => {
    const { leftover, objects } = await aLeftover(uidOf(4));
    await cluster.client.delete(LEFTOVERS, uidOf(4));
    const other = { ...leftover, metadata: { name: uidOf(4) } };
    await cluster.client.create(LEFTOVERS, other);
    await expect(objects.release(volumeOf(leftover))).rejects.toMatchObject({ code: 'conflict' });
  });
});

describe('createLeftover', () => {
  test('is idempotent', async () => {
    const { volume } = await aVolume();
    const leftover = leftoverOf(volume);
    const as = volume.metadata.uid;
    expect(await createLeftover(cluster.client, leftover)).toEqual({ as });
    expect(await createLeftover(cluster.client, leftover)).toEqual({ as });
  });

  test('refuses an existing Leftover that names another node', async () => {
    const { volume } = await aVolume();
    const leftover = leftoverOf(volume);
    await createLeftover(cluster.client, leftover);
    const other = { ...leftover, spec: { ...leftover.spec, nodeName: 'other' } };
    expect(await createLeftover(cluster.client, other)).toEqual({
      problem: expect.stringContaining('names node'),
    });
  });

  test('reports a refusal by the API server', async () => {
    const { volume } = await aVolume();
    const leftover = leftoverOf(volume);
    const { nodeName: _, ...spec } = leftover.spec;
    expect(
      await createLeftover(cluster.client, { ...leftover, spec: spec as Leftover['spec'] }),
    ).toEqual({
      problem: expect.stringContaining('nodeName'),
    });
  });

  test('creates a Leftover whose spec is immutable', async () => {
    const { volume } = await aVolume();
    await createLeftover(cluster.client, leftoverOf(volume));
    await expect(
      cluster.client.patch(LEFTOVERS, volume.metadata.uid ?? '', { spec: { nodeName: 'other' } }),
    ).rejects.toMatchObject({
      statusCode: 422,
      message: expect.stringContaining('spec is immutable'),
    });
  });
});
