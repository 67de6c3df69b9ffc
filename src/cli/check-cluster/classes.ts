import type { StorageClass } from '../../api/core.ts';
import { DRIVER, MAX_WAIT_FOR_UNMOUNT_ANNOTATION, NO_PROVISIONER } from '../../api/names.ts';
import { maxWaitProblem } from '../../controllers/attachdetach/max-wait.ts';
import { checkClass } from '../../model/class-options.ts';
import { dynamicClass } from '../../model/dynamic-class.ts';
import type { Check } from '../lib/checks/report.ts';
import { commandLine } from '../lib/command-line.ts';

const REPLACED =
  'Delete the class, and create a corrected one of the same name: parameters are immutable. Volumes and claims stay.';

/** Checks the classes without a provisioner, and those of Stowage's driver. Pure. */
export function classChecks(classes: readonly StorageClass[]): Check[] {
  const check = { check: 'storage class', ok: false };
  const ours = classes.filter(
    ({ provisioner }) => provisioner === NO_PROVISIONER || provisioner === DRIVER,
  );
  if (ours.length === 0) {
    return [
      {
        ...check,
        message: 'there is none for Volumes',
        hint: 'Create one.',
        command: 'stowage create storageclass local --static --fs-type ext4',
      },
    ];
  }
  return ours.map((found): Check => {
    const { name } = found.metadata;
    const checked = checkClass(found);
    if ('problem' in checked) {
      return {
        ...check,
        message: `${name}: no file system can be created: ${checked.problem}`,
        hint: REPLACED,
      };
    }
    const read = found.provisioner === DRIVER ? dynamicClass(found) : undefined;
    if (read !== undefined && 'problem' in read) {
      return {
        ...check,
        message: `no volume can be provisioned for claims of ${read.problem}`,
        hint: REPLACED,
      };
    }
    // Classes of the driver are exempt: it provisions where the claim's pods may run, as far as the
    // class states that.
    if (
      found.provisioner === NO_PROVISIONER &&
      found.volumeBindingMode !== 'WaitForFirstConsumer'
    ) {
      return {
        ...check,
        message: `${name}: with volumeBindingMode ${found.volumeBindingMode ?? 'Immediate'}, claims may be bound to volumes on nodes where their pods cannot run`,
        hint: 'Delete the class, and create one of the same name with WaitForFirstConsumer. Volumes and claims stay.',
      };
    }
    const wait = maxWaitProblem(found);
    if (wait !== undefined) {
      const annotation = `${MAX_WAIT_FOR_UNMOUNT_ANNOTATION}=10m`;
      const command = commandLine(
        'kubectl',
        'annotate',
        '--overwrite',
        'storageclass',
        name,
        annotation,
      );
      return { ...check, message: wait, hint: 'Correct the annotation.', command };
    }
    return { ...check, ok: true, message: `${name}, with ${checked.fs?.type ?? 'no file system'}` };
  });
}
