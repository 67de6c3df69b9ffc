import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import type { Leftover } from '../../src/api/leftover.ts';
import { LEFTOVERS, NODES, PERSISTENT_VOLUMES, VOLUMES } from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import { createNode } from '../support/claim-objects.ts';
import { sparseVolume, startCluster, type TestCluster } from '../support/cluster.ts';
import { type Expected, type LeftoversOptions, leftovers } from '../support/leftovers.ts';
import { describeAsRoot } from '../support/root.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { ensureUdev } from '../support/udev.ts';
import { until } from '../support/until.ts';

const STOWAGE = 'bin/stowage';
const PAUSED = 'stowage.dev/paused';

describeAsRoot('a lost or paused node', () => {
  let cluster: TestCluster;
  let stopUdev: () => Promise<void>;
  let folder: { path: string; remove(): Promise<void> };
  let watch: ReturnType<typeof startWatch> | undefined;

  const startWatch = (node: string) =>
    execa(STOWAGE, ['watch', '--transport', 'local', '--local-node', node], {
      env: { KUBECONFIG: cluster.kubeconfig },
      reject: false,
    });

  /** Restarts the daemon so that it reaches only this node. */
  async function reach(node: string): Promise<void> {
    await stopWatch();
    watch = startWatch(node);
  }

  async function stopWatch(): Promise<void> {
    watch?.kill('SIGTERM');
    const ended = await watch;
    watch = undefined;
    if (ended !== undefined) expect(ended.exitCode).toBe(0);
  }

  beforeAll(async () => {
    stopUdev = await ensureUdev();
    cluster = await startCluster({ nodes: ['n1'] });
    folder = await temporaryDirectory('lost-node');
  });

  afterAll(async () => {
    await stopWatch();
    await cluster?.stop();
    await stopUdev?.();
    await folder?.remove();
  });

  const run = (command: string, args: string[]) =>
    execa(command, args, { env: { KUBECONFIG: cluster.kubeconfig }, reject: false });

  /** Creates a Volume in a separate directory, by which its storage is identified. */
  const create = (name: string) => {
    const volume = sparseVolume(name, 'n1', '64Mi');
    volume.spec.sparseLoopDevice = { size: '64Mi', directory: folder.path };
    return cluster.client.create(VOLUMES, volume);
  };

  const faults = (options: LeftoversOptions) =>
    leftovers({ ...options, directories: [folder.path] });

  const annotate = (resource: typeof VOLUMES, name: string, value: string | null) =>
    cluster.client.patch(resource, name, { metadata: { annotations: { [PAUSED]: value } } });

  const get = (name: string) => cluster.client.get<Volume>(VOLUMES, name);

  const names = async (resource: typeof VOLUMES) =>
    (await cluster.client.list(resource)).items.map(({ metadata }) => metadata.name);

  async function available(name: string): Promise<Expected & { file: string }> {
    const { metadata } = await until(`${name} Available`, async () => {
      const volume = await get(name);
      return volume.status?.phase === 'Available' ? volume : undefined;
    });
    const uid = metadata.uid ?? '';
    return { uid, file: `${folder.path}/${uid}`, loop: true };
  }

  const none = (resource: typeof VOLUMES, name: string) =>
    until(`${resource.kind} ${name} gone`, async () =>
      (await names(resource)).includes(name) ? undefined : true,
    );

  const pausedOf = async (name: string) =>
    (await get(name)).status?.conditions?.find(({ type }) => type === 'Paused');

  test('a Volume of a lost node is forgotten, and its storage removed on return', async () => {
    await reach('n1');
    await Promise.all([create('lost'), create('other')]);
    const lost = await available('lost');
    const other = await available('other');
    await reach('elsewhere');
    await cluster.client.delete(NODES, 'n1');

    const refused = await run(STOWAGE, ['delete', 'volume', 'lost', '--forget-node']);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain('--yes');
    const { stdout, exitCode } = await run(STOWAGE, [
      'delete',
      'volume',
      'lost',
      '--forget-node',
      '--yes',
      '--wait',
    ]);
    expect({ stdout, exitCode }).toEqual({
      exitCode: 0,
      stdout: 'volume.storage.metalk8s.scality.com/lost deleted',
    });
    expect(await names(VOLUMES)).toEqual(['other']);
    await none(PERSISTENT_VOLUMES, 'lost');
    expect(await faults({ expected: [lost, other] })).toEqual([]);

    const kept = await cluster.client.get<Leftover>(LEFTOVERS, lost.uid);
    expect(kept.spec).toMatchObject({
      volumeName: 'lost',
      nodeName: 'n1',
      prepared: { node: 'n1', paths: [lost.file] },
    });

    await createNode(cluster.client, 'n1');
    await reach('n1');
    await none(LEFTOVERS, lost.uid);
    expect(await faults({ expected: [other], uids: [lost.uid], client: cluster.client })).toEqual(
      [],
    );
    await run(STOWAGE, ['delete', 'volume', 'other', '--wait']);
    expect(await faults({ uids: [other.uid], client: cluster.client })).toEqual([]);
  });

  test('a Leftover that a user creates for an existing Volume removes nothing', async () => {
    await reach('n1');
    await create('lives');
    const lives = await available('lives');
    await cluster.client.create<Leftover>(LEFTOVERS, {
      apiVersion: 'stowage.dev/v1alpha1',
      kind: 'Leftover',
      metadata: { name: lives.uid },
      spec: {
        volumeName: 'none',
        uid: lives.uid,
        nodeName: 'n1',
        storageClassName: 'local',
        sparseLoopDevice: { size: '64Mi', directory: folder.path },
        prepared: { node: 'n1', paths: [lives.file], identity: `ext4 ${lives.uid}` },
      },
    });
    const said = await until('the Leftover reports the Volume', async () => {
      const { status } = await cluster.client.get<Leftover>(LEFTOVERS, lives.uid);
      return status?.conditions?.find(({ status: is }) => is === 'False')?.message;
    });
    expect(said).toContain('Volume lives with this UID exists');
    expect(await faults({ expected: [lives], client: cluster.client })).toEqual([]);
    await cluster.client.delete(LEFTOVERS, lives.uid);
    await run(STOWAGE, ['delete', 'volume', 'lives', '--wait']);
    expect(await faults({ uids: [lives.uid], client: cluster.client })).toEqual([]);
  });

  test('the pause annotation stops provisioning on a Node and deletion of a Volume', async () => {
    await reach('n1');
    await annotate(NODES, 'n1', 'true');
    await create('held');
    const byNode = await until('the Volume has the condition Paused', () => pausedOf('held'));
    expect(byNode).toMatchObject({
      status: 'True',
      message: expect.stringContaining('Node n1 is paused'),
    });
    expect((await get('held')).status).not.toHaveProperty('job');
    expect(await faults({})).toEqual([]);
    await annotate(NODES, 'n1', null);
    const held = await available('held');
    expect(await pausedOf('held')).toMatchObject({ status: 'False' });

    await annotate(VOLUMES, 'held', 'a person looks at the disk');
    await until('the Volume has Paused=True', async () =>
      (await pausedOf('held'))?.status === 'True' ? true : undefined,
    );
    await cluster.client.delete(VOLUMES, 'held');
    await until('Paused reports that the deletion waits', async () =>
      (await pausedOf('held'))?.message?.includes('the deletion waits') ? true : undefined,
    );
    expect((await get('held')).status).toMatchObject({
      phase: 'Available',
      job: 'PrepareVolume/DONE',
    });
    expect(await names(PERSISTENT_VOLUMES)).toEqual(['held']);
    expect(await faults({ expected: [held] })).toEqual([]);
    await annotate(VOLUMES, 'held', null);
    await none(VOLUMES, 'held');
    expect(await faults({ uids: [held.uid], client: cluster.client })).toEqual([]);
  });
});
