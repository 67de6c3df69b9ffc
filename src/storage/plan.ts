import { attach, planAbsent, planPresent } from './sparse-attach.ts';
import { planDestroy } from './sparse-destroy.ts';
import { planPrepare } from './sparse-prepare.ts';
import type { Desired, Observed, Operation, Plan } from './types.ts';

/**
 * The remaining steps of an operation, nothing to do, or a refusal. Pure: running any prefix of the steps,
 * observing and planning again leads to the same end.
 * @param loopNumber the number to attach under if it comes to that, allotted to this Volume on this node
 */
export function plan(operation: Operation, desired: Desired, observed: Observed, loopNumber: number): Plan {
  switch (operation) {
    case 'prepare':
      return planPrepareAndAttach(desired, observed, loopNumber);
    case 'present':
      return planPresent(desired, observed, loopNumber);
    case 'absent':
      return planAbsent(desired, observed);
    case 'destroy':
      return planDestroy(desired, observed);
  }
}

/** A new volume is attached in the same job that makes it: no step needs what an earlier one prints. */
function planPrepareAndAttach(desired: Desired, observed: Observed, loopNumber: number): Plan {
  const prepare = planPrepare(desired, observed);
  if ('refusal' in prepare) return prepare;
  const present = attach(desired, observed, loopNumber);
  if ('refusal' in present) return present;
  return { steps: [...prepare.steps, ...present.steps] };
}
