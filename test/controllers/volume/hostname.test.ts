import { expect, test } from '@jest/globals';
import type { KubeNode, PersistentVolume } from '../../../src/api/core.ts';
import type { Volume, VolumeStatus } from '../../../src/api/volume.ts';
import {
  createVolumeReconciler,
  type VolumeReconcilerDeps,
} from '../../../src/controllers/volume/reconciler.ts';
import { nodeNamed } from '../../support/cluster-objects.ts';
import { pending, prepared } from '../../support/decisions.ts';
import { memoryLogger } from '../../support/logger.ts';
import { NOW, storageClass, volume } from '../../support/volume-input.ts';
import { onNode } from '../../support/volumes.ts';

const NAME = 'n1.example.com';

/** Returns a Node; without `hostname`, it has no such label. */
const labeled = (name: string, hostname?: string): KubeNode => ({
  ...nodeNamed(name),
  metadata: { name, ...(hostname && { labels: { 'kubernetes.io/hostname': hostname } }) },
});

/**
 * Reconciles a provisioned Volume of mode Block on the node.
 * @returns the affinities that were created, the status that was written, and the outcome
 */
async function reconciled(nodes: KubeNode[], attachableNodes?: string[]) {
  const it = volume(pending('PrepareVolume/DONE', { prepared: { ...prepared, node: NAME } }));
  it.spec = {
    ...{ ...it.spec, nodeName: NAME, mode: 'Block' },
    ...(attachableNodes && {
      ...{ attachPolicy: 'OnDemand', attachableNodes },
      sparseLoopDevice: { size: '1Gi', directory: '/srv/shared' },
    }),
  };
  const made: PersistentVolume[] = [];
  const written: (VolumeStatus | undefined)[] = [];
  const stop = new AbortController();
  let live = it;
  const cache = (object: () => unknown, list: unknown[] = []) => ({
    get: object,
    list: () => list,
    recordWrite() {},
  });
  const reconcile = createVolumeReconciler({
    volumes: {
      ...cache(() => live),
      recordWrite: (object: Volume) => {
        live = object;
      },
    },
    persistentVolumes: cache(() => undefined),
    storageClasses: cache(() => storageClass),
    nodes: cache((name?: unknown) => nodes.find((node) => node.metadata.name === name), nodes),
    client: {
      get: async () => live,
      patch: async (_: unknown, _name: string, { status }: Volume) => {
        written.push(status);
        return { ...live, status: { ...live.status, ...status } };
      },
      create: async (_: unknown, pv: PersistentVolume) => {
        made.push(pv);
        stop.abort();
        return pv;
      },
    },
    clock: { now: () => NOW, timeOfDay: () => NOW },
    loopNumbers: { ofOthers: () => new Set() },
    events: { event() {} },
    logger: memoryLogger(),
    managesNode: () => true,
    isMoving: () => false,
  } as unknown as VolumeReconcilerDeps);
  const outcome = await reconcile('data1', stop.signal).catch(() => undefined);
  return {
    made: made.map(({ spec }) => spec.nodeAffinity),
    reasons: written
      .flatMap((status) => status?.conditions ?? [])
      .map(({ detail }) => detail?.code),
    outcome,
  };
}

test('the PersistentVolume of a Volume selects the hostname label of its node', async () => {
  const nodes = [labeled(NAME, 'n1'), labeled('n2', 'n2')];
  expect(await reconciled(nodes)).toMatchObject({ made: [onNode('n1')], reasons: [] });
});

test.each<[string, KubeNode[], string[] | undefined, string]>([
  ['another Node has the label', [labeled(NAME, 'n1'), labeled('n2', 'n1')], undefined, 'Shared'],
  ['its Node does not exist yet', [labeled('n2', 'n2')], undefined, 'Missing'],
  ['its Node has no label yet', [labeled(NAME)], undefined, 'Missing'],
  ['one of several Nodes does not exist yet', [labeled(NAME, 'n1')], [NAME, 'n2'], 'Missing'],
])('no PersistentVolume is created while %s', async (_, nodes, several, code) => {
  expect(await reconciled(nodes, several)).toEqual({
    made: [],
    reasons: [`HostnameLabel${code}`],
    outcome: { requeueAfterMs: 30_000 },
  });
});
