import { refuse } from '../../api/reasons.ts';
import type { Step } from '../../nodes/job.ts';
import { inUse, preconditionsOf, useOfKubelet } from '../detach-checks.ts';
import { refuseAway } from '../directory/refuse.ts';
import { leaveMount } from '../grow-file-system.ts';
import { openUse, useOf } from '../holders.ts';
import { refuseStale } from '../kubelet.ts';
import { astray, leadsTo, linkOf } from '../links.ts';
import { rereadPartition } from '../partx.ts';
import { ownBlkid } from '../signature.ts';
import type { BlockDevice, DesiredSparse, LoopFacts, ObservedSparse, Plan } from '../types.ts';
import { makeRule, noUdev, triggerUdev, waitForLink, waitForUdev } from '../udev.ts';
import { sameFile } from './file.ts';
import {
  earlierFile,
  loopsOf,
  oddLoop,
  partitionOf,
  refuseMoved,
  volumeDevice,
} from './file-loops.ts';
import { planGrow } from './grow.ts';
import { checkContent } from './provision.ts';

/**
 * Plans the steps after which the file is a loop device of the requested size that its persistent
 * path leads to.
 * @param loopNumber loop number to attach under, reserved for this Volume on this node
 */
export function planAttach(
  desired: DesiredSparse,
  observed: ObservedSparse,
  loopNumber: number,
): Plan {
  if (observed.file.type === 'missing') {
    const away = refuseAway(observed.directory);
    // Mounting it may take a person or a boot, so the volume counts as unavailable meanwhile.
    if (away !== undefined) return { ...away, retryable: false };
    return refuse('BackingFileMissing', { file: desired.file });
  }
  const content = checkContent(desired, observed);
  if ('refusal' in content) return content;
  const attached = attach(desired, observed, loopNumber);
  // A read-only device is not grown, and its journal is not replayed: the file is only ever read.
  if ('refusal' in attached || attached.steps.length > 0 || desired.readOnly) return attached;
  const device = volumeDevice(desired, observed);
  const loop = loopsOf(observed)[0];
  return loop === undefined || device === undefined
    ? attached
    : planGrow(desired, observed, loop, device);
}

/** Plans the part of `planAttach` that needs no existing file. */
export function attach(desired: DesiredSparse, observed: ObservedSparse, loopNumber: number): Plan {
  const [loop, ...others] = loopsOf(observed);
  const readPartition = (name: string) =>
    desired.mode === 'Block' ? [rereadPartition(1, `/dev/${name}`)] : [];
  if (loop === undefined) {
    const moved = refuseMoved(desired, observed);
    if (moved !== undefined) return moved;
    const stale = refuseStale(desired, observed, []);
    if (stale !== undefined) return stale;
    if (!observed.udev) return noUdev(linkOf(desired));
    const name = `loop${loopNumber}`;
    return {
      ...astray(desired, observed, undefined),
      steps: [
        ...makeRule(desired, ruleFor(desired, observed)),
        losetup(desired, `/dev/${name}`),
        ...readPartition(name),
        // When losetup closes the device, udev may make the kernel reread the table: the partition
        // and its link disappear and return.
        ...(desired.mode === 'Block' ? [waitForUdev] : []),
        waitForLink(linkOf(desired), observed.link !== undefined),
      ],
    };
  }
  const odd = oddLoop(desired, observed, loop, others);
  if (odd !== undefined) return odd;
  const stale = refuseStale(desired, observed, [loop, partitionOf(loop, observed)]);
  if (stale !== undefined) return stale;
  const device = volumeDevice(desired, observed);
  // Device numbers are compared: another device may have the same UUID (a copy of the file).
  if (device !== undefined && leadsTo(device, observed)) return { steps: [] };
  if (!observed.udev) return noUdev(linkOf(desired));
  return {
    ...astray(desired, observed, device),
    steps: [
      ...makeRule(desired, ruleFor(desired, observed)),
      ...readPartition(loop.name),
      triggerUdev(device?.name ?? loop.name),
      waitForLink(linkOf(desired), observed.link !== undefined),
    ],
  };
}

/** Returns steps that make the rule for an attached device. */
export function preferLoop(desired: DesiredSparse, observed: ObservedSparse): Step[] {
  const device = volumeDevice(desired, observed);
  if (device === undefined) return [];
  const rule = makeRule(desired, ruleFor(desired, observed));
  return [...rule, triggerUdev(device.name), waitForUdev];
}

