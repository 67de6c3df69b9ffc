import type { PersistentVolumeClaim, StorageClass } from '../../../api/core.ts';
import { DRIVER, NO_PROVISIONER } from '../../../api/names.ts';
import { explain } from '../../../api/reasons.ts';
import { commandLine } from '../../lib/command-line.ts';
import { withoutAction } from '../obstruction.ts';
import type { Blocker } from '../types.ts';

/**
 * Reports a VolumeAttributesClass, which no volume of Stowage can have: no volume that is created
 * for the claim would ever be bound. Pure.
 */
export function refusedAttributes(
  { metadata, spec }: PersistentVolumeClaim,
  storageClass: StorageClass | undefined,
): Blocker | undefined {
  const { volumeAttributesClassName } = spec;
  const provisioner = storageClass?.provisioner;
  if (!volumeAttributesClassName || (provisioner !== DRIVER && provisioner !== NO_PROVISIONER))
    return undefined;
  const { name, namespace = '', creationTimestamp: since } = metadata;
  const why = explain('VolumeAttributesClassRefused', { class: volumeAttributesClassName });
  return {
    cause: 'AttributesClassRefused',
    reason: why.detail,
    holdup: withoutAction(why.message, why.detail),
    ...(since === undefined ? {} : { since }),
    next: { when: 'never: the claim must be created again' },
    fix: {
      say: 'Create the claim again without volumeAttributesClassName.',
      run: [commandLine('kubectl', 'delete', 'pvc', name, '-n', namespace)],
    },
  };
}
