import { expect, test } from '@jest/globals';
import type { PersistentVolume } from '../../../src/api/core.ts';
import {
  createVolumeReconciler,
  type VolumeReconcilerDeps,
} from '../../../src/controllers/volume/reconciler.ts';
import { nodeNamed } from '../../support/cluster-objects.ts';
import { pending, prepared } from '../../support/decisions.ts';
import { memoryLogger } from '../../support/logger.ts';
import { NOW, storageClass, volume } from '../../support/volume-input.ts';
import { onNode } from '../../support/volumes.ts';

test('the PersistentVolume of a Volume selects the hostname label of its node', async () => {
  const name = 'n1.example.com';
  const it = volume(pending('PrepareVolume/DONE', { prepared: { ...prepared, node: name } }));
  it.spec = { ...it.spec, nodeName: name };
  const node = nodeNamed(name);
  const made: PersistentVolume[] = [];
  const stop = new AbortController();
  const cache = (object: unknown) => ({ get: () => object, recordWrite() {} });
  const reconcile = createVolumeReconciler({
    volumes: cache(it),
    persistentVolumes: cache(undefined),
    storageClasses: cache(storageClass),
    nodes: cache({
      ...node,
      metadata: { ...node.metadata, labels: { 'kubernetes.io/hostname': 'n1' } },
    }),
    client: {
      get: async () => it,
      create: async (_: unknown, pv: PersistentVolume) => {
        made.push(pv);
        stop.abort();
        return pv;
      },
    },
    clock: { now: () => NOW },
    loopNumbers: { ofOthers: () => new Set() },
    events: { event() {} },
    logger: memoryLogger(),
    managesNode: () => true,
    isMoving: () => false,
  } as unknown as VolumeReconcilerDeps);
  await reconcile('data1', stop.signal).catch(() => {});
  expect(made.map(({ spec }) => spec.nodeAffinity)).toEqual([onNode('n1')]);
});
