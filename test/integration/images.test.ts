import { createHash, randomBytes } from 'node:crypto';
import { open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { IMAGES } from '../../src/api/builtins/image.ts';
import {
  POPULATOR_DEFINITIONS,
  REFERENCE_GRANTS,
  STORAGE_CLASSES,
  VOLUMES,
} from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import { systemClock } from '../../src/control/clock.ts';
import { createMetrics, type Metrics } from '../../src/daemon/metrics/metrics.ts';
import { createLocalShell } from '../../src/nodes/local-shell.ts';
import { createShellExecutor } from '../../src/nodes/shell-executor.ts';
import { isAllGone } from '../support/all-gone.ts';
import { claimsOf, createClass, createNode } from '../support/claim-objects.ts';
import { type ClaimsCluster, startClaimsCluster } from '../support/claims-cluster.ts';
import { startController, type TestController } from '../support/controller.ts';
import { deviceMounts } from '../support/device-mounts.ts';
import { createImage, fromImage } from '../support/images.ts';
import { describeAsRoot } from '../support/root.ts';
import { allowSources, type SourceServer, startSourceServer } from '../support/source-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { ensureUdev } from '../support/udev.ts';
import { until } from '../support/until.ts';

const MIB = 1 << 20;
const CONTENT = Buffer.concat([randomBytes(3 * MIB), Buffer.alloc(4 * MIB), randomBytes(MIB)]);
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** Claims that begin with an Image, with the daemon's controllers in this process, a sandbox, and real loop devices. */
describeAsRoot('a claim that is filled on its node', () => {
  let stopUdev: () => Promise<void>;
  let disk: Awaited<ReturnType<typeof temporaryFolder>>;
  let cluster: ClaimsCluster;
  let controller: TestController;
  let metrics: Metrics;
  let claims: ReturnType<typeof claimsOf>;
  let devices: ReturnType<typeof deviceMounts>;
  let server: SourceServer;
  let disallow: () => Promise<void>;

  beforeAll(async () => {
    stopUdev = await ensureUdev();
  });
  afterAll(() => stopUdev?.());

  beforeEach(async () => {
    disk = await temporaryFolder('images');
    devices = deviceMounts(disk.path);
    server = await startSourceServer();
    server.paths.set('/disk', CONTENT);
    server.paths.set('/disk.zst', zstdCompressSync(CONTENT));
    disallow = await allowSources('allow-address 127.0.0.1');
    cluster = await startClaimsCluster({ crossNamespace: true });
    claims = claimsOf(cluster.client, { storageClassName: 'fast', size: '64Mi' });
    await createNode(cluster.client, 'n1');
    metrics = createMetrics({ clock: systemClock, transportOf: () => 'ssh' });
    controller = await startController(cluster.client, {
      metrics,
      executor: createShellExecutor(createLocalShell(['n1'])),
      retry: { startMs: 200, maxMs: 2000 },
      provisioning: { namespace: 'default', crossNamespace: true, snapshotController: 'builtin' },
    });
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
  const createFast = () => createClass(cluster.client, 'fast', place(), 'ext4');
  const register = async () => {
    const { code, err } = await cluster.stowage(['register', 'populator', 'image', '--node', 'Image']);
    expect([code, err]).toEqual([0, '']);
  };
  /** What was filled, and what could not be. */
  const counted = async () => {
    const { body } = await metrics.read();
    return body
      .split('\n')
      .filter((line) => /^(volume_populator_operation_count|stowage_populated)/.test(line));
  };
  const files = () => readdir(place()).catch(() => []);

  /** What the volume's device begins with. */
  async function begins(path: string, bytes: number): Promise<Buffer> {
    const device = await open(path);
    try {
      return (await device.read(Buffer.alloc(bytes), 0, bytes, 0)).buffer;
    } finally {
      await device.close();
    }
  }

  test('has its bytes as a device, and as disk.img, and all goes with the claims', async () => {
    await createFast();
    await register();
    await createImage(cluster.client, 'prod/debian', {
      source: { url: server.url('/disk.zst'), sha256: sha256(zstdCompressSync(CONTENT)) },
    });
    await claims.create('prod/block', { volumeMode: 'Block', dataSourceRef: fromImage('debian') });
    const block = await claims.isBound('prod/block');
    expect(sha256(await begins(block.spec.local?.path ?? '', CONTENT.length))).toBe(sha256(CONTENT));

    await claims.create('prod/files', { dataSourceRef: fromImage('debian') });
    const { spec } = await claims.isBound('prod/files');
    const path = await devices.mount(spec.local?.path ?? '', 'files');
    expect(sha256(await readFile(join(path, 'disk.img')))).toBe(sha256(CONTENT));

    expect(await counted()).toEqual([
      'volume_populator_operation_count{operation_name="populate",result="success"} 2',
      `stowage_populated_bytes_total{class="fast"} ${2 * 64 * MIB}`,
    ]);
    const { out } = await cluster.stowage(['get', 'populators']);
    expect(out).toContain('(on the node, Image)');
    await devices.unmount();
    await claims.remove('prod/block');
    await claims.remove('prod/files');
    await isAllGone(cluster.client, place());
  });

  test('is bound in whatever order source, kind, class and grant come', async () => {
    await claims.create('test/late', { volumeMode: 'Block', dataSourceRef: fromImage('debian', 'prod') });
    await createFast();
    await claims.isTold('test/late', 'Assuming an external populator');
    await register();
    await claims.isTold('test/late', "isn't allowed");
    await cluster.client.create(
      REFERENCE_GRANTS,
      {
        ...{
          apiVersion: 'gateway.networking.k8s.io/v1',
          kind: 'ReferenceGrant',
          metadata: { name: 'images' },
        },
        spec: {
          from: [{ group: '', kind: 'PersistentVolumeClaim', namespace: 'test' }],
          to: [{ group: IMAGES.group, kind: IMAGES.kind }],
        },
      } as never,
      { namespace: 'prod' },
    );
    await claims.isTold('test/late', 'Image prod/debian does not exist');
    await createImage(cluster.client, 'prod/debian', { source: { url: server.url('/disk') } });
    await claims.isBound('test/late');
  });

  test('is refused for good, and told why: nothing is bound or left', async () => {
    await createFast();
    await register();
    await createImage(cluster.client, 'prod/wrong', {
      source: { url: server.url('/disk'), sha256: 'a'.repeat(64) },
    });
    await claims.create('prod/claim', { volumeMode: 'Block', dataSourceRef: fromImage('wrong') });
    await claims.isTold('prod/claim', 'its sha256 is');
    expect((await claims.get('prod/claim')).status?.phase).toBe('Pending');
    expect(await files()).toEqual([]);
    expect(await counted()).toEqual([
      'volume_populator_operation_count{operation_name="populate",result="error"} 1',
    ]);
    await claims.remove('prod/claim');
    await isAllGone(cluster.client, place());
  });

  test('is tried again where it may pass', async () => {
    await createFast();
    await register();
    await createImage(cluster.client, 'prod/debian', { source: { url: server.url('/later') } });
    await claims.create('prod/claim', { volumeMode: 'Block', dataSourceRef: fromImage('debian') });
    await claims.isTold('prod/claim', 'the server answered 404 Not Found');
    server.paths.set('/later', CONTENT);
    const { spec } = await claims.isBound('prod/claim');
    expect(sha256(await begins(spec.local?.path ?? '', CONTENT.length))).toBe(sha256(CONTENT));
  });

  test('is told how far it is, and deleted midway with all that it is from gone it leaves nothing', async () => {
    await createFast();
    await register();
    server.paths.set('/slow', (_request, response) => {
      response.writeHead(200, { 'Content-Length': 16 * MIB });
      response.write(randomBytes(4 * MIB));
    });
    await createImage(cluster.client, 'prod/slow', { source: { url: server.url('/slow') } });
    const { metadata } = await claims.create('prod/claim', {
      volumeMode: 'Block',
      dataSourceRef: fromImage('slow'),
    });
    const name = `pvc-${metadata.uid}`;
    await until('it is told how far it is', async () => {
      const volumes = (await cluster.client.list<Volume>(VOLUMES)).items;
      const status = volumes.find(({ metadata }) => metadata.name === name)?.status;
      return (
        status?.conditions?.some(({ message = '' }) => message.includes('25% (4 of 16 MiB)')) || undefined
      );
    });
    const why = await cluster.stowage(['why', 'pvc', 'prod/claim']);
    expect(why.out + why.err).toContain('fill it from Image prod/slow: 25% (4 of 16 MiB)');
    await cluster.client.delete(IMAGES, 'slow', { namespace: 'prod' });
    await cluster.client.delete(STORAGE_CLASSES, 'fast');
    await cluster.client.delete(POPULATOR_DEFINITIONS, 'image');
    await claims.remove('prod/claim');
    // Long before curl gives up a server that sends nothing any more.
    await isAllGone(cluster.client, place());
  });
});
