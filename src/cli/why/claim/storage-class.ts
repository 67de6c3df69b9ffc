import type { PersistentVolume, StorageClass } from '../../../api/core.ts';
import { DRIVER, PROVISIONED_BY_ANNOTATION } from '../../../api/names.ts';
import { claimOf } from '../../../model/claim-volume.ts';
import { dynamicClass } from '../../../model/dynamic-class.ts';
import { commandLine } from '../../lib/command-line.ts';
import { existingNames } from '../../lib/existing-names.ts';
import { foundIn } from '../../lib/read-result.ts';
import type { Blocker } from '../types.ts';
import type { ClaimFacts } from './facts.ts';

/**
 * Reports whether the claim's class is a mere name, which PersistentVolumes created by hand share:
 * these are bound without a class. Pure.
 */
export function isClassName({ claim, storageClass, supply }: ClaimFacts): boolean {
  const { storageClassName, dataSourceRef, dataSource } = claim.spec;
  if (!storageClassName || !('absent' in storageClass) || (dataSourceRef ?? dataSource) != null)
    return false;
  const isByHand = ({ metadata, spec }: PersistentVolume) =>
    spec.storageClassName === storageClassName &&
    metadata.annotations?.[PROVISIONED_BY_ANNOTATION] === undefined;
  return ((supply && foundIn(supply.pvs)) ?? []).some(isByHand);
}

/**
 * Reports a class that is missing, invalid, or of another provisioner, which does not fill volumes
 * from the claim's source. Pure.
 */
export function storageClass({
  claim,
  storageClass: read,
  classes = [],
  population,
  supply,
}: ClaimFacts): Blocker | undefined {
  const { name, namespace = '', creationTimestamp } = claim.metadata;
  const { storageClassName } = claim.spec;
  const since = creationTimestamp === undefined ? {} : { since: creationTimestamp };
  if (storageClassName === undefined) {
    return {
      cause: 'StorageClassMissing',
      holdup: 'it names no storage class, and there is no default one',
      ...since,
      next: { when: 'when there is a default class, within a minute' },
      fix: {
        say: 'Make a class the default, for example a new one, or name one in the claim.',
        run: ['stowage create storageclass NAME --dynamic --default'],
      },
    };
  }
  if ('absent' in read) {
    // Volumes created by hand name the class: one with a provisioner would not bind them.
    const isStatic = ((supply && foundIn(supply.volumes)) ?? []).some(
      (volume) =>
        volume.spec.storageClassName === storageClassName && claimOf(volume) === undefined,
    );
    const hint = existingNames(classes);
    return {
      cause: 'StorageClassMissing',
      holdup: `its storage class ${storageClassName} does not exist`,
      ...since,
      next: { when: 'when that class is created' },
      fix: {
        say: `Create the class.${hint && ` Or create the claim again with another class (${hint}).`}`,
        run: [
          commandLine(
            ...['stowage', 'create', 'storageclass', storageClassName],
            isStatic ? '--static' : '--dynamic',
          ),
        ],
      },
    };
  }
  const provisioner = foundIn(read)?.provisioner;
  const options = provisioner === DRIVER ? dynamicClass(foundIn(read) as StorageClass) : undefined;
  if (options !== undefined && 'problem' in options) {
    return {
      cause: 'StorageClassInvalid',
      holdup: options.problem,
      ...since,
      next: { when: 'when the class is replaced' },
      fix: {
        say: 'Delete the class, and create a corrected one: parameters of a class are immutable.',
        run: [
          commandLine('stowage', 'delete', 'storageclass', storageClassName),
          commandLine('stowage', 'create', 'storageclass', storageClassName, '--dynamic'),
        ],
      },
    };
  }
  // With a class of another provisioner, too, the claim waits for its populator.
  if (provisioner === undefined || provisioner === DRIVER || population !== undefined)
    return undefined;
  return {
    cause: 'ForeignProvisioner',
    holdup: `volumes of its storage class ${storageClassName} are provisioned by ${provisioner}, not by Stowage`,
    ...since,
    next: { when: `when ${provisioner} provisions one` },
    fix: {
      say: 'Check the events of the claim.',
      run: [commandLine('kubectl', 'describe', 'pvc', name, '-n', namespace)],
    },
  };
}
