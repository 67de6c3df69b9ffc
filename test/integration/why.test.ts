import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { stringify } from 'yaml';
import type { PersistentVolume, StorageClass } from '../../src/api/core.ts';
import { PERSISTENT_VOLUMES, STORAGE_CLASSES, VOLUMES } from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import type { Blocker } from '../../src/cli/why/types.ts';
import { sparseVolume, startCluster, type TestCluster } from '../support/cluster.ts';
import { describeAsRoot } from '../support/root.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { ensureUdev } from '../support/udev.ts';
import { until } from '../support/until.ts';
import { onNode } from '../support/volumes.ts';

/**
 * Runs the commands that `why` prints, with a running daemon, and checks that they fix the problem.
 */
describeAsRoot('the fix that `why` prints', () => {
  let cluster: TestCluster;
  let stopUdev: () => Promise<void>;
  let folder: { path: string; remove(): Promise<void> };
  let watch: ReturnType<typeof startWatch>;

  const startWatch = () =>
    execa('bin/stowage', ['watch', '--transport', 'local', '--local-node', 'n1'], {
      env: { KUBECONFIG: cluster.kubeconfig },
      reject: false,
    });

  const shell = (line: string, input = '') =>
    execa('sh', ['-euc', line], {
      env: { KUBECONFIG: cluster.kubeconfig, PATH: `${process.cwd()}/bin:${process.env.PATH}` },
      cwd: folder.path,
      input,
    });

  beforeAll(async () => {
    stopUdev = await ensureUdev();
    cluster = await startCluster({ nodes: ['n1'] });
    folder = await temporaryDirectory('why');
    watch = startWatch();
  });

  afterAll(async () => {
    watch?.kill('SIGTERM');
    await watch;
    await cluster?.stop();
    await stopUdev?.();
    await folder?.remove();
  });

  const inPhase = (name: string, phase: string) =>
    until(`${name} ${phase}`, async () => {
      const volume = await cluster.client.get<Volume>(VOLUMES, name);
      return volume.status?.phase === phase ? volume : undefined;
    });

  const create = (name: string, storageClassName: string) => {
    const volume = sparseVolume(name, 'n1', '10Mi');
    const { spec } = volume;
    const sparseLoopDevice = { size: '10Mi', directory: folder.path };
    return cluster.client.create(VOLUMES, {
      ...volume,
      spec: { ...spec, storageClassName, sparseLoopDevice },
    });
  };

  const why = async (name: string): Promise<Blocker & { nothing?: string }> =>
    JSON.parse((await shell(`stowage why volume/${name} -o json`)).stdout);

  /** Applies a fix. `edit` is the user's change to the file that the first command writes. */
  async function follow({ fix }: Blocker, edit?: string): Promise<void> {
    if (fix?.manifest !== undefined) await shell('kubectl create -f -', stringify(fix.manifest));
    const [first = 'false', ...rest] = fix?.run ?? [];
    await shell(first);
    if (edit !== undefined) await shell(edit);
    for (const line of rest) await shell(line);
  }

  const remove = (name: string) => shell(`stowage delete volume ${name} --wait --timeout 120s`);

  test('StorageClassMissing: creates the missing class', async () => {
    await create('y1', 'other');
    await inPhase('y1', 'Failed');
    const diagnosis = await why('y1');
    expect(diagnosis).toMatchObject({
      cause: 'StorageClassMissing',
      holdup: 'its storage class other does not exist',
    });
    await follow(diagnosis);
    await inPhase('y1', 'Available');
    expect((await why('y1')).nothing).toContain('no claim is bound to it yet');
    await remove('y1');
  });

  test('NameTaken: frees the name of the PersistentVolume', async () => {
    const pv: PersistentVolume = {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'y2' },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        local: { path: '/srv' },
        nodeAffinity: onNode('n1'),
      },
    };
    await cluster.client.create(PERSISTENT_VOLUMES, pv);
    await create('y2', 'local');
    await inPhase('y2', 'Failed');
    const diagnosis = await why('y2');
    expect(diagnosis.cause).toBe('NameTaken');
    expect(diagnosis.holdup).toContain(
      'PersistentVolume y2 exists and does not belong to this Volume',
    );
    await follow(diagnosis);
    await inPhase('y2', 'Available');
    await remove('y2');
  });

  test('StorageClassInvalid: corrects the mkfs options of the class', async () => {
    const parameters = { fsType: 'ext4', mkfsOptions: '["-U", "x"]' };
    const { metadata: _, ...local } = await cluster.client.get<StorageClass>(
      STORAGE_CLASSES,
      'local',
    );
    await cluster.client.create(STORAGE_CLASSES, {
      ...local,
      metadata: { name: 'bad' },
      parameters,
    });
    await create('y3', 'bad');
    await inPhase('y3', 'Failed');
    const diagnosis = await why('y3');
    expect(diagnosis.cause).toBe('StorageClassInvalid');
    expect(diagnosis.holdup).toContain('"-U" is not allowed');
    await follow(diagnosis, `sed -i 's/"-U", "x"/"-m", "0"/' class.yaml`);
    await inPhase('y3', 'Available');
    await remove('y3');
  });

  test('InvalidSpec: corrects the spec', async () => {
    const volume = sparseVolume('y4', 'n1', '0');
    const { spec } = volume;
    const sparseLoopDevice = { size: '0', directory: folder.path };
    await cluster.client.create(VOLUMES, { ...volume, spec: { ...spec, sparseLoopDevice } });
    await inPhase('y4', 'Failed');
    const diagnosis = await why('y4');
    expect(diagnosis.cause).toBe('InvalidSpec');
    expect(diagnosis.holdup).toContain('must be greater than 0');
    await follow(diagnosis, `sed -i 's/size: .*/size: 10Mi/' volume.yaml`);
    await inPhase('y4', 'Available');
    await remove('y4');
  });
});
