import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { holds } from '../../../src/nodes/check-preconditions.ts';
import type { Step } from '../../../src/nodes/job.ts';
import { plan } from '../../../src/storage/plan.ts';
import { writesTo } from '../../support/plans.ts';
import { type Change, preconditionAnswers } from '../../support/precondition-answers.ts';
import { type Case, cases } from '../../support/raw-observations.ts';
import { TEST_SEED } from '../../support/test-seed.ts';

/** No plan writes to a device that changed since it was observed. */

const RUNS = 20_000;
const USES = ['mounted', 'mounted elsewhere', 'stacked', 'held', 'swap'] as const;
const KINDS = [
  ...[
    'nothing',
    'another device',
    'another disk',
    'content',
    'data',
    'unreadable',
    'made',
    'claimed',
  ],
  ...['content of a partition', 'data in a partition', 'another partition'],
  ...[...USES, 'open'],
] as const;

/** Reports whether a step writes to the device. Removing the persistent link does not. */
const writes = (step: Step): boolean =>
  writesTo([step]).some((command) => !command.startsWith('rm '));

function changeOf({ device }: Case, is: (typeof KINDS)[number], index: number): Change {
  const { partitions, disk, otherPaths } = device;
  const all = [device, ...partitions, ...(disk ? [disk] : []), ...otherPaths];
  const of = (is === 'open' ? device : all[index % all.length]) ?? device;
  return { is, of } as Change;
}

/**
 * Reports whether a change is detectable from the observation. Less is known of a device without an
 * identity.
 */
function isSeen({ operation, device, observed }: Case, change: Change, isFirst: boolean): boolean {
  switch (change.is) {
    case 'nothing':
      return false;
    case 'another disk':
      return device.presence !== undefined || device.dmUuid !== undefined;
    // The plan's own changes are not compared again.
    case 'content':
    case 'unreadable':
      return isFirst && observed.wiped === undefined;
    case 'content of a partition':
      return isFirst && operation === 'provision' && device.printedParts.length > 0;
    case 'data in a partition':
      return (
        isFirst && operation === 'provision' && device.printedParts.some(({ isBlank }) => isBlank)
      );
    case 'another partition':
      return isFirst && operation === 'provision' && device.content !== '';
    case 'data':
      return operation === 'provision' && device.content === '' && device.isBlank === true;
    case 'made':
      return operation === 'provision';
    // Only before the lock, which opens the device.
    case 'open':
      return isFirst;
    // By the second write, the kernel has no partitions of it any more.
    default:
      return (
        isFirst ||
        !('of' in change && device.partitions.some(({ name }) => name === change.of.name))
      );
  }
}

test(`no step writes to a device that changed (${RUNS} observations, seed ${TEST_SEED})`, () => {
  const refused = new Map<string, number>();
  fc.assert(
    fc.property(
      cases,
      fc.constantFrom(...KINDS),
      fc.nat(7),
      fc.nat(3),
      (each, kind, index, number) => {
        const planned = plan(each.operation, each.desired, each.observed, 0);
        if ('refusal' in planned) return;
        const writing = planned.steps.filter(writes);
        const step = writing[number % writing.length];
        if (step === undefined) return;
        const isFirst = step === writing[0];
        const change = changeOf(each, kind, index);
        const answers = preconditionAnswers(each.device, change);
        // All steps before the first write, or the step alone.
        const steps = isFirst ? planned.steps.slice(0, planned.steps.indexOf(step) + 1) : [step];
        const failing = steps
          .flatMap(({ preconditions }) => preconditions)
          .filter(({ argv, expect: wanted }) => !holds(wanted, answers(argv)));
        if (!isSeen(each, change, isFirst)) {
          if (kind === 'nothing') expect(failing).toEqual([]);
          return;
        }
        refused.set(kind, (refused.get(kind) ?? 0) + 1);
        expect([kind, step.name, failing.length > 0]).toEqual([kind, step.name, true]);
      },
    ),
    { numRuns: RUNS, seed: TEST_SEED },
  );
  for (const kind of KINDS)
    if (kind !== 'nothing') expect([kind, refused.get(kind)]).not.toEqual([kind, undefined]);
});
