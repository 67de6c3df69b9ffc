import { expect, test } from '@jest/globals';
import type { PersistentVolume, PersistentVolumeClaim } from '../../src/api/core.ts';
import type { KubeObject, Resource } from '../../src/api/meta.ts';
import { ApiError } from '../../src/kube/errors.ts';
import { createReclaimer } from '../../src/provisioning/claims/reclaimer.ts';
import { memoryLogger } from '../support/logger.ts';
import { claim, volume } from './claim-input.ts';

type Deps = Parameters<typeof createReclaimer>[0];

const owned = volume({ metadata: { ...volume().metadata, uid: 'u-volume' } });
const { name } = owned.metadata;
const pv = (policy = 'Delete') =>
  ({
    metadata: { name, ownerReferences: [{ uid: 'u-volume' }] },
    spec: { persistentVolumeReclaimPolicy: policy },
    status: { phase: 'Released' },
  }) as PersistentVolume;
const other: PersistentVolumeClaim = { ...claim(), metadata: { ...claim().metadata, uid: 'u-other' } };

interface Scene {
  cached?: PersistentVolumeClaim;
  live?: PersistentVolumeClaim;
  livePv?: PersistentVolume;
  acts?: boolean;
}

/** Runs the reclaimer for a Volume whose PersistentVolume is released. Returns the requests that it sent. */
async function reclaim({ cached, live, livePv = pv(), acts = true }: Scene): Promise<string[]> {
  const sent: string[] = [];
  const cacheOf = (object?: KubeObject) => ({ get: () => object });
  const deps = {
    client: {
      get: async (resource: Resource) => {
        const found = resource.kind === 'PersistentVolume' ? livePv : live;
        if (found === undefined) {
          throw new ApiError({ apiVersion: 'v1', kind: 'Status' } as never, 404, 'GET');
        }
        return found;
      },
      delete: async (resource: Resource, of: string, { uid }: { uid?: string }) => {
        sent.push(`delete ${resource.kind} ${of} ${uid}`);
      },
    },
    claims: cacheOf(cached),
    volumes: cacheOf(owned),
    persistentVolumes: cacheOf(pv()),
    clonesOf: () => [],
    actsFor: () => acts,
    logger: memoryLogger(),
  } as unknown as Deps;
  await createReclaimer(deps)(name, new AbortController().signal);
  return sent;
}

const DELETED = [`delete Volume ${name} u-volume`];

test.each<[string, Scene, string[]]>([
  ['is gone is deleted, and no other of its name', {}, DELETED],
  ['was deleted, with another claim of its name in the cache, is deleted', { cached: other }, DELETED],
  ['was deleted, with another claim of its name since, is deleted', { live: other }, DELETED],
  ['is there stays', { cached: claim() }, []],
  ['the cache does not have yet stays', { live: claim() }, []],
  ['is gone stays where its PersistentVolume is to be kept by now', { livePv: pv('Retain') }, []],
  ['is gone stays where another process acts for its node', { acts: false }, []],
])('a Volume whose claim %s', async (_, scene, sent) => {
  expect(await reclaim(scene)).toEqual(sent);
});