/**
 * Returns the rule's keys. udev reads patterns in a path, so one with other characters is matched
 * only by the file's name, the UID.
 */
function ruleFor({ uid, mode }: DesiredSparse, { realPath }: ObservedSparse): string {
  const file = /^[\w./-]+$/.test(realPath) ? realPath : `*/${uid}`;
  return `${mode === 'Block' ? 'ENV{PARTN}=="1"' : 'ENV{DEVTYPE}=="disk"'},ATTRS{loop/backing_file}=="${file}"`;
}

/**
 * Plans the steps after which no loop device has the file. A device that is the last reference to
 * its data is detached only if the data is deleted too.
 */
export function planDetach(desired: DesiredSparse, observed: ObservedSparse): Plan {
  const steps: Step[] = [];
  const moved = loopsOf(observed).length === 0 ? refuseMoved(desired, observed) : undefined;
  if (moved !== undefined) return moved;
  for (const loop of loopsOf(observed)) {
    const unmount = leaveMount(desired.uid, loop, observed);
    if (unmount.length > 0) return { steps: unmount };
    const partition = partitionOf(loop, observed);
    const devices = partition === undefined ? [loop] : [loop, partition];
    const use = devices
      .map((device) => useOf(device, observed))
      .find((found) => found !== undefined);
    const used =
      use ??
      (loop.autoclear ? openUse(`/dev/${loop.name}`) : undefined) ??
      useOfKubelet(observed.kubeletFolders);
    if (used !== undefined) return inUse(`/dev/${loop.name}`, used);
    const last = desired.discarded ? undefined : earlierFile(desired, observed, loop);
    if (last !== undefined) return last;
    steps.push(
      // A removed file cannot be synced, and no node attaches it.
      ...(desired.shared && !loop.readOnly && observed.file.type === 'file'
        ? [syncBack(desired, devices)]
        : []),
      detach(desired, observed, loop, devices),
    );
  }
  return { steps };
}

function losetup(desired: DesiredSparse, device: string): Step {
  const { file, uid, mode, readOnly } = desired;
  const [tag, value] = mode === 'Block' ? ['PTTYPE', 'gpt'] : ['UUID', uid];
  return {
    name: `attach the file as ${device}`,
    // losetup fails if the device already has a file, and never replaces that file.
    argv: [
      'losetup',
      ...(readOnly ? ['-r'] : []),
      ...(mode === 'Block' ? ['--partscan'] : []),
      device,
      file,
    ],
    preconditions: [
      {
        argv: ['losetup', '-j', file],
        expect: { exit: 0, stdout: { is: '' } },
        ...refuse('FileAttachedMeanwhile', { file }),
      },
      {
        argv: ownBlkid(file, 'value', tag),
        expect: { exit: 0, stdout: { is: value } },
        ...refuse('FileContentChanged', { file }),
      },
    ],
    failureMeansConflict: true,
  };
}

/**
 * Returns a step that writes all data back to the server for the next node: first the devices, then
 * the file below them.
 */
function syncBack({ file }: DesiredSparse, devices: readonly Pick<BlockDevice, 'name'>[]): Step {
  return {
    name: 'flush the device, and sync the file',
    argv: ['sync', ...devices.map(({ name }) => `/dev/${name}`).reverse(), file],
    preconditions: [],
  };
}

function detach(
  desired: DesiredSparse,
  { file }: ObservedSparse,
  loop: LoopFacts,
  devices: readonly Pick<BlockDevice, 'name' | 'device'>[],
): Step {
  const device = `/dev/${loop.name}`;
  return {
    name: `detach ${device}`,
    argv: ['losetup', '-d', device],
    preconditions: [
      {
        argv: ['losetup', '-n', '--raw', '-O', 'BACK-INO', device],
        expect: { exit: 0, stdout: { is: loop.backingInode } },
        ...refuse('LoopFileChanged', { device, file: desired.file }),
      },
      // If the file was removed or replaced since the observation, only the device leads to the
      // data.
      ...(file.type === 'file' && !desired.discarded ? [sameFile(desired.file, file)] : []),
      // `losetup -d` of a device in use exits 0 and leaves it attached.
      ...preconditionsOf(desired, devices),
    ],
    // An autoclear, or another's losetup, may have detached the device since.
    failureMeansConflict: true,
  };
}
