import type { Probe, Step } from '../nodes/job.ts';
import type { Plan } from './types.ts';

/** How long udev gets to make a link or a device, in seconds. */
const LINK_TIMEOUT = 10;

/** Waits until a persistent link is there. */
export function waitForLink(link: string): Step {
  return {
    name: 'wait for the persistent link',
    argv: settle(link),
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

export function noUdev(link: string): Plan {
  return {
    refusal: `no udev runs on the node, so ${link} would never appear`,
    hint: 'Start systemd-udevd on the node.',
    passing: true,
  };
}
