import { DRIVER } from '../../../api/names.ts';
import { foundIn } from '../../volume/reading.ts';
import { commandLine } from '../command-line.ts';
import type { Holdup } from '../types.ts';
import type { ClaimKnown } from './known.ts';

/** It has no class, one that does not exist, or one of others. */
export function storageClass({ claim, storageClass: read }: ClaimKnown): Holdup | undefined {
  const { name, namespace = '', creationTimestamp } = claim.metadata;
  const { storageClassName } = claim.spec;
  const since = creationTimestamp === undefined ? {} : { since: creationTimestamp };
  if (storageClassName === undefined) {
    return {
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
  if (provisioner === undefined || provisioner === DRIVER) return undefined;
  return {
    holdup: `volumes of its storage class ${storageClassName} are made by ${provisioner}, and not by Stowage`,
    ...since,
    next: { when: `when ${provisioner} makes one` },
    fix: {
      say: 'See what that says of the claim.',
      run: [commandLine('kubectl', 'describe', 'pvc', name, '-n', namespace)],
    },
  };
}
