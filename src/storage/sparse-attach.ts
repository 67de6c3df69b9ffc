import type { Guard, Step } from '../nodes/job.ts';
import { linkOf } from './sparse-observe.ts';
import { checkContent } from './sparse-prepare.ts';
import type { Desired, LoopFacts, Observed, Plan } from './types.ts';

/** How long udev gets to make the link, in seconds. */
const LINK_TIMEOUT = 10;

/**
 * What remains to be done until the file is a loop device that its persistent link leads to.
 * @param loopNumber the number to attach under, allotted to this Volume on this node
 */
export function planPresent(desired: Desired, observed: Observed, loopNumber: number): Plan {
  if (observed.file.type === 'missing') {
    return {
      refusal: `the backing file ${desired.file} is missing`,
      hint: 'Bring the file back, or delete the Volume if its data is given up. Nothing is made anew in its place.',
    };
  }
  const content = checkContent(desired, observed);
  return 'refusal' in content ? content : attach(desired, observed, loopNumber);
}

/** The part of `planPresent` that can be planned before the file is made. */
export function attach(desired: Desired, observed: Observed, loopNumber: number): Plan {
  if (!observed.udev) {
    return {
      refusal: `no udev runs on the node, so ${linkOf(desired.uid)} would never appear`,
      hint: 'Start systemd-udevd on the node.',
      passing: true,
    };
  }
  const [loop, ...others] = loopsOf(observed);
  if (loop === undefined) {
    return { steps: [losetup(desired, loopNumber), settle(desired)] };
  }
  const odd = oddLoop(desired, observed, loop, others);
  if (odd !== undefined) return odd;
  // The link is checked by device number: another device may have the same UUID (a copy of the file).
  return leadsTo(loop, observed) ? { steps: [] } : { steps: [trigger(loop), settle(desired)] };
}

/** Also by a loop that is stacked on it, as the kubelet does for Block: udev gives the link to the newest device. */
function leadsTo(loop: LoopFacts, { link, loops }: Observed): boolean {
  return [loop, ...loops.filter(({ backingFile }) => backingFile === `/dev/${loop.name}`)].some(
    ({ device }) => device === link,
  );
}

/** What remains to be done until no loop device has the file. */
export function planAbsent(desired: Desired, observed: Observed): Plan {
  const steps: Step[] = [];
  for (const loop of loopsOf(observed)) {
    const user = userOf(loop, observed);
    if (user !== undefined) {
      return {
        refusal: `/dev/${loop.name} is in use: ${user}`,
        hint: 'It is detached once nothing uses it any more.',
        passing: true,
      };
    }
    steps.push(detach(desired, loop));
  }
  return { steps };
}

/** The loops of a file, by the path that the kernel keeps; one whose file was removed keeps the path too. */
export function loopsOf(observed: Observed): LoopFacts[] {
  const { realPath } = observed;
  return observed.loops.filter(
    ({ backingFile }) => backingFile === realPath || backingFile === `${realPath} (deleted)`,
  );
}

function oddLoop(
  desired: Desired,
  observed: Observed,
  loop: LoopFacts,
  others: readonly LoopFacts[],
): Plan | undefined {
  if (others.length > 0) {
    const names = [loop, ...others].map((each) => `/dev/${each.name}`).join(', ');
    return {
      refusal: `${desired.file} is attached more than once: ${names}`,
      hint: 'Writing through more than one of them destroys data. Detach all but one with losetup -d.',
    };
  }
  if (observed.file.type !== 'file' || loop.backingInode !== observed.file.inode) {
    return {
      refusal: `/dev/${loop.name} has an earlier file of the name ${desired.file}, which was removed or replaced`,
      hint: 'The data is still reachable through the device. Copy it away before the device is detached.',
    };
  }
  if (loop.autoclear) {
    return {
      refusal: `/dev/${loop.name} was detached by someone while in use and goes when its last user does`,
      hint: 'It is attached anew once it is gone.',
      passing: true,
    };
  }
  if (!loop.wholeFile || loop.readOnly) {
    return {
      refusal: `/dev/${loop.name} was attached by someone else: ${loop.readOnly ? 'read-only' : 'a part of the file only'}`,
      hint: `Detach it with losetup -d /dev/${loop.name}; it is then attached as it should be.`,
    };
  }
  return undefined;
}

