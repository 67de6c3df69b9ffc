import type { StorageClass } from '../../api/core.ts';
import { defaultAnnotationsOf } from '../../api/default-class.ts';
import { DRIVER, NO_PROVISIONER } from '../../api/names.ts';

/** As in `No storage classes of Volumes found`. */
export const CLASSES_OF_VOLUMES = 'storage classes of Volumes';

/** Ways of provisioning, by the provisioner of a class that Volumes can have. */
export const PROVISIONING: Readonly<Record<string, string>> = {
  [DRIVER]: 'dynamic',
  [NO_PROVISIONER]: 'static',
};

/** Reports whether Volumes can have a class. */
export const isOfVolumes = ({ provisioner }: StorageClass): boolean =>
  Object.hasOwn(PROVISIONING, provisioner);

/** Reports whether claims without a class get this one. */
export const isDefault = (found: StorageClass): boolean => defaultAnnotationsOf(found).length > 0;
