import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import type { KubeNode } from '../../../src/api/core.ts';
import { NODES, VOLUMES } from '../../../src/api/resources.ts';
import type { Volume } from '../../../src/api/volume.ts';
import { quote } from '../../../src/nodes/quote.ts';
import { sparseVolume, startCluster, type TestCluster } from '../../support/cluster.ts';
import { describeAsRoot } from '../../support/root.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { ensureUdev } from '../../support/udev.ts';
import { until } from '../../support/until.ts';
import { expectDiagnosis, type Person, person } from '../../support/why.ts';
import { installSalt } from './install.ts';
import { allowedFor, flagsFor, type Salt, startSalt } from './salt.ts';

/**
 * Problems between the daemon and a node behind Salt. Each is caused, then fixed by the commands
 * that `why` prints.
 */
describeAsRoot('why, for problems of Salt', () => {
  let cluster: TestCluster;
  let salt: Salt;
  let folder: { path: string; remove(): Promise<void> };
  let watch: ReturnType<typeof startWatch>;
  let someone: Person;
  let undoUdev: (() => Promise<void>) | undefined;

  const startWatch = () =>
    execa('bin/stowage', ['watch', ...flagsFor(salt), '--retry-interval-max', '2s'], {
      env: { KUBECONFIG: cluster.kubeconfig },
      reject: false,
    });
  const modules = () => join(salt.folder, 'stowage', '_modules');
  const started = () => join(folder.path, 'started');

  beforeAll(async () => {
    undoUdev = await ensureUdev();
    cluster = await startCluster();
    folder = await temporaryDirectory('why-salt');
    salt = await startSalt({ minions: ['n1'], allowed: allowedFor(folder.path) });
    await cluster.client.create<KubeNode>(NODES, {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n1', labels: { 'kubernetes.io/hostname': 'n1' } },
    });
    someone = await person(cluster.kubeconfig);
    // A `salt` command with the configuration of the test's salt-master.
    const { python, path } = await installSalt();
    const code =
      "import sys; from salt.scripts import salt_main; sys.argv[0] = 'salt_main'; salt_main()";
    const config = quote(join(salt.folder, 'master'));
    const environment = `PYTHONPATH=${quote(path)} PYTHONWARNINGS=ignore`;
    await someone.program(
      'salt',
      `${environment} exec ${python} -c ${quote(code)} -c ${config} "$@"`,
    );
    // The node has no systemd here: the test starts the requested unit.
    await someone.program(
      'ssh',
      `[ "$*" = "n1 systemctl start salt-minion" ] && touch ${quote(started())}.asked
      until [ -e ${quote(started())} ]; do sleep 0.1; done`,
    );
    watch = startWatch();
  });
  afterAll(async () => {
    watch?.kill('SIGTERM');
    await watch;
    await salt?.stop();
    await cluster?.stop();
    await someone?.leave();
    await undoUdev?.();
    await folder?.remove();
  });

  const create = (name: string) => {
    const volume = sparseVolume(name, 'n1', '10Mi');
    const sparseLoopDevice = { size: '10Mi', directory: folder.path };
    return cluster.client.create(VOLUMES, {
      ...volume,
      spec: { ...volume.spec, sparseLoopDevice },
    });
  };
  const isAvailable = (name: string) =>
    until(`${name} Available`, async () => {
      const volume = await cluster.client.get<Volume>(VOLUMES, name);
      return volume.status?.phase === 'Available' ? volume : undefined;
    });
  const remove = (name: string) =>
    someone.shell(`stowage delete volume ${name} --wait --timeout 50s`);

  test('reports SaltModuleMissing for a minion without the module', async () => {
    await rename(modules(), `${modules()}.away`);
    await salt.salt('n1', 'saltutil.sync_modules');
    await create('without');
    const said = await someone.untilCause('volume/without', 'SaltModuleMissing');
    expectDiagnosis(said, 'SaltModuleMissing', 'Volume without', 'Node n1');
    expect(said.fix?.run).toEqual(['salt n1 saltutil.sync_modules']);
    // Makes the module available on the salt-master, as the fix requires.
    await rename(`${modules()}.away`, modules());
    await someone.follow(said);
    await isAvailable('without');
    await remove('without');
  });

  test('reports SaltModuleOld for a minion with the module of another version', async () => {
    const module = join(modules(), 'stowage.py');
    const text = await readFile(module, 'utf8');
    await writeFile(module, text.replace(/^VERSION = .*$/m, 'VERSION = 0'));
    await salt.salt('n1', 'saltutil.sync_modules');
    await writeFile(module, text);
    await create('old');
    const said = await someone.untilCause('volume/old', 'SaltModuleOld');
    expectDiagnosis(said, 'SaltModuleOld', 'Volume old', 'Node n1');
    await someone.follow(said);
    await isAvailable('old');
    await remove('old');
  });

  test('reports MinionDown for a minion that does not answer', async () => {
    await salt.minion('n1').stop();
    const volume = sparseVolume('down', 'n1', '10Mi');
    const { sparseLoopDevice: _, ...spec } = volume.spec;
    const rawBlockDevice = { devicePath: '/dev/loop9999' };
    await cluster.client.create(VOLUMES, { ...volume, spec: { ...spec, rawBlockDevice } });
    const said = await someone.untilCause('volume/down', 'MinionDown');
    expectDiagnosis(said, 'MinionDown', 'Volume down', 'Node n1');
    const following = someone.follow(said);
    await until('the start of the minion is requested', () =>
      readFile(`${started()}.asked`).then(
        () => true,
        () => undefined,
      ),
    );
    await salt.minion('n1').start();
    await writeFile(started(), '');
    await following;
    // The daemon contacts the node again, which has no such device.
    expectDiagnosis(
      await someone.untilCause('volume/down', 'DeviceMissing'),
      'DeviceMissing',
      'Volume down',
    );
  });
});
