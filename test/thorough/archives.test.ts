import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { ARCHIVES, type Archive } from '../../src/api/builtins/archive.ts';
import type { KubeObject } from '../../src/api/meta.ts';
import { createLocalShell } from '../../src/nodes/local-shell.ts';
import { createShellExecutor } from '../../src/nodes/shell-executor.ts';
import { isAllGone } from '../support/all-gone.ts';
import { claimsOf, createClass, createNode } from '../support/claim-objects.ts';
import { type ClaimsCluster, startClaimsCluster } from '../support/claims-cluster.ts';
import { startController, type TestController } from '../support/controller.ts';
import { deviceMounts } from '../support/device-mounts.ts';
import { describeAsRoot } from '../support/root.ts';
import { allowSources, type SourceServer, startSourceServer } from '../support/source-server.ts';
import { type Member, tarOf } from '../support/tar.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { ensureUdev } from '../support/udev.ts';

const CONTENT = randomBytes(2 << 20);
const fromArchive = (name: string) => ({ apiGroup: ARCHIVES.group, kind: ARCHIVES.kind, name });

/** Claims that begin with the files of an archive, with the daemon's controllers in this process, a sandbox, and real loop devices. */
describeAsRoot('a claim that an archive is unpacked into', () => {
  let stopUdev: () => Promise<void>;
  let disk: Awaited<ReturnType<typeof temporaryFolder>>;
  let cluster: ClaimsCluster;
  let controller: TestController;
  let claims: ReturnType<typeof claimsOf>;
  let devices: ReturnType<typeof deviceMounts>;
  let server: SourceServer;
  let disallow: () => Promise<void>;

  beforeAll(async () => {
    stopUdev = await ensureUdev();
  });
  afterAll(() => stopUdev?.());

  beforeEach(async () => {
    disk = await temporaryFolder('archives');
    await mkdir(place());
    devices = deviceMounts(disk.path);
    server = await startSourceServer();
    disallow = await allowSources('allow-address 127.0.0.1');
    cluster = await startClaimsCluster({ crossNamespace: true });
    claims = claimsOf(cluster.client, { storageClassName: 'fast', size: '64Mi' });
    await createNode(cluster.client, 'n1');
    controller = await startController(cluster.client, {
      executor: createShellExecutor(createLocalShell(['n1'])),
      retry: { startMs: 200, maxMs: 2000 },
      provisioning: { namespace: 'default', crossNamespace: true, snapshotController: 'builtin' },
    });
    await createClass(cluster.client, 'fast', place(), 'ext4');
    const { code, err } = await cluster.stowage(['register', 'populator', 'archive', '--node', 'Archive']);
    expect([code, err]).toEqual([0, '']);
  });

  afterEach(async () => {
    await controller?.stop();
    await cluster?.stop();
    await devices?.clean();
    await server?.stop();
    await disallow?.();
    await disk?.remove();
  });

  const place = () => join(disk.path, 'volumes');

  async function createArchive(name: string, spec: Omit<Archive['spec'], 'source'>): Promise<void> {
    const archive: Archive = {
      ...{ apiVersion: `${ARCHIVES.group}/${ARCHIVES.version}`, kind: ARCHIVES.kind },
      ...{
        metadata: { name, namespace: 'prod' },
        spec: { source: { url: server.url(`/${name}`) }, ...spec },
      },
    };
    await cluster.client.create<KubeObject>(ARCHIVES, archive, { namespace: 'prod' });
  }

  test('has its files, and all goes with the claim', async () => {
    const members: Member[] = [
      { name: './', type: 'folder', mode: 0o750 },
      { name: './bin/', type: 'folder', mode: 0o755 },
      { name: './bin/su', data: CONTENT, mode: 0o4711 },
    ];
    server.paths.set('/good', gzipSync(tarOf(members)));
    await createArchive('good', { compression: 'gzip', allowSetuid: true });
    await claims.create('prod/files', { dataSourceRef: fromArchive('good') });
    const { spec } = await claims.isBound('prod/files');
    const path = await devices.mount(spec.local?.path ?? '', 'files');
    expect((await readFile(join(path, 'bin/su'))).equals(CONTENT)).toBe(true);
    expect((await stat(join(path, 'bin/su'))).mode & 0o7777).toBe(0o4711);
    expect((await stat(path)).mode & 0o7777).toBe(0o750);
    await devices.unmount();
    await claims.remove('prod/files');
    await isAllGone(cluster.client, place());
  });

  test.each<[string, Member, object, string]>([
    ['a name with ..', { name: '../evil', data: 'x' }, {}, 'names that lead out of the volume'],
    ['a device', { name: 'sda', type: 'block device', device: [8, 0] }, {}, 'has a device file'],
    ['a setuid program', { name: 'su', data: 'x', mode: 0o4755 }, {}, 'setuid or setgid program'],
    [
      'a claim of mode Block',
      { name: 'a', data: 'x' },
      { volumeMode: 'Block' },
      'a claim of mode Filesystem',
    ],
  ])('is refused with %s, never bound, and nothing is left', async (_what, member, claim, message) => {
    server.paths.set('/bad', tarOf([member]));
    await createArchive('bad', {});
    await claims.create('prod/claim', { dataSourceRef: fromArchive('bad'), ...claim });
    await claims.isTold('prod/claim', message);
    expect((await claims.get('prod/claim')).status?.phase).toBe('Pending');
    expect(await readdir(place()).catch(() => [])).toEqual([]);
    await claims.remove('prod/claim');
    await isAllGone(cluster.client, place());
  });
});
