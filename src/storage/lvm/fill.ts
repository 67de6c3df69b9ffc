import type { Step } from '../../nodes/job.ts';
import { userOf } from '../in-use.ts';
import { takeSignatureOff } from '../raw/clean.ts';
import { notInUseGuards } from '../raw/guards.ts';
import type { DesiredLvm, ObservedLvm, Plan } from '../types.ts';
import { deactivate } from './activate.ts';
import { removeUnfinished } from './copy.ts';
import { bytesFor, create } from './create.ts';
import type { LogicalVolume, VolumeGroup } from './facts.ts';
import { lvName } from './names.ts';
import { deviceOf } from './own.ts';
import { reach } from './reach.ts';
import { refuseCreate, refuseWrites } from './refuse.ts';
import { notOpen } from './remove.ts';

/**
 * All steps from nothing to a logical volume that is filled from elsewhere. It carries the tag of what is not finished until it is
 * whole, and what an earlier try left is taken away, and never gone on with: nobody knows how far that came.
 */
export function planFill(
  desired: DesiredLvm,
  observed: ObservedLvm,
  group: VolumeGroup,
  half: LogicalVolume | undefined,
): Plan {
  if (half !== undefined) {
    const left = release(desired, observed, half);
    return 'first' in left
      ? left.first
      : { steps: [...left.steps, ...removeUnfinished(desired, observed, half)] };
  }
  const refused = refuseCreate(desired, observed, group) ?? refuseWhole(desired, observed, group);
  return refused ?? { steps: create(desired, observed, group) };
}

function refuseWhole(desired: DesiredLvm, observed: ObservedLvm, group: VolumeGroup) {
  const { thinPool } = desired;
  if (thinPool === undefined) return undefined;
  const bytes = bytesFor(desired, group);
  const refused = refuseWrites(
    desired,
    thinPool,
    observed,
    bytes,
    `filling a volume may write all of its ${bytes}`,
  );
  return refused === undefined ? undefined : { ...refused, passing: true };
}

/**
 * What comes before an unfinished logical volume is removed, or what must be done `first`, before more can be told. Copies are thin and were
 * never active. One that was to be filled may be, and where it is not thin its signature would be in the way of whoever gets
 * its extents next.
 */
export function release(
  desired: DesiredLvm,
  observed: ObservedLvm,
  half: LogicalVolume,
): { first: Plan } | { steps: Step[] } {
  const isThin = half.pool !== undefined;
  if (isThin && !half.active) return { steps: [] };
  const reached = reach(desired, observed, half);
  if (reached !== undefined) return { first: reached };
  const device = deviceOf(observed, half);
  // It was reached.
  if (device === undefined) return { first: { steps: [] } };
  const user = userOf(device, observed) ?? (half.open ? 'a process has it open' : undefined);
  if (user !== undefined) {
    return {
      first: {
        refusal: `the logical volume ${lvName(desired, half.name)} (/dev/${device.name}), which was not filled to the end, is in use: ${user}`,
        hint: 'It is removed once nothing uses it any more.',
        passing: true,
      },
    };
  }
  return {
    steps: [
      notOpen(device),
      ...(isThin || device.content === '' ? [] : [takeSignatureOff(device)]),
      withGuards(deactivate(desired, half), notInUseGuards(device)),
    ],
  };
}

const withGuards = (step: Step, guards: Step['guards']): Step => ({
  ...step,
  guards: [...step.guards, ...guards],
});
