import { beforeAll, describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../../src/api/meta.ts';
import { VOLUMES } from '../../src/api/resources.ts';
import { connect } from '../../src/kube/connect.ts';
import { ApiError } from '../../src/kube/errors.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { cleanUp, type Suite } from './server.ts';

/** Objects and changes that the schema and the rules of the Volume CRD accept. */
export const volumeCrd: Suite = (server) => {
  cleanUp(server, '/apis/storage.metalk8s.scality.com/v1alpha1/volumes');
  let client: KubeClient;
  beforeAll(async () => {
    ({ client } = await connect({ kubeconfig: server().kubeconfig }));
  });

  let count = 0;
  const create = (spec: object) => {
    count += 1;
    return client.create(VOLUMES, {
      apiVersion: 'storage.metalk8s.scality.com/v1alpha1',
      kind: 'Volume',
      metadata: { name: `v${count}` },
      spec: {
        nodeName: 'n1',
        storageClassName: 'fast',
        sparseLoopDevice: { size: '1Gi' },
        ...spec,
      },
    } as KubeObject);
  };
  /** Changes the spec. @returns the server's message if it refuses the change, or undefined */
  async function change(spec: object, patch: object): Promise<string | undefined> {
    const { metadata } = await create(spec);
    try {
      await client.patch(VOLUMES, metadata.name, { spec: patch });
      return undefined;
    } catch (error) {
      if (error instanceof ApiError && error.statusCode === 422) return error.message;
      throw error;
    }
  }

  describe('the server takes', () => {
    test.each<[string, object]>([
      [
        'a Volume of MetalK8s',
        { template: { metadata: { labels: { a: 'b' }, creationTimestamp: null }, spec: {} } },
      ],
      ['a numeric size', { sparseLoopDevice: { size: 1024 } }],
      ['no type', { sparseLoopDevice: null }],
      ['an unknown type', { sparseLoopDevice: null, tapeDevice: { size: '1Gi' } }],
      ['two types', { rawBlockDevice: { devicePath: '/dev/sdb' } }],
      ['an invalid size', { sparseLoopDevice: { size: '10GB' } }],
    ])('%s', async (_, spec) => {
      await expect(create(spec)).resolves.toMatchObject({ kind: 'Volume' });
    });

    test('and keeps a type that it does not know', async () => {
      const { metadata } = await create({ tapeDevice: { size: '1Gi' } });
      expect(await client.get(VOLUMES, metadata.name)).toHaveProperty(
        'spec.tapeDevice.size',
        '1Gi',
      );
    });
  });

  describe('the server refuses', () => {
    test.each<[string, object]>([
      ['no node', { nodeName: null }],
      ['no class', { storageClassName: null }],
      ['an unknown mode', { mode: 'Raw' }],
      ['a sparse file without a size', { sparseLoopDevice: {} }],
      ['an unknown onDelete', { onDelete: 'Keep' }],
    ])('%s', async (_, spec) => {
      await expect(create(spec)).rejects.toMatchObject({ statusCode: 422 });
    });
  });

  const sparse = (size: string | number, more: object = {}) => ({
    sparseLoopDevice: { size, ...more },
  });

  describe('may change', () => {
    test.each<[string, object, object]>([
      ['a size that grows', sparse('1Gi'), sparse('2Gi')],
      ['the notation of a size', sparse('1Gi'), sparse('1024Mi')],
      ['an integer into a quantity', sparse(1024), sparse('1Ki')],
      ['an integer that grows', sparse(1024), sparse(2048)],
      ['overwrite', {}, { overwrite: 'ext4' }],
      ['onDelete', { onDelete: 'Delete' }, { onDelete: 'Retain' }],
      ['attachPolicy', {}, { attachPolicy: 'OnDemand' }],
      // Otherwise such a Volume would keep its finalizer forever.
      ['other fields beside an invalid size', sparse('10GB'), { overwrite: 'ext4' }],
    ])('%s', async (_, spec, patch) => {
      expect(await change(spec, patch)).toBeUndefined();
    });
  });

  describe('may not change', () => {
    const lvm = { sparseLoopDevice: null, lvmLogicalVolume: { vgName: 'vg', size: '2Gi' } };
    const raw = { sparseLoopDevice: null, rawBlockDevice: { devicePath: '/dev/sdb' } };
    test.each<[string, object, object, string]>([
      ['the node', {}, { nodeName: 'n2' }, 'nodeName is immutable'],
      ['the class', {}, { storageClassName: 'slow' }, 'storageClassName is immutable'],
      ['a mode that was not set', {}, { mode: 'Block' }, 'mode is immutable'],
      ['a mode', { mode: 'Block' }, { mode: 'Filesystem' }, 'mode is immutable'],
      ['a mode to null', { mode: 'Block' }, { mode: null }, 'mode is immutable'],
      [
        'labels of the template',
        { template: { metadata: { labels: { a: 'b' } } } },
        { template: { metadata: { labels: { a: 'c' } } } },
        'template is immutable',
      ],
      [
        'a template that was not set',
        {},
        { template: { spec: { a: 'b' } } },
        'template is immutable',
      ],
      [
        'nodes',
        { attachableNodes: ['a'] },
        { attachableNodes: ['a', 'b'] },
        'attachableNodes is immutable',
      ],
      [
        'attachPolicy beside nodes that share the volume',
        { attachPolicy: 'OnDemand', attachableNodes: ['a'] },
        { attachPolicy: 'Always' },
        'attachPolicy is immutable beside attachableNodes',
      ],
      [
        'attachPolicy to null beside nodes that share the volume',
        { attachPolicy: 'OnDemand', attachableNodes: ['a'] },
        { attachPolicy: null },
        'attachPolicy is immutable beside attachableNodes',
      ],
      ['nodes that were not set', {}, { attachableNodes: ['a'] }, 'attachableNodes is immutable'],
      [
        'a source',
        { source: { volumeName: 'a' } },
        { source: { volumeName: 'b' } },
        'source is immutable',
      ],
      ['a size that shrinks', sparse('2Gi'), sparse('1Gi'), 'sparseLoopDevice.size can only grow'],
      [
        'an integer that shrinks',
        sparse('1Ki'),
        sparse(1023),
        'sparseLoopDevice.size can only grow',
      ],
      ['a size into an invalid one', sparse('1Gi'), sparse('10GB'), 'sparseLoopDevice.size'],
      ['a size that was invalid', sparse('10GB'), sparse('1Gi'), 'sparseLoopDevice.size'],
      [
        'a directory that was not set',
        sparse('1Gi'),
        sparse('1Gi', { directory: '/srv' }),
        'sparseLoopDevice.directory is immutable',
      ],
      [
        'a directory',
        sparse('1Gi', { directory: '/srv' }),
        { sparseLoopDevice: { directory: '/mnt' } },
        'sparseLoopDevice.directory is immutable',
      ],
      [
        'a mount that was not required',
        sparse('1Gi'),
        sparse('1Gi', { requireMount: true }),
        'sparseLoopDevice.requireMount is immutable',
      ],
      ['the type to null', {}, { sparseLoopDevice: null }, 'the type is immutable'],
      ['the type', {}, raw, 'the type is immutable'],
      [
        'a device',
        raw,
        { rawBlockDevice: { devicePath: '/dev/sdc' } },
        'rawBlockDevice is immutable',
      ],
      [
        'a volume group',
        lvm,
        { lvmLogicalVolume: { vgName: 'other' } },
        'lvmLogicalVolume.vgName is immutable',
      ],
      [
        'a thin pool',
        lvm,
        { lvmLogicalVolume: { thinPool: 'pool' } },
        'lvmLogicalVolume.thinPool is immutable',
      ],
      [
        'the size of a logical volume that shrinks',
        lvm,
        { lvmLogicalVolume: { size: '1Gi' } },
        'lvmLogicalVolume.size can only grow',
      ],
    ])('%s', async (_, spec, patch, message) => {
      expect(await change(spec, patch)).toContain(message);
    });
  });
};
