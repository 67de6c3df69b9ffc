import { refuse } from '../api/reasons.ts';
import type { Probe, Step } from '../nodes/job.ts';
import { linkOf } from './links.ts';
import type { DesiredVolume, ObservedVolume, Plan } from './types.ts';

/** How long udev gets to make a link or a device, in seconds. */
const LINK_TIMEOUT = 10;

/** Waits until udev has nothing to do. */
export const waitForUdev: Step = {
  name: 'wait for udev',
  argv: ['udevadm', 'settle', `--timeout=${LINK_TIMEOUT}`],
  preconditions: [],
  failureMeansConflict: true,
};

/**
 * Waits until a persistent link is there.
 * @param isAstray it is there and leads to another device, which udev may be about to change: waits until udev has nothing to do
 */
export function waitForLink(link: string, isAstray = false): Step {
  return {
    name: 'wait for the persistent link',
    argv: isAstray ? waitForUdev.argv : settle(link),
    preconditions: [],
    // Other devices of the node may keep udev busy for longer; whether our link is there is looked at again.
    failureMeansConflict: true,
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
    preconditions: [],
    // A partition comes and goes while the kernel reads its table.
    failureMeansConflict: true,
  };
}

/** Beside udev's own rules, until the node starts anew. */
const RULES = '/run/udev/rules.d';
const readRules: Step = {
  name: 'have udev read its rules',
  // udev refuses a request while others wait to be taken, so jobs ask one at a time. The dot: flock makes a file of a path
  // that is not there.
  argv: ['flock', '-x', '-w', '60', '/run/udev/.', 'udevadm', 'control', '--reload'],
  preconditions: [],
  // Other programs of the node ask as well. udev sees by itself, within seconds, that a rule came.
  failureMeansConflict: true,
};

export const rulePath = (uid: string) => `${RULES}/61-stowage-${uid}.rules`;

type Named = Pick<DesiredVolume, 'uid' | 'mode' | 'earlierLink'>;

/** Priorities of links: of several devices with one link, udev gives it to the highest. The default is 0. */
const FIRST = 100;
const LAST = -100;

/**
 * Has udev give a device its persistent link whatever blkid reads on it: a pod can store bytes that hide a UUID, or that
 * show another device's. udev takes the link away again with the device.
 * @param match keys of udev(7) that no other device of the node has, and that a pod can't write
 */
export function makeRule(desired: Named, match: string): Step[] {
  return [
    {
      name: 'make the directory of udev rules',
      argv: ['install', '-d', '-m', '0755', RULES],
      preconditions: [],
    },
    {
      name: 'write the rule for the persistent link',
      // The text is in the arguments, so that sudo can allow this rule and no other.
      argv: [
        'find',
        '/dev/null',
        '-fprintf',
        rulePath(desired.uid),
        `${ruleText(desired, match)}\\n`,
      ],
      preconditions: [],
    },
    readRules,
  ];
}

/** For a rule: a device by the UUID that device-mapper has for it. Whoever makes a map chooses it: udev has patterns there. */
export const mapperKey = (uuid: string): string =>
  `ATTR{dm/uuid}=="${uuid.replace(/[^\w.-]/g, '?')}"`;

/** Removes the persistent link from a device that stays, if it is one that a rule makes. */
export function dropLink(
  desired: Pick<DesiredVolume, 'uid' | 'earlierLink'>,
  observed: Pick<ObservedVolume, 'link' | 'devices'>,
): Step[] {
  if (desired.earlierLink !== undefined || observed.link === undefined) return [];
  const names = observed.devices
    .filter(({ device }) => device === observed.link)
    .map(({ name }) => name);
  return [
    {
      name: 'remove the rule for the persistent link',
      argv: ['rm', '-f', rulePath(desired.uid)],
      preconditions: [],
    },
    readRules,
    ...names.slice(0, 1).map(lookAgain),
    waitForUdev,
    {
      name: 'remove the persistent link, if udev left it',
      argv: ['rm', '-f', '--', linkOf(desired)],
      preconditions: [],
    },
  ];
}

/** For a rule: the loop device that a kubelet puts on the device of a Block volume, of any driver. */
const KUBELET_LOOP = 'KERNEL=="loop*",ATTR{loop/backing_file}=="*/volumeDevices/*"';

const priority = (number: number) => `OPTIONS+="link_priority=${number}"`;

/** Without spaces: sudo joins arguments by them. */
function ruleText(desired: Named, match: string): string {
  const { mode, earlierLink } = desired;
  const rule = `SUBSYSTEM=="block",${match},SYMLINK+="${linkOf(desired).replace('/dev/', '')}"`;
  // udev derives that from content: any device may show the same.
  if (mode === 'Filesystem') return earlierLink === undefined ? rule : `${rule},${priority(FIRST)}`;
  // A UUID that a pod writes gets no link that another device has.
  const own = earlierLink === undefined ? `${rule},${priority(LAST)}` : rule;
  return `${own}\\nSUBSYSTEM=="block",${KUBELET_LOOP},${priority(LAST)}`;
}

export const noUdev = (link: string): Plan => ({
  ...refuse('UdevAbsent', { link }),
  retryable: true,
});
