import type { Guard, Step } from '../../nodes/job.ts';
import { linkOf } from '../links.ts';
import type { DesiredLvm, ObservedLvm, Plan } from '../types.ts';
import { noUdev, waitForLink } from '../udev.ts';
import type { LogicalVolume } from './facts.ts';
import { dmUuidOf, lvName, tagOf } from './names.ts';
import { deviceOf } from './own.ts';
import { clearPool } from './pool.ts';

/** What must be done until a logical volume can be looked into, or why it can't; undefined when it can. */
export function reach(desired: DesiredLvm, observed: ObservedLvm, own: LogicalVolume): Plan | undefined {
  const name = lvName(desired, own.name);
  if (own.health === 'p') {
    return {
      refusal: `a physical volume of the logical volume ${name} is away`,
      hint: 'Bring its disk back: pvs tells which one.',
    };
  }
  if (own.health === 'F') {
    return {
      refusal: `the thin pool of the logical volume ${name} has failed`,
      hint: 'See lvmthin(7), on repair.',
    };
  }
  if (own.suspended) return { steps: [refresh(desired, own)] };
  if (!own.active) {
    const link = linkOf(desired, dmUuidOf(observed.groups[0]?.uuid ?? '', own.uuid));
    if (!observed.udev) return noUdev(link);
    const cleared = own.pool === undefined ? [] : clearPool(desired, observed, own.pool);
    return { steps: [...cleared, activate(desired, own), waitForLink(link)] };
  }
  return deviceOf(observed, own) === undefined
    ? {
        refusal: `the node has no device for the logical volume ${name}, which LVM says is active`,
        hint: `Look at it on the node: lvs ${name}; dmsetup info.`,
        passing: true,
      }
    : undefined;
}

/** It is the logical volume that was looked at. */
export const sameVolume = (desired: DesiredLvm, { name, uuid }: LogicalVolume): Guard => ({
  argv: ['lvs', '--noheadings', '-o', 'lv_uuid', lvName(desired, name)],
  expect: { exit: 0, stdout: { is: `  ${uuid}` } },
  refusal: `${lvName(desired, name)} is no longer the logical volume that was looked at`,
});

const change = (desired: DesiredLvm, own: LogicalVolume, what: string, ...options: string[]): Step => ({
  name: `${what} ${lvName(desired, own.name)}`,
  argv: ['lvchange', ...options, lvName(desired, own.name)],
  guards: [sameVolume(desired, own)],
});

/** Also where it is marked to be left out, as a snapshot of a thin volume is. */
const activate = (desired: DesiredLvm, own: LogicalVolume): Step =>
  change(desired, own, 'activate', '--activate', 'y', '--ignoreactivationskip');

/** Fails while anybody has it open. */
export const deactivate = (desired: DesiredLvm, own: LogicalVolume): Step => ({
  ...change(desired, own, 'deactivate', '--activate', 'n'),
  mayRace: true,
});

/** Resumes what an interrupted command of LVM left suspended, and has udev look at what it was told to leave out. */
export const refresh = (desired: DesiredLvm, own: LogicalVolume): Step =>
  change(desired, own, 'refresh', '--refresh');

export const addTag = (desired: DesiredLvm, own: LogicalVolume): Step =>
  change(desired, own, 'tag', '--addtag', tagOf(desired.uid));

export const takeTag = (desired: DesiredLvm, own: LogicalVolume): Step =>
  change(desired, own, 'take the tag off', '--deltag', tagOf(desired.uid));
