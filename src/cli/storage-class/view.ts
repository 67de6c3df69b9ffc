import { age } from '../../api/age.ts';
import type { StorageClass } from '../../api/core.ts';
import { DRIVER } from '../../api/names.ts';
import { STORAGE_CLASSES } from '../../api/resources.ts';
import { fsTypeOf } from '../../model/class-options.ts';
import { dynamicClass } from '../../model/dynamic-class.ts';
import { getObjects } from '../lib/get/get-objects.ts';
import type { ResourceView } from '../lib/get/resource-view.ts';
import { nameIn } from '../lib/objects/name.ts';
import { listOf } from '../lib/output/data.ts';
import { ageKey } from '../lib/output/sort-keys.ts';
import { CLASSES_OF_VOLUMES, isDefault, isOfVolumes, PROVISIONING } from './served.ts';

const name = ({ metadata }: StorageClass) => metadata.name;

const kind = (each: StorageClass) =>
  isOfVolumes(each) ? PROVISIONING[each.provisioner] : each.provisioner;

/** Returns where volumes of a dynamic class are: a directory, VG or VG/POOL. */
function storage(storageClass: StorageClass): string | undefined {
  if (storageClass.provisioner !== DRIVER) return undefined;
  const read = dynamicClass(storageClass);
  if ('problem' in read) return 'invalid';
  const { place } = read;
  if (place.type === 'sparse') return place.directory;
  return place.thinPool === undefined ? place.vgName : `${place.vgName}/${place.thinPool}`;
}

/** Returns the type of the file system, if a parameter states it. */
function fsType({ parameters = {} }: StorageClass): string | undefined {
  const stated = fsTypeOf(parameters);
  if ('problem' in stated) return 'invalid';
  return stated.parameter === undefined ? undefined : stated.type;
}

/** View of `stowage get storageclasses`: classes that Volumes can have. */
export const STORAGE_CLASS_VIEW: ResourceView<StorageClass> = {
  plural: CLASSES_OF_VOLUMES,
  filters: ['selector'],
  columns: [
    ['NAME', (each) => `${name(each)}${isDefault(each) ? ' (default)' : ''}`],
    ['KIND', kind],
    ['STORAGE', storage],
    ['FSTYPE', fsType],
    ['RECLAIMPOLICY', ({ reclaimPolicy }) => reclaimPolicy],
    ['BINDINGMODE', ({ volumeBindingMode }) => volumeBindingMode],
    ['AGE', ({ metadata }, now) => age(metadata.creationTimestamp, now)],
    ['MOUNTOPTIONS', ({ mountOptions }) => mountOptions?.join(), 'wide'],
    ['MKFSOPTIONS', ({ parameters }) => parameters?.mkfsOptions, 'wide'],
  ],
  keyOf: name,
  nameOf: (each) => nameIn(STORAGE_CLASSES, name(each)),
  sort: {
    by: { name, age: ({ metadata }) => ageKey(metadata.creationTimestamp) },
    ties: [name],
    standard: 'name',
  },
  list: listOf,
  get: (request) =>
    getObjects(request, {
      resource: STORAGE_CLASSES,
      isWanted: isOfVolumes,
    }),
};
