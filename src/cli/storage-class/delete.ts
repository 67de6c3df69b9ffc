import type { PersistentVolume, StorageClass } from '../../api/core.ts';
import { StowageError } from '../../api/errors.ts';
import { DRIVER } from '../../api/names.ts';
import { PERSISTENT_VOLUMES, STORAGE_CLASSES, VOLUMES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import { listAll } from '../../kube/client.ts';
import type { KubeClient } from '../../kube/types.ts';
import { isPvOf } from '../../model/persistent-volume.ts';
import type { Io } from '../lib/io.ts';
import {
  type ClassKind,
  type DeleteClassFlags,
  deleteClasses,
  listNeeding,
  useUnknown,
} from '../lib/objects/delete-classes.ts';
import { type Reading, reading } from '../lib/read-result.ts';
import { CLASSES_OF_VOLUMES, isDefault, isOfVolumes } from './served.ts';

/** Objects that use storage classes. */
interface Uses {
  volumes: readonly Volume[];
  /** Volumes without a PersistentVolume that wait for their class. */
  waiting: readonly Volume[];
  /** Set if the user may not read PersistentVolumes: `waiting` has Volumes that may have one. */
  pvsForbidden?: Extract<Reading<unknown>, { forbidden: unknown }>;
}

/** Runs `stowage delete storageclass`. Throws a StowageError. */
export const deleteStorageClasses = (
  names: readonly string[],
  flags: DeleteClassFlags,
  io: Io,
  connect: () => Promise<KubeClient>,
): Promise<void> => deleteClasses(STORAGE_CLASS, names, flags, io, connect);

const STORAGE_CLASS: ClassKind<StorageClass, Uses> = {
  resource: STORAGE_CLASSES,
  words: { noun: 'storageclass', all: 'storage classes', example: 'local' },
  plural: CLASSES_OF_VOLUMES,
  async readUses(client, io) {
    const volumes = await listNeeding<Volume>(client, VOLUMES, STORAGE_CLASSES.kind, io);
    const pvs = await reading(
      listAll<PersistentVolume>(client, PERSISTENT_VOLUMES, { signal: io.signal }),
    );
    // A Volume's PersistentVolume has its name.
    const items = 'found' in pvs ? pvs.found.items : [];
    const named = new Map(items.map((pv) => [pv.metadata.name, pv]));
    const waiting = volumes.filter((volume) => {
      const pv = named.get(volume.metadata.name);
      return needsClass(volume) && !(pv !== undefined && isPvOf(pv, volume));
    });
    return { volumes, waiting, ...('forbidden' in pvs && { pvsForbidden: pvs }) };
  },
  isServed,
  refuseIfNeeded: ({ metadata }, uses) => refuseIfNeeded(metadata.name, uses),
  lostDefault: (found) =>
    isDefault(found) ? 'it is the default, which claims without a class get' : undefined,
  lost: ({ provisioner }) =>
    `new ${provisioner === DRIVER ? 'claims' : 'Volumes'} that name it wait until it is created again`,
};

/**
 * Reports whether a class is of Volumes. Other provisioners, too, have classes without a
 * provisioner, and nothing in such a class proves whose it is: only a Volume that names it does.
 */
function isServed(found: StorageClass, { volumes }: Uses): boolean | string {
  if (!isOfVolumes(found)) return false;
  const { name } = found.metadata;
  return found.provisioner === DRIVER || volumes.some(({ spec }) => spec.storageClassName === name)
    ? true
    : `StorageClass ${name} is not deleted unless it is named: no Volume names it, so it may be another provisioner's`;
}

/**
 * Reports whether a Volume without a PersistentVolume waits for its class. A failed one may wait
 * for another class of the name.
 */
const needsClass = ({ metadata, status }: Volume): boolean =>
  metadata.deletionTimestamp === undefined && status?.phase !== 'Failed';

/**
 * Throws a StowageError: `conflict` if one of the waiting Volumes needs the class, `forbidden` if
 * that is unknown.
 */
function refuseIfNeeded(name: string, { waiting, pvsForbidden }: Uses): void {
  const needing = waiting
    .filter(({ spec }) => spec.storageClassName === name)
    .map(({ metadata }) => metadata.name);
  const [first] = needing;
  if (first === undefined) return;
  if (pvsForbidden !== undefined) throw useUnknown(pvsForbidden, STORAGE_CLASSES.kind);
  const [who, until] =
    needing.length === 1
      ? [`Volume ${first} is not provisioned yet and needs it`, 'it is']
      : [
          `Volumes ${first} and ${needing.length - 1} more are not provisioned yet and need it`,
          'they are',
        ];
  throw new StowageError('conflict', `Storage class ${name} cannot be deleted: ${who}`, {
    hint: `Wait until ${until} Available, or see why ${first} is not: stowage why volume ${first}`,
  });
}
