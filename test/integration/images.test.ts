import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { IMAGES } from '../../src/api/builtins/image.ts';
import {
  POPULATOR_DEFINITIONS,
  REFERENCE_GRANTS,
  STORAGE_CLASSES,
  VOLUMES,
} from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import { deviceClaims } from '../support/device-claims.ts';
import { createImage, fromImage } from '../support/images.ts';
import { describeAsRoot } from '../support/root.ts';
import { until } from '../support/until.ts';
import { person } from '../support/why.ts';

const MIB = 1 << 20;
const CONTENT = Buffer.concat([randomBytes(3 * MIB), Buffer.alloc(4 * MIB), randomBytes(MIB)]);
const XZ = execFileSync('xz', ['-c'], { input: CONTENT, maxBuffer: Infinity });
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/**
 * Claims that start from an Image, with the daemon's controllers in this process, a sandbox, and
 * real loop devices.
 */
describeAsRoot('a claim populated on its node', () => {
  const scene = deviceClaims();
  beforeEach(() => {
    scene.server.paths.set('/disk', CONTENT);
    scene.server.paths.set('/disk.xz', XZ);
    scene.server.paths.set('/page', Buffer.from('<!DOCTYPE html><title>404</title>'));
  });
  const register = () => scene.register('image', 'Image');
  const create = (name: string, path: string, source: { sha256?: string } = {}) =>
    createImage(scene.cluster.client, `prod/${name}`, {
      source: { url: scene.server.url(path), ...source },
    });
  /** Returns the counters of successful and failed fills. */
  const counted = async () => {
    const { body } = await scene.metrics.read();
    return body
      .split('\n')
      .filter((line) => /^(volume_populator_operation_count|stowage_populated)/.test(line));
  };
  const files = () => readdir(scene.volumes).catch(() => []);

  /** Returns the first bytes of the volume's device. */
  async function begins(path: string, bytes: number): Promise<Buffer> {
    const device = await open(path);
    try {
      return (await device.read(Buffer.alloc(bytes), 0, bytes, 0)).buffer;
    } finally {
      await device.close();
    }
  }

  test('has the image as a device or as disk.img, and leaves nothing when deleted', async () => {
    await scene.createFast();
    await register();
    await create('debian', '/disk.xz', { sha256: sha256(XZ) });
    await scene.claims.create('prod/block', {
      volumeMode: 'Block',
      dataSourceRef: fromImage('debian'),
    });
    const block = await scene.claims.isBound('prod/block');
    expect(sha256(await begins(block.spec.local?.path ?? '', CONTENT.length))).toBe(
      sha256(CONTENT),
    );

    await scene.claims.create('prod/files', { dataSourceRef: fromImage('debian') });
    const path = await scene.mounted('prod/files');
    expect(sha256(await readFile(join(path, 'disk.img')))).toBe(sha256(CONTENT));

    // Another test may take a loop device before an attempt attaches it: the next attempt uses
    // another one.
    expect((await counted()).filter((line) => !line.includes('result="error"'))).toEqual([
      'volume_populator_operation_count{operation_name="populate",result="success"} 2',
      `stowage_populated_bytes_total{class="fast"} ${2 * 64 * MIB}`,
    ]);
    const { out } = await scene.cluster.stowage(['get', 'populators']);
    expect(out).toContain('(on the node, Image)');
    await scene.devices.unmount();
    await scene.claims.remove('prod/block');
    await scene.claims.remove('prod/files');
    await scene.isAllGone();
  });

  test('is bound once class, populator, grant and source exist', async () => {
    await scene.claims.create('test/late', {
      volumeMode: 'Block',
      dataSourceRef: fromImage('debian', 'prod'),
    });
    await scene.createFast();
    await scene.claims.isTold('test/late', 'Assuming an external populator');
    await register();
    await scene.claims.isTold('test/late', "isn't allowed");
    await scene.cluster.client.create(
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
    await scene.claims.isTold('test/late', 'Image prod/debian does not exist');
    await create('debian', '/disk');
    await scene.claims.isBound('test/late');
  });

  test.each<[string, string, { sha256?: string }, string]>([
    ['a wrong checksum', '/disk', { sha256: 'a'.repeat(64) }, `is not ${'a'.repeat(64)}`],
    ['an HTML page', '/page', {}, 'begins like an HTML page'],
  ])(
    'with %s fails permanently with an event, is not bound, and leaves nothing',
    async (_what, path, source, told) => {
      await scene.createFast();
      await register();
      await create('wrong', path, source);
      await scene.claims.create('prod/claim', {
        volumeMode: 'Block',
        dataSourceRef: fromImage('wrong'),
      });
      await scene.claims.isTold('prod/claim', told);
      expect((await scene.claims.get('prod/claim')).status?.phase).toBe('Pending');
      expect(await files()).toEqual([]);
      expect(await counted()).toEqual([
        'volume_populator_operation_count{operation_name="populate",result="error"} 1',
      ]);
      await scene.claims.remove('prod/claim');
      await scene.isAllGone();
    },
  );

  test('with a wrong checksum is filled after the fix that `why` prints', async () => {
    await scene.createFast();
    await register();
    await create('wrong', '/disk', { sha256: 'a'.repeat(64) });
    await scene.claims.create('prod/claim', {
      volumeMode: 'Block',
      dataSourceRef: fromImage('wrong'),
    });
    const someone = await person(scene.cluster.kubeconfig);
    try {
      const said = await someone.untilCause('pvc prod/claim', 'Failed');
      expect(said.fix?.say).toContain('Image prod/wrong is immutable');
      await someone.follow(said, {
        between: `sed -i 's/${'a'.repeat(64)}/${sha256(CONTENT)}/' source.yaml`,
      });
    } finally {
      await someone.leave();
    }
    const { spec } = await scene.claims.isBound('prod/claim');
    expect(sha256(await begins(spec.local?.path ?? '', CONTENT.length))).toBe(sha256(CONTENT));
  });

  test('is retried after the server answered 404', async () => {
    await scene.createFast();
    await register();
    await create('debian', '/later');
    await scene.claims.create('prod/claim', {
      volumeMode: 'Block',
      dataSourceRef: fromImage('debian'),
    });
    await scene.claims.isTold('prod/claim', 'the server answered 404 Not Found');
    scene.server.paths.set('/later', CONTENT);
    const { spec } = await scene.claims.isBound('prod/claim');
    expect(sha256(await begins(spec.local?.path ?? '', CONTENT.length))).toBe(sha256(CONTENT));
  });

  test('reports its progress, and leaves nothing when deleted with its sources', async () => {
    await scene.createFast();
    await register();
    scene.server.paths.set('/slow', (_request, response) => {
      response.writeHead(200, { 'Content-Length': 16 * MIB });
      response.write(randomBytes(4 * MIB));
    });
    await create('slow', '/slow');
    const { metadata } = await scene.claims.create('prod/claim', {
      volumeMode: 'Block',
      dataSourceRef: fromImage('slow'),
    });
    const name = `pvc-${metadata.uid}`;
    await until('the condition reports the progress', async () => {
      const volumes = (await scene.cluster.client.list<Volume>(VOLUMES)).items;
      const status = volumes.find(({ metadata }) => metadata.name === name)?.status;
      return (
        status?.conditions?.some(({ message = '' }) => message.includes('25% (4 of 16 MiB)')) ||
        undefined
      );
    });
    const why = await scene.cluster.stowage(['why', 'pvc', 'prod/claim']);
    expect(why.out + why.err).toContain(
      'populate the volume from Image prod/slow: 25% (4 of 16 MiB)',
    );
    await scene.cluster.client.delete(IMAGES, 'slow', { namespace: 'prod' });
    await scene.cluster.client.delete(STORAGE_CLASSES, 'fast');
    await scene.cluster.client.delete(POPULATOR_DEFINITIONS, 'image');
    await scene.claims.remove('prod/claim');
    // Long before curl's timeout for a server that no longer sends.
    await scene.isAllGone();
  });
});
