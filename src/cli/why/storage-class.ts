import { isDnsSubdomain } from '../../api/dns-name.ts';
import { READY_REASON } from '../../api/names.ts';
import { readReason } from '../../api/reasons.ts';
import type { Condition, Volume } from '../../api/volume.ts';
import { claimOf } from '../../model/claim-volume.ts';
import { checkClass } from '../../model/class-options.ts';
import { commandLine, recreate, retry } from '../lib/command-line.ts';
import { existingNames } from '../lib/existing-names.ts';
import { readyOf } from '../lib/objects/volume-progress.ts';
import { sinceOf } from './state.ts';
import type { Blocker, Cause, Fix } from './types.ts';

const RETRY = { when: 'when it is retried, or its spec is changed' };

/** Reports a wrong class, which precedes other failures: it is checked before provisioning. */
export const storageClass: Cause = ({ volume, storageClass: reading, classes = [] }) => {
  const ready = readyOf(volume);
  if (ready?.reason !== READY_REASON.creationError) return undefined;
  const name = volume.spec.storageClassName;
  if ('absent' in reading) {
    return {
      cause: 'StorageClassMissing',
      holdup: `its storage class ${name} does not exist`,
      ...sinceOf(ready),
      next: RETRY,
      fix: isDnsSubdomain(name) ? createClass(volume, classes) : renameClass(volume),
    };
  }
  const checked = 'found' in reading ? checkClass(reading.found) : undefined;
  if (checked === undefined) return undefined;
  if (!('problem' in checked)) return correctedSince(volume, ready);
  return {
    cause: 'StorageClassInvalid',
    holdup: `its storage class ${name} is invalid: ${checked.problem}`,
    ...sinceOf(ready),
    next: RETRY,
    fix: {
      say: 'Correct the parameters in class.yaml after the first command: those of an existing class are immutable.',
      run: [
        `${commandLine('kubectl', 'get', 'storageclass', name, '-o', 'yaml')} > class.yaml`,
        'kubectl replace --force -f class.yaml',
        ...retry(volume),
      ],
    },
  };
};

/** Explains that a missing class was created, or a wrong one corrected, after the last attempt. */
function correctedSince(volume: Volume, ready: Condition): Blocker | undefined {
  const code = readReason(ready.detail)?.code;
  if (code !== 'StorageClassMissing' && code !== 'StorageClassInvalid') return undefined;
  const { storageClassName: name } = volume.spec;
  const was = code === 'StorageClassMissing' ? 'did not exist' : 'was invalid';
  return {
    cause: code,
    holdup: `its storage class ${name} ${was} at the last attempt; it is valid now`,
    ...sinceOf(ready),
    next: RETRY,
    fix: { say: 'Retry the Volume.', run: retry(volume) },
  };
}

function createClass(volume: Volume, classes: readonly string[]): Fix {
  const { storageClassName: name } = volume.spec;
  const isStatic = claimOf(volume) === undefined;
  const hint = isStatic ? existingNames(classes) : '';
  return {
    say: `Create the class. Then retry the Volume.${hint && ` Or create the Volume again with another class (${hint}).`}`,
    run: [
      commandLine('stowage', 'create', 'storageclass', name, isStatic ? '--static' : '--dynamic'),
      ...retry(volume),
    ],
  };
}

/** Returns the fix for a class that a user named, who may have named anything. */
const renameClass = (volume: Volume): Fix => ({
  say: 'No class can have that name: set spec.storageClassName in volume.yaml before you create the Volume again.',
  run: recreate(volume),
});
