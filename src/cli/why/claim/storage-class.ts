import type { StorageClass } from '../../../api/core.ts';
import { DRIVER } from '../../../api/names.ts';
import { dynamicClass } from '../../../model/dynamic-class.ts';
import { commandLine } from '../../lib/command-line.ts';
import { foundIn } from '../../lib/read-result.ts';
import type { Blocker } from '../types.ts';
import type { ClaimFacts } from './facts.ts';

/**
 * Reports a class that is missing, invalid, or of another provisioner, which does not fill volumes
 * from the claim's source. Pure.
 */
export function storageClass({
  claim,
  storageClass: read,
  population,
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
        say: 'Make one the default, such as a new one, or name one in the claim.',
        run: ['stowage create storageclass NAME --dynamic --default'],
      },
    };
  }
  if ('absent' in read) {
    return {
      cause: 'StorageClassMissing',
      holdup: `its storage class ${storageClassName} does not exist`,
      ...since,
      next: { when: 'when that class is made' },
      fix: {
        say: 'Create the class.',
        run: [commandLine('stowage', 'create', 'storageclass', storageClassName, '--dynamic')],
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
      next: { when: 'once the class is another one' },
      fix: {
        say: 'A class cannot be changed: delete it, and create it again as it should be.',
        run: [
          commandLine('kubectl', 'delete', 'storageclass', storageClassName),
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
    holdup: `volumes of its storage class ${storageClassName} are made by ${provisioner}, and not by Stowage`,
    ...since,
    next: { when: `when ${provisioner} makes one` },
    fix: {
      say: 'See what that says of the claim.',
      run: [commandLine('kubectl', 'describe', 'pvc', name, '-n', namespace)],
    },
  };
}
