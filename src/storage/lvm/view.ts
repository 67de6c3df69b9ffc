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

/**
 * Devices of a node that LVM may see: all except those of Volumes, on which users may have made
 * groups of any name.
 */
export interface View {
  /** Arguments for an LVM command; none if lvm.conf sets all filters. */
  words: readonly string[];
  /** Reports whether a physical volume, by LVM's path of it, is on a device of a Volume. */
  hides(path: string): boolean;
}

/** Package with the programs of LVM, as most distributions name it. */
export const LVM_PACKAGE = 'lvm2';

/**
 * Prints the filters set in lvm.conf(5), which a command-line setting would replace. Fails if one
 * is not set.
 */
const settingsProbe: Probe = {
  name: 'LVM filters',
  argv: ['lvmconfig', 'devices/filter', 'devices/global_filter'],
};

/**
 * Returns the probes that find devices of Volumes, and the records of other Volumes. They read
 * only.
 */
export const viewProbes = (): Probe[] => [
  { name: 'loops', argv: LOSETUP },
  { name: 'devices', argv: LSBLK },
  { name: 'mappers', argv: MAPPERS },
  othersProbe,
  settingsProbe,
];

/** Returns the same for callers that already observe loops, devices and records. */
export const filtersProbe = (): Probe => settingsProbe;

/** Returns what a node without the programs of LVM answers; undefined if it has them. */
export function lackOfLvm(results: ReadonlyMap<string, ProbeResult>): string | undefined {
  const { exit, stderr } = results.get(settingsProbe.name) ?? {};
  return exit === 127 ? stderr?.trim() : undefined;
}

/**
 * @param kubeletRoot the kubelet's directory, where it keeps loop devices over volumes of mode
 * Block
 * @throws ObservationError if it remains open which devices belong to Volumes
 */
export function readView(
  get: (name: string, from?: string) => ProbeResult,
  kubeletRoot = '/var/lib/kubelet',
): View {
  const { loops, devices } = readDevices(get);
  const patterns = patternsOf(loops, devices, readOthers('', get), kubeletRoot);
  const setting = freeSetting(get(settingsProbe.name, LVM_PACKAGE));
  const list = patterns.map(({ accepts, pattern }) => `"${accepts ? 'a' : 'r'}|${pattern}|"`);
  return {
    words: setting === undefined ? [] : ['--config', `devices{${setting}=[${list.join(',')}]}`],
    hides: (path) =>
      patterns.find(({ pattern }) => new RegExp(pattern).test(path))?.accepts === false,
  };
}

interface Pattern {
  accepts: boolean;
  /** Pattern in LVM's subset of extended regular expressions. */
  pattern: string;
}

/**
 * Returns the filter patterns. For each path of a device, LVM applies the first match, and accepts
 * a path without one. A loop device attached after the observation counts as a Volume's.
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

/**
 * Escapes a text as a pattern. A character that would end the pattern or the argument matches any.
 */
const literal = (text: string): string =>
  text.replace(/[^A-Za-z0-9_:=@/-]/g, (character) =>
    /[.+]/.test(character) ? `[${character}]` : '.',
  );

/**
 * Returns the filter that lvm.conf leaves free; undefined if it sets both. A filter that accepts
 * everything counts as free.
 */
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

/**
 * Returns an LVM configuration that shows only these physical volumes, so that no other group
 * shares their name.
 */
export const onlyDisks = (disks: readonly string[]): string =>
  `devices{filter=[${[...disks.map((path) => `"a|^${literal(path)}$|"`), '"r|.*|"'].join(',')}]}`;
