import type { Guard, Step } from '../../nodes/job.ts';
import { linkOf } from '../links.ts';
import { mkfs } from '../mkfs.ts';
import { emptyGuards } from '../raw/guards.ts';
import { donePath, intentOf, writeDone, writeIntent } from '../records.ts';
import type { DesiredLvm, Intent, ObservedLvm } from '../types.ts';
import { lookAgain, waitForLink } from '../udev.ts';
import { contentOf, rangeOf, sameContentGuards } from './content.ts';
import type { Extents, VolumeGroup } from './facts.ts';
import { extentsFor } from './group.ts';
import { lvName, lvPath, tagOf } from './names.ts';

/** The record that is written before there is a logical volume: its UUID is LVM's to choose. */
export function intentFor(desired: DesiredLvm, group: VolumeGroup, consent: string): Intent {
  const device = { path: lvPath(desired), identity: `vg=${group.uuid}` };
  const fresh = intentOf(desired, { device }, bytesFor(desired, group));
  return consent === '' ? fresh : { ...fresh, signature: consent, consent };
}

const bytesFor = (desired: DesiredLvm, group: VolumeGroup): bigint =>
  extentsFor(desired, group) * group.extentBytes;

/** All steps from nothing to what the Volume wants, once nothing speaks against it. */
export function create(desired: DesiredLvm, observed: ObservedLvm, group: VolumeGroup): Step[] {
  const { free } = observed;
  const intent = intentFor(desired, group, contentOf(free));
  const known = JSON.stringify(observed.intent) === JSON.stringify(intent);
  return [
    ...(known ? [] : writeIntent(intent)),
    desired.thinPool === undefined
      ? lvcreate(desired, group, free)
      : lvcreateThin(desired, desired.thinPool, group),
    ...(desired.mode === 'Filesystem' ? makeFileSystem(desired, bytesFor(desired, group)) : []),
    ...writeDone(desired.uid, bytesFor(desired, group)),
    // That of mode Block is LVM's own, which waits for udev.
    ...(desired.mode === 'Filesystem'
      ? [lookAgain(lvName(desired, desired.name)), waitForLink(linkOf(desired))]
      : []),
  ];
}

/** A job may reach the node late, after all was lost again: what is done is not made anew. */
const notDone = (desired: DesiredLvm): Guard => ({
  argv: ['test', '!', '-e', donePath(desired.uid)],
  expect: { exit: 0 },
  refusal: `${lvPath(desired)} was made meanwhile`,
});

const named = ({ name, uid }: DesiredLvm): string[] => ['--name', name, '--addtag', tagOf(uid)];

/**
 * LVM itself looks for signatures before udev may look at the device, so that a copy of a file system in old extents is
 * never taken for the one that is in use. It asks what to do with one, is answered by an empty standard input, which is
 * no, and takes the logical volume back. Only for extents that were looked into, and with consent to what is in them,
 * it is told yes: then it is told these extents, too.
 */
function lvcreate(desired: DesiredLvm, group: VolumeGroup, free: readonly Extents[]): Step {
  const consented = contentOf(free) !== '';
  const chosen = desired.overwrite !== undefined;
  return {
    name: `make the logical volume ${lvName(desired, desired.name)}`,
    argv: [
      'lvcreate',
      ...(consented ? ['--yes'] : []),
      ...named(desired),
      ...['--extents', String(extentsFor(desired, group)), '--wipesignatures', 'y', '--zero', 'y'],
      group.name,
      ...(chosen ? free.map(rangeOf) : []),
    ],
    guards: [notDone(desired), ...(chosen ? sameContentGuards(free) : [])],
    // Others may have taken these extents.
    ...(chosen ? { mayRace: true } : {}),
  };
}

/** A new thin volume reads as zeros: there is nothing in it to look for. */
function lvcreateThin(desired: DesiredLvm, pool: string, group: VolumeGroup): Step {
  return {
    name: `make the thin volume ${lvName(desired, desired.name)}`,
    argv: [
      ...['lvcreate', ...named(desired), '--virtualsize', `${bytesFor(desired, group)}b`],
      ...['--thinpool', pool, group.name],
    ],
    guards: [notDone(desired)],
  };
}

function makeFileSystem(desired: DesiredLvm, sizeBytes: bigint): Step[] {
  const path = lvPath(desired);
  // The class is known: who prepares has looked at it.
  if (desired.fs === undefined) throw new Error(`no file system is known for ${path}`);
  const made: Guard = {
    argv: ['lvs', '--noheadings', '-o', 'lv_tags', lvName(desired, desired.name)],
    expect: { exit: 0, stdout: { is: `  ${tagOf(desired.uid)}` } },
    refusal: `${path} is not the logical volume that was made`,
  };
  const place = { name: `${desired.vgName}/${desired.name}`, sizeBytes, partition: undefined };
  return [
    {
      name: `make the ${desired.fs.type} file system`,
      argv: mkfs(desired.fs, desired.uid, path),
      guards: [notDone(desired), made, ...emptyGuards(place)],
      lock: path,
    },
    { name: 'sync the device', argv: ['sync', path], guards: [] },
  ];
}
