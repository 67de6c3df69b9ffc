import { expect, test } from '@jest/globals';
import type { CsiStorageCapacity, KubeNode } from '../../src/api/core.ts';
import type { KubeObject } from '../../src/api/meta.ts';
import type { Change } from '../../src/kube/store.ts';
import {
  type ClaimControllerDeps,
  createClaimController,
} from '../../src/manager/claim-controller.ts';
import { nodeNamed } from '../support/cluster-objects.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { memoryLogger } from '../support/logger.ts';
import { classNamed } from '../support/volumes.ts';

const labeled = (name: string, hostname: string): KubeNode => {
  const node = nodeNamed(name);
  return {
    ...node,
    metadata: { ...node.metadata, labels: { 'kubernetes.io/hostname': hostname } },
  };
};

const capacityOn = (hostname: string): CsiStorageCapacity => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSIStorageCapacity',
  metadata: { name: 'c', namespace: 'stowage' },
  storageClassName: 'fast',
  nodeTopology: { matchLabels: { 'kubernetes.io/hostname': hostname } },
});

function controller() {
  const cache = <T extends KubeObject>(objects: T[] = []) => {
    const handlers: ((change: Change<T>) => void)[] = [];
    return {
      get: () => undefined,
      list: () => objects,
      onChange: (handler: (change: Change<T>) => void) => handlers.push(handler),
      send: (change: Change<T>) => {
        for (const handler of handlers) handler(change);
      },
    };
  };
  const nodes = cache<KubeNode>();
  const capacities = cache<CsiStorageCapacity>();
  const { capacityQueue } = createClaimController({
    ...{ claims: cache(), volumes: cache(), persistentVolumes: cache(), pods: cache() },
    storageClasses: cache([classNamed('fast', { provisioner: 'volume.stowage.dev' })]),
    ...{ nodes, capacities },
    clock: new FakeClock(),
    random: () => 0,
    logger: memoryLogger(),
    managesNode: () => true,
  } as unknown as ClaimControllerDeps);
  const queued = async (): Promise<string[]> => {
    const keys: string[] = [];
    while (capacityQueue.depth() > 0) {
      const key = (await capacityQueue.get()) ?? '';
      capacityQueue.done(key);
      keys.push(key);
    }
    return keys;
  };
  return { nodes, capacities, queued };
}

test('a changed capacity is restored for the node with its hostname label', async () => {
  const { nodes, capacities, queued } = controller();
  nodes.send({ type: 'added', object: labeled('n1.example.com', 'n1') });
  await queued();
  capacities.send({ type: 'deleted', object: capacityOn('n1') });
  capacities.send({ type: 'deleted', object: capacityOn('n1.example.com') });
  expect(await queued()).toEqual(['fast/n1.example.com']);
});

test('the capacities of a node are published again when its hostname label changes', async () => {
  const { nodes, queued } = controller();
  const old = labeled('n1.example.com', 'n1.example.com');
  nodes.send({ type: 'added', object: old });
  await queued();
  nodes.send({ type: 'updated', old, object: { ...old } });
  expect(await queued()).toEqual([]);
  nodes.send({ type: 'updated', old, object: labeled('n1.example.com', 'n1') });
  expect(await queued()).toEqual(['fast/n1.example.com']);
});
