import { expect, test } from '@jest/globals';
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from '../../../src/api/core.ts';
import type { KubeObject, Resource } from '../../../src/api/meta.ts';
import type { Volume } from '../../../src/api/volume.ts';
import { createReclaimer } from '../../../src/controllers/provisioner/reclaimer.ts';
import { ApiError } from '../../../src/kube/errors.ts';
import { memoryLogger } from '../../support/logger.ts';
import { claim, storageClass as storageClassOf, volume } from './claim-input.ts';

type Deps = Parameters<typeof createReclaimer>[0];

const owned = volume({ metadata: { ...volume().metadata, uid: 'u-volume' } });
const { name } = owned.metadata;
const pv = (policy = 'Delete') =>
  ({
    metadata: { name, ownerReferences: [{ uid: 'u-volume' }] },
    spec: { persistentVolumeReclaimPolicy: policy },
    status: { phase: 'Released' },
  }) as PersistentVolume;
const other: PersistentVolumeClaim = {
  ...claim(),
  metadata: { ...claim().metadata, uid: 'u-other' },
};

interface Scene {
  cached?: PersistentVolumeClaim;
  live?: PersistentVolumeClaim;
  livePv?: PersistentVolume;
  acts?: boolean;
  volume?: Volume;
  storageClass?: StorageClass;
}

/**
 * Runs the reclaimer for a Volume with a released PersistentVolume.
 * @returns the requests that it sent
 */
async function reclaim({
  cached,
  live,
  livePv = pv(),
  acts = true,
  volume: of = owned,
  storageClass,
}: Scene): Promise<string[]> {
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
      patch: async (resource: Resource, of: string, patch: object) => {
        sent.push(`patch ${resource.kind} ${of} ${JSON.stringify(patch)}`);
      },
      delete: async (resource: Resource, of: string, { uid }: { uid?: string }) => {
        sent.push(`delete ${resource.kind} ${of} ${uid}`);
      },
    },
    claims: cacheOf(cached),
    volumes: cacheOf(of),
    storageClasses: cacheOf(storageClass),
    persistentVolumes: cacheOf(pv()),
    clonesOf: () => [],
    managesNode: () => acts,
    logger: memoryLogger(),
  } as unknown as Deps;
  await createReclaimer(deps)(name, new AbortController().signal);
  return sent;
}

const DELETED = [`delete Volume ${name} u-volume`];

test.each<[string, Scene, string[]]>([
  ['is gone is deleted by UID', {}, DELETED],
  ['was recreated in the cache is deleted', { cached: other }, DELETED],
  ['was recreated in the API server is deleted', { live: other }, DELETED],
  ['exists stays', { cached: claim() }, []],
  ['exists only in the API server stays', { live: claim() }, []],
  ['is gone stays if its PersistentVolume has Retain by now', { livePv: pv('Retain') }, []],
  ['is gone stays if another process manages its node', { acts: false }, []],
])('a Volume whose claim %s', async (_, scene, sent) => {
  expect(await reclaim(scene)).toEqual(sent);
});

/** Returns a Volume of a class with reclaim policy Retain, in a volume group. */
const retained = (mode: 'Block' | 'Filesystem', thinPool?: string): Volume => {
  const { sparseLoopDevice: _, template, ...spec } = owned.spec;
  return {
    ...owned,
    spec: {
      ...{ ...spec, mode, onDelete: 'Retain' },
      lvmLogicalVolume: { vgName: 'vg0', size: '2Gi', ...(thinPool && { thinPool }) },
      template: {
        ...template,
        spec: { ...template?.spec, persistentVolumeReclaimPolicy: 'Retain' },
      },
    },
  };
};
const classOf = (parameters: Record<string, string>) =>
  storageClassOf({ parameters: { type: 'lvm', vgName: 'vg0', ...parameters } });

test.each<[string, Scene, 'Delete' | 'Wipe']>([
  ['a file system', { volume: retained('Filesystem'), storageClass: classOf({}) }, 'Delete'],
  [
    'a class that wipes',
    { volume: retained('Filesystem'), storageClass: classOf({ onDelete: 'Wipe' }) },
    'Wipe',
  ],
  ['mode Block without its class', { volume: retained('Block') }, 'Wipe'],
  ['mode Block in a thin pool', { volume: retained('Block', 'p') }, 'Delete'],
])(
  'a retained Volume that is deleted after all uses onDelete of its class: %s',
  async (_, scene, onDelete) => {
    const patch = { metadata: { uid: 'u-volume' }, spec: { onDelete } };
    expect(await reclaim(scene)).toEqual([
      `patch Volume ${name} ${JSON.stringify(patch)}`,
      ...DELETED,
    ]);
  },
);
