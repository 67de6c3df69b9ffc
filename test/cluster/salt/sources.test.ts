import { createReadStream } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { ARCHIVES, type Archive } from '../../../src/api/builtins/archive.ts';
import type { Executor } from '../../../src/nodes/job.ts';
import { createSaltExecutor } from '../../../src/nodes/transport/salt/executor.ts';
import { createShellExecutor } from '../../../src/nodes/transport/shell-executor.ts';
import { createSshShell } from '../../../src/nodes/transport/ssh-shell.ts';
import { systemClock } from '../../../src/workqueue/clock.ts';
import { isAllGone } from '../../support/all-gone.ts';
import { claimsOf, createClass, createNode } from '../../support/claim-objects.ts';
import { type ClaimsCluster, startClaimsCluster } from '../../support/claims-cluster.ts';
import { startController, type TestController } from '../../support/controller.ts';
import { deviceMounts } from '../../support/device-mounts.ts';
import { createImage, fromImage } from '../../support/images.ts';
import { describeAsRoot } from '../../support/root.ts';
import { allowSources, type SourceServer, startSourceServer } from '../../support/source-server.ts';
import { startSshd } from '../../support/sshd.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { ensureUdev } from '../../support/udev.ts';
import { allowedFor, startSalt } from './salt.ts';

const MIB = 1 << 20;
const BYTES = 1024 * MIB;
const FILLED_WITHIN = 240_000;

/** Creates a disk of which half compresses well and an eighth is zeros. */
const MAKE = `set -e
cd "$1"
{ head -c 384M /dev/urandom; head -c 128M /dev/zero; yes stowage | head -c 512M; } >disk
sha256sum disk | cut -c 1-64 >disk.sum
zstd -q -1 disk -o disk.zst
qemu-img convert -f raw -O qcow2 disk disk.qcow2
mkdir files
for each in $(seq 500); do echo "$each" >"files/$each"; done
ln disk files/disk
tar -c --zstd -f files.tar.zst -C files .`;

/** Starts a connection to nodes: an executor, and the function that stops it. */
type Transport = (folder: string) => Promise<{ executor: Executor; stop(): Promise<void> }>;

const TRANSPORTS: [string, Transport][] = [
  [
    'ssh',
    async () => {
      const sshd = await startSshd({ nodes: ['n1'] });
      const shell = createSshShell({ configFile: sshd.configFile, addressOf: () => ({}) });
      return { executor: createShellExecutor(shell), stop: sshd.stop };
    },
  ],
  [
    'Salt',
    async (folder) => {
      const salt = await startSalt({
        minions: ['n1'],
        allowed: allowedFor(join(folder, 'volumes')),
      });
      const options = { access: salt.access, minionOf: (node: string) => node, clock: systemClock };
      return { executor: createSaltExecutor(options), stop: salt.stop };
    },
  ],
];

describeAsRoot.each(TRANSPORTS)(
  'a claim that is populated with 1 GiB on its node, over %s',
  (_, connect) => {
    const ends: (() => Promise<unknown>)[] = [];
    let folder: string;
    let cluster: ClaimsCluster;
    let controller: TestController;
    let claims: ReturnType<typeof claimsOf>;
    let devices: ReturnType<typeof deviceMounts>;
    let server: SourceServer;

    beforeAll(async () => {
      ends.push(await ensureUdev());
      const temporary = await temporaryDirectory('sources');
      folder = temporary.path;
      ends.push(temporary.remove);
      await mkdir(place());
      await execa('sh', ['-c', MAKE, 'sh', folder]);
      server = await startSourceServer();
      ends.push(server.stop);
      for (const name of ['disk', 'disk.zst', 'disk.qcow2', 'files.tar.zst']) {
        const { size } = await stat(join(folder, name));
        server.paths.set(`/${name}`, (_request, response) => {
          response.writeHead(200, { 'Content-Length': size });
          createReadStream(join(folder, name)).pipe(response);
        });
      }
      ends.push(await allowSources('allow-address 127.0.0.1'));
      devices = deviceMounts(folder);
      ends.push(devices.clean);
      const { executor, stop } = await connect(folder);
      ends.push(stop, () => executor.close());
      cluster = await startClaimsCluster({ crossNamespace: true });
      ends.push(cluster.stop);
      claims = claimsOf(cluster.client, {
        storageClassName: 'fast',
        size: '1200Mi',
        withinMs: FILLED_WITHIN,
      });
      await createNode(cluster.client, 'n1');
      controller = await startController(cluster.client, {
        executor,
        provisioning: { namespace: 'default', crossNamespace: true, snapshotController: 'builtin' },
      });
      ends.push(controller.stop);
      await createClass(cluster.client, 'fast', place(), 'ext4');
      for (const [name, builtin] of [
        ['image', 'Image'],
        ['archive', 'Archive'],
      ]) {
        const registered = await cluster.stowage([
          'register',
          'populator',
          `${name}`,
          '--node',
          `${builtin}`,
        ]);
        expect(registered).toMatchObject({ code: 0, err: '' });
      }
    });

    afterAll(async () => {
      for (const end of ends.splice(0).reverse()) await end();
    });

    const place = () => join(folder, 'volumes');
    const sumOf = async (path: string) => {
      const first = 'head -c "$2" "$1" | sha256sum | cut -c 1-64';
      return (await execa('sh', ['-c', first, 'sh', path, String(BYTES)])).stdout;
    };
    const wanted = async () => (await execa('cat', [join(folder, 'disk.sum')])).stdout;

    test.each([['disk'], ['disk.zst'], ['disk.qcow2']])(
      'contains the data of Image %s',
      async (name) => {
        const image = name.replace('.', '-');
        await createImage(cluster.client, `prod/${image}`, {
          source: { url: server.url(`/${name}`) },
          ...(name.endsWith('qcow2') ? { format: 'qcow2' } : {}),
        });
        await claims.create(`prod/${image}`, {
          volumeMode: 'Block',
          dataSourceRef: fromImage(image),
        });
        const { spec } = await claims.isBound(`prod/${image}`);
        expect(await sumOf(spec.local?.path ?? '')).toBe(await wanted());
        await claims.remove(`prod/${image}`);
        await isAllGone(cluster.client, place());
      },
      FILLED_WITHIN + 90_000,
    );

    test(
      'contains the files of Archive files.tar.zst',
      async () => {
        const archive: Archive = {
          ...{ apiVersion: `${ARCHIVES.group}/${ARCHIVES.version}`, kind: ARCHIVES.kind },
          metadata: { name: 'files', namespace: 'prod' },
          spec: { source: { url: server.url('/files.tar.zst') } },
        };
        await cluster.client.create(ARCHIVES, archive, { namespace: 'prod' });
        const dataSourceRef = { apiGroup: ARCHIVES.group, kind: ARCHIVES.kind, name: 'files' };
        await claims.create('prod/files', { dataSourceRef });
        const { spec } = await claims.isBound('prod/files');
        const path = await devices.mount(spec.local?.path ?? '', 'files');
        const { stdout } = await execa('diff', ['-rq', join(folder, 'files'), path], {
          reject: false,
        });
        expect(stdout).toBe(`Only in ${path}: lost+found`);
        await devices.unmount();
        await claims.remove('prod/files');
        await isAllGone(cluster.client, place());
      },
      FILLED_WITHIN + 90_000,
    );
  },
);