/** Who is seen to use a device; the guards of `detach` see more, right before it is done. */
function userOf(loop: LoopFacts, observed: Observed): string | undefined {
  const points = observed.mounts.get(loop.device);
  if (points !== undefined) return `mounted at ${points.join(', ')}`;
  const stacked = observed.loops.find((other) => other.backingFile === `/dev/${loop.name}`);
  if (stacked !== undefined) return `/dev/${stacked.name} is stacked on it`;
  if (loop.autoclear) return 'some process has it open';
  return undefined;
}

function losetup(desired: Desired, number: number): Step {
  const device = `/dev/loop${number}`;
  return {
    name: `attach the file as ${device}`,
    // Fails where the device has a file already, and never takes another's.
    argv: ['losetup', device, desired.file],
    guards: [
      {
        argv: ['losetup', '-j', desired.file],
        expect: { exit: 0, stdout: { is: '' } },
        refusal: `${desired.file} was attached by someone meanwhile`,
      },
      {
        argv: ['blkid', '-p', '-o', 'value', '-s', 'UUID', desired.file],
        expect: { exit: 0, stdout: { is: desired.uid } },
        refusal: `${desired.file} no longer holds the file system ${desired.uid}`,
      },
    ],
    mayRace: true,
  };
}

function settle(desired: Desired): Step {
  return {
    name: 'wait for the persistent link',
    argv: ['udevadm', 'settle', `--timeout=${LINK_TIMEOUT}`, `--exit-if-exists=${linkOf(desired.uid)}`],
    guards: [],
    // Other devices of the node may keep udev busy for longer; whether our link is there is looked at again.
    mayRace: true,
  };
}

function trigger(loop: LoopFacts): Step {
  return {
    name: `have udev look at /dev/${loop.name} again`,
    argv: ['udevadm', 'trigger', '--action=change', `--name-match=/dev/${loop.name}`],
    guards: [],
  };
}

function detach(desired: Desired, loop: LoopFacts): Step {
  const device = `/dev/${loop.name}`;
  const [major, minor] = loop.device.split(':').map(Number) as [number, number];
  const guards: Guard[] = [
    {
      argv: ['losetup', '-n', '--raw', '-O', 'BACK-INO', device],
      expect: { exit: 0, stdout: { is: loop.backingInode } },
      refusal: `${device} no longer has ${desired.file}`,
    },
    {
      argv: ['losetup', '-j', device],
      expect: { exit: 0, stdout: { is: '' } },
      refusal: `${device} is in use: another loop device is stacked on it`,
    },
    {
      // Of every process: a mount in another mount namespace is not in our own table. The root of each is there, too.
      argv: [
        ...['find', '/proc', '-maxdepth', '2', '-path', '/proc/[0-9]*/mountinfo'],
        ...['-exec', 'grep', '-hsF', '-e', ` ${loop.device} `, '-e', ' / / ', '{}', '+'],
      ],
      expect: { stdout: { has: ' / / ', lacks: ` ${loop.device} ` } },
      refusal: `${device} is in use: it is mounted`,
    },
    {
      // Open files by device number, whatever name they were opened by: `losetup -d` would exit 0 and leave it. What
      // looks has /dev/null open itself.
      argv: [
        ...['find', '-L', '/proc', '-maxdepth', '3', '('],
        ...['-path', '/proc/*/*', '!', '-path', '/proc/[0-9]*/fd*', '-prune', ')', '-o'],
        ...['(', '-path', '/proc/[0-9]*/fd/*', '(', '-type', 'b', '-o', '-type', 'c', ')'],
        ...['-exec', 'stat', '-L', '-c', '/%F %t:%T/', '{}', '+', ')'],
      ],
      expect: {
        stdout: {
          has: '/character special file 1:3/',
          lacks: `/block special file ${major.toString(16)}:${minor.toString(16)}/`,
        },
      },
      refusal: `${device} is in use: a process has it open`,
    },
    {
      argv: ['find', `/sys/block/${loop.name}/holders`, '-mindepth', '1'],
      expect: { exit: 0, stdout: { is: '' } },
      refusal: `${device} is in use: another device is made of it`,
    },
    {
      argv: ['cat', '/proc/swaps'],
      expect: { exit: 0, stdout: { has: 'Filename', lacks: `${device} ` } },
      refusal: `${device} is in use: it is swap`,
    },
  ];
  return { name: `detach ${device}`, argv: ['losetup', '-d', device], guards };
}
