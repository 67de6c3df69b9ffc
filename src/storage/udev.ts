import { refuse } from '../api/reasons.ts';
import type { Probe, Step } from '../nodes/job.ts';
import { linkOf } from './links.ts';
import type { DesiredVolume, ObservedVolume, Plan } from './types.ts';

/** Maximum time (s) for udev to create a link or a device. */
const LINK_TIMEOUT = 10;

/** Step that waits until udev is idle. */
export const waitForUdev: Step = {
  name: 'wait for udev',
  argv: ['udevadm', 'settle', `--timeout=${LINK_TIMEOUT}`],
  preconditions: [],
  failureMeansConflict: true,
};

/**
 * Returns a step that waits until a persistent link exists.
 * @param isAstray the link leads to another device, which udev may be about to change: waits until
 * udev is idle
 */
export function waitForLink(link: string, isAstray = false): Step {
  return {
    name: 'wait for the persistent link',
    argv: isAstray ? waitForUdev.argv : settle(link),
    preconditions: [],
    // Other devices of the node may keep udev busy for longer; a later observation checks the link.
    failureMeansConflict: true,
  };
}

/**
 * Returns the probe that waits for a path that udev may be about to create. After a change to a
 * partition table, the kernel removes and re-adds all partitions of the disk that are not open, and
 * udev their links.
 */
export const waitForPath = (path: string): Probe => ({ name: 'wait for udev', argv: settle(path) });

/** Returns a command that ends once the path exists or udev is idle. */
const settle = (path: string) => [
  ...['udevadm', 'settle'],
  ...[`--timeout=${LINK_TIMEOUT}`, `--exit-if-exists=${path}`],
];

/** Returns a step that makes udev read a device again and create its links. */
export function triggerUdev(name: string): Step {
  return {
    name: `trigger udev for /dev/${name}`,
    argv: ['udevadm', 'trigger', '--action=change', `--name-match=/dev/${name}`],
    preconditions: [],
    // A partition comes and goes while the kernel reads its table.
    failureMeansConflict: true,
  };
}

/** Directory of udev rules that last until the next boot, beside udev's own rules. */
const RULES = '/run/udev/rules.d';
const readRules: Step = {
  name: 'reload the udev rules',
  // udev refuses a request while others are queued, so jobs send one at a time. The dot: flock
  // creates a missing file.
  argv: ['flock', '-x', '-w', '60', '/run/udev/.', 'udevadm', 'control', '--reload'],
  preconditions: [],
  // Other programs of the node send requests too. udev notices a new rule by itself within seconds.
  failureMeansConflict: true,
};

export const rulePath = (uid: string) => `${RULES}/61-stowage-${uid}.rules`;

type Named = Pick<DesiredVolume, 'uid' | 'mode' | 'earlierLink'>;

/**
 * Link priorities: of several devices with one link, udev gives it to the highest. The default is
 * 0.
 */
const FIRST = 100;
const LAST = -100;

/**
 * Returns steps that make udev give a device its persistent link whatever blkid reads on it. A pod
 * can store bytes that hide a UUID, or that show another device's. udev removes the link with the
 * device.
 * @param match keys of udev(7) that no other device of the node has, and that a pod cannot write
 */
export function makeRule(desired: Named, match: string): Step[] {
  return [
    {
      name: 'create the directory of udev rules',
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

/**
 * Returns the rule's key for a device by its device-mapper UUID. The creator of a map chooses the
 * UUID, so characters of udev's patterns are replaced.
 */
export const mapperKey = (uuid: string): string =>
  `ATTR{dm/uuid}=="${uuid.replace(/[^\w.-]/g, '?')}"`;

/** Returns steps that remove the persistent link from a device that stays, if a rule creates it. */
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
    ...names.slice(0, 1).map(triggerUdev),
    waitForUdev,
    {
      name: 'remove the persistent link, if udev left it',
      argv: ['rm', '-f', '--', linkOf(desired)],
      preconditions: [],
    },
  ];
}

/**
 * Keys of a rule for the loop device that a kubelet stacks on a Block volume's device, of any
 * driver.
 */
const KUBELET_LOOP = 'KERNEL=="loop*",ATTR{loop/backing_file}=="*/volumeDevices/*"';

const priority = (number: number) => `OPTIONS+="link_priority=${number}"`;

/** Returns the text of the rule, without spaces: sudo joins arguments with them. */
function ruleText(desired: Named, match: string): string {
  const { mode, earlierLink } = desired;
  const rule = `SUBSYSTEM=="block",${match},SYMLINK+="${linkOf(desired).replace('/dev/', '')}"`;
  // udev derives the earlier path from content, which any device may show.
  if (mode === 'Filesystem') return earlierLink === undefined ? rule : `${rule},${priority(FIRST)}`;
  // A UUID that a pod writes must not win a link that another device has.
  const own = earlierLink === undefined ? `${rule},${priority(LAST)}` : rule;
  return `${own}\\nSUBSYSTEM=="block",${KUBELET_LOOP},${priority(LAST)}`;
}

export const noUdev = (link: string): Plan => ({
  ...refuse('UdevAbsent', { link }),
  retryable: true,
});
