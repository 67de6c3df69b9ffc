import type { Probe, Step } from '../nodes/job.ts';
import type { Plan } from './types.ts';

/** How long udev gets to make a link or a device, in seconds. */
const LINK_TIMEOUT = 10;

/**
 * Waits until a persistent link is there.
 * @param isElsewhere it is there and leads to another device, which udev may be about to change: waits until udev has nothing to do
 */
export function waitForLink(link: string, isElsewhere = false): Step {
  return {
    name: 'wait for the persistent link',
    argv: isElsewhere ? ['udevadm', 'settle', `--timeout=${LINK_TIMEOUT}`] : settle(link),
    guards: [],
    // Other devices of the node may keep udev busy for longer; whether our link is there is looked at again.
    mayRace: true,
  };
}

/**
 * Waits until a path is there that udev may be about to make. Who changes a partition table has the kernel take away and
 * bring back all partitions of the disk that nothing has open, and udev their links after them.
 */
export const waitForPath = (path: string): Probe => ({ name: 'wait for udev', argv: settle(path) });

/** Ends at once where the path is there, or where udev has nothing to do. */
const settle = (path: string) => [
  ...['udevadm', 'settle'],
  ...[`--timeout=${LINK_TIMEOUT}`, `--exit-if-exists=${path}`],
];

/** Has udev read a device again, and make its links. */
export function lookAgain(name: string): Step {
  return {
    name: `have udev look at /dev/${name} again`,
    argv: ['udevadm', 'trigger', '--action=change', `--name-match=/dev/${name}`],
    guards: [],
    // A partition comes and goes while the kernel reads its table.
    mayRace: true,
  };
}

/** Beside udev's own rules, until the node starts anew. */
const RULES = '/run/udev/rules.d';
export const rulePath = (uid: string) => `${RULES}/61-stowage-${uid}.rules`;

/**
 * Has udev give a device its persistent link whatever blkid reads on it: a pod can store bytes that hide the UUID from it. udev
 * takes the link away again with the device.
 * @param match keys of udev(7) that no other device of the node has, which say nothing of the device's content
 */
export function linkAnyway(uid: string, link: string, match: string): Step[] {
  // Without spaces: sudo joins arguments by them.
  const rule = `SUBSYSTEM=="block",${match},SYMLINK+="${link.replace('/dev/', '')}"`;
  return [
    { name: 'make the directory of udev rules', argv: ['install', '-d', '-m', '0755', RULES], guards: [] },
    {
      name: 'have udev make the link whatever the volume holds',
      // The text is in the arguments, so that sudo can allow this rule and no other.
      argv: ['find', '/dev/null', '-fprintf', rulePath(uid), `${rule}\\n`],
      guards: [],
    },
    { name: 'have udev read its rules', argv: ['udevadm', 'control', '--reload'], guards: [] },
  ];
}

export function noUdev(link: string): Plan {
  return {
    refusal: `no udev runs on the node, so ${link} would never appear`,
    hint: 'Start systemd-udevd on the node.',
    passing: true,
  };
}
