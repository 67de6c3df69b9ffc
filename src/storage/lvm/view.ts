import { refuse } from '../../api/reasons.ts';
import type { Probe, ProbeResult } from '../../nodes/job.ts';
import { othersProbe, readOthers } from '../block/observe.ts';
import { LSBLK } from '../block-devices.ts';
import { readDevices } from '../device-usage.ts';
import { LOSETUP } from '../loops.ts';
import { MAPPERS } from '../mappers.ts';
import { ObservationError } from '../probe-results.ts';
import type { BlockDevice, Intent, LoopFacts } from '../types.ts';
import { disksOf, isOfVolume, madeOf, pathsOf } from './volume-devices.ts';

/** The devices that LVM is shown on a node: all but those of Volumes, on which their users may have made groups of any name. */
export interface View {
  /** Words for a command of LVM; none where lvm.conf itself sets all filters. */
  words: readonly string[];
  /** Whether a physical volume, by a path that LVM has for it, is on a device of a Volume. */
  hides(path: string): boolean;
}

/** lvm.conf(5): a setting of the command line replaces the one in the file. Prints those that are set, and fails for one that is not. */
const settingsProbe: Probe = {
  name: 'LVM filters',
  argv: ['lvmconfig', 'devices/filter', 'devices/global_filter'],
};

/** Probes that tell which devices are of Volumes, beside the records of others. They read only. */
export const viewProbes = (): Probe[] => [
  { name: 'loops', argv: LOSETUP },
  { name: 'devices', argv: LSBLK },
  { name: 'mappers', argv: MAPPERS },
  othersProbe,
  settingsProbe,
];

/** The same for whoever has asked for loops, devices and records already. */
export const filtersProbe = (): Probe => settingsProbe;

/**
 * @param kubeletRoot where the kubelet has its own loop devices over volumes of mode Block
 * @throws ObservationError for an answer that leaves open which devices are of Volumes
 */
export function readView(
  get: (name: string) => ProbeResult,
  kubeletRoot = '/var/lib/kubelet',
): View {
  const { loops, devices } = readDevices(get);
  const patterns = patternsOf(loops, devices, readOthers('', get), kubeletRoot);
  const setting = freeSetting(get('LVM filters'));
  const list = patterns.map(({ accepts, pattern }) => `"${accepts ? 'a' : 'r'}|${pattern}|"`);
  return {
    words: setting === undefined ? [] : ['--config', `devices{${setting}=[${list.join(',')}]}`],
    hides: (path) =>
      patterns.find(({ pattern }) => new RegExp(pattern).test(path))?.accepts === false,
  };
}

interface Pattern {
  accepts: boolean;
  /** As LVM has them: a subset of extended regular expressions. */
  pattern: string;
}

/**
 * LVM goes by the first pattern that fits, for each path of a device, and takes what none fits. A loop device that is attached
 * after this was read counts as a Volume's.
 */
function patternsOf(
  loops: readonly LoopFacts[],
  devices: readonly BlockDevice[],
  intents: readonly Intent[],
  kubeletRoot: string,
): Pattern[] {
  const own = loops.filter((loop) => !isOfVolume(loop, kubeletRoot)).map(({ name }) => name);
  const disks = disksOf(devices, intents);
  const names = new Set([...disks, ...madeOf(devices, own, disks)]);
  const paths = [...pathsOf(intents), ...[...names].map((name) => `/dev/${name}`)];
  return [
    ...own.map((name) => ({ accepts: true, pattern: `^/dev/${name}(p[0-9]+)?$` })),
    { accepts: false, pattern: '^/dev/loop[0-9]' },
    ...paths.map((path) => ({ accepts: false, pattern: `^${literal(path)}$` })),
  ];
}

/** The text itself as a pattern. What would end the pattern, or the word, is any character there. */
const literal = (text: string): string =>
  text.replace(/[^A-Za-z0-9_:=@/-]/g, (character) =>
    /[.+]/.test(character) ? `[${character}]` : '.',
  );

/** The filter that lvm.conf leaves to us; undefined where it sets both. One that lets all through is none. */
function freeSetting({
  exit,
  stdout,
  stderr,
}: ProbeResult): 'filter' | 'global_filter' | undefined {
  if (![0, 5].includes(exit))
    throw new ObservationError(refuse('LVMFiltersUnread', { said: stderr.trim() }));
  const isSet = (name: string) => {
    const value = new RegExp(`^\\s*(?:devices/)?${name}=(.*)$`, 'm').exec(stdout)?.[1];
    return value !== undefined && !/^\[?"a(.)\.\*\/?\1"\]?$/.test(value.trim());
  };
  if (!isSet('filter')) return 'filter';
  return isSet('global_filter') ? undefined : 'global_filter';
}

/** A command of LVM that is shown these physical volumes alone, so that no other group has the name of theirs. */
export const onlyDisks = (disks: readonly string[]): string =>
  `devices{filter=[${[...disks.map((path) => `"a|^${literal(path)}$|"`), '"r|.*|"'].join(',')}]}`;
