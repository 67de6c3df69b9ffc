import { adoptsFrom } from './adoption.ts';
import { planAdopt as adoptRaw } from './block/adopt.ts';
import { planDestroy as destroyRaw } from './block/destroy.ts';
import { planPrepare as prepareRaw } from './block/prepare.ts';
import { linked, makeLink, planPresent as presentRaw } from './block/present.ts';
import { targetOf } from './block/target.ts';
import { planUnused } from './detach-checks.ts';
import { planAdopt as adoptSparse } from './loopfile/adopt.ts';
import { attach, planAbsent, planPresent } from './loopfile/attach.ts';
import { planDestroy } from './loopfile/destroy.ts';
import { planPrepare } from './loopfile/prepare.ts';
import { planAdopt as adoptLvm } from './lvm/adopt.ts';
import { planDestroy as destroyLvm } from './lvm/destroy.ts';
import { planPrepare as prepareLvm } from './lvm/prepare.ts';
import { planPresent as presentLvm } from './lvm/present.ts';
import { inGroup } from './lvm/select.ts';
import { planShared } from './shared-fs/plan.ts';
import type {
  Desired,
  DesiredLvm,
  DesiredRaw,
  DesiredSparse,
  Observed,
  ObservedLvm,
  ObservedRaw,
  ObservedSparse,
  Operation,
  Plan,
} from './types.ts';

/**
 * The remaining steps of an operation, nothing to do, or a refusal. Pure: running any prefix of the steps,
 * observing and planning again leads to the same end.
 * @param loopNumber the number to attach under if it comes to that, allotted to this Volume on this node
 * @throws Error for an observation of another kind than what is desired
 */
export function plan(
  operation: Operation,
  desired: Desired,
  observed: Observed,
  loopNumber: number,
): Plan {
  if (desired.type === 'sparse' && observed.type === 'sparse') {
    return planSparse(operation, desired, observed, loopNumber);
  }
  if (desired.type === 'raw' && observed.type === 'raw')
    return planRaw(operation, desired, observed);
  if (desired.type === 'lvm' && observed.type === 'lvm')
    return planLvm(operation, desired, observed);
  throw new Error(`a ${desired.type} volume was looked at as a ${observed.type} one`);
}

function planSparse(
  operation: Operation,
  desired: DesiredSparse,
  observed: ObservedSparse,
  loopNumber: number,
): Plan {
  if (desired.shared) return planShared(operation, desired, observed, loopNumber);
  switch (operation) {
    case 'prepare': {
      const from = adoptsFrom(desired, observed);
      const made =
        from === undefined ? planPrepare(desired, observed) : adoptSparse(desired, from, observed);
      return desired.onDemand ? made : both(made, () => attach(desired, observed, loopNumber));
    }
    case 'present':
      return planPresent(desired, observed, loopNumber);
    case 'absent':
      return planAbsent(desired, observed);
    case 'destroy':
      return planDestroy(desired, observed);
  }
}

function planRaw(operation: Operation, desired: DesiredRaw, observed: ObservedRaw): Plan {
  switch (operation) {
    case 'prepare': {
      const from = adoptsFrom(desired, observed);
      const ready =
        from === undefined ? prepareRaw(desired, observed) : adoptRaw(desired, from, observed);
      return both(ready, (made) => {
        const device = targetOf(desired, observed);
        if ('refusal' in device) return device;
        // The link of what is made anew is not the one that is there.
        return made.length === 0
          ? linked(desired, observed, device)
          : { steps: makeLink(desired, device, undefined) };
      });
    }
    case 'present':
      return presentRaw(desired, observed);
    // A disk is always there.
    case 'absent':
      return planUnused(desired, observed);
    case 'destroy':
      return destroyRaw(desired, observed);
  }
}

/** A group that is not there has no steps. */
function planLvm(operation: Operation, desired: DesiredLvm, observed: ObservedLvm): Plan {
  const [group] = observed.groups;
  const planned = planInGroup(operation, desired, observed);
  return group === undefined ? planned : inGroup(planned, group);
}

function planInGroup(operation: Operation, desired: DesiredLvm, observed: ObservedLvm): Plan {
  switch (operation) {
    case 'prepare': {
      const from = adoptsFrom(desired, observed);
      return from === undefined ? prepareLvm(desired, observed) : adoptLvm(desired, from, observed);
    }
    case 'present':
      return presentLvm(desired, observed);
    // It is in the way of nobody, and nobody else is to have it active.
    case 'absent':
      return planUnused(desired, observed);
    case 'destroy':
      return destroyLvm(desired, observed);
  }
}

/** A new volume is made present in the same job that makes it: no step needs what an earlier one prints. */
function both(first: Plan, second: (made: readonly unknown[]) => Plan): Plan {
  if ('refusal' in first) return first;
  const then = second(first.steps);
  return 'refusal' in then ? then : { steps: [...first.steps, ...then.steps] };
}
