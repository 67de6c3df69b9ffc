import type { Probe, ProbeResult } from '../nodes/job.ts';
import { LSBLK, parseBlockDevices } from './block-devices.ts';
import { LOSETUP, parseLoops } from './loops.ts';
import { MAPPERS, readMappers } from './mappers.ts';
import { notUnderstood, ObservationError, optional, succeeded } from './probe-results.ts';
import type { BlockDevice, DeviceUsage, LoopFacts } from './types.ts';

/** Returns probes of which devices are in use, on the whole node. */
export function usageProbes(): Probe[] {
  return [
    { name: 'loops', argv: LOSETUP },
    { name: 'devices', argv: LSBLK },
    { name: 'mounts', argv: ['cat', '/proc/self/mountinfo'] },
    { name: 'swaps', argv: ['cat', '/proc/swaps'] },
    { name: 'mappers', argv: MAPPERS },
  ];
}

/** @throws ObservationError for an answer that leaves open what is on the node */
export function readUsage(get: (name: string) => ProbeResult): DeviceUsage {
  const { loops, devices } = readDevices(get);
  return {
    loops,
    devices,
    mounts: readMounts(succeeded('mounts', get('mounts')), devices),
    // A kernel without swap has no such file.
    swaps: readSwaps(optional('swaps', get('swaps')) ?? ''),
  };
}

/** @throws ObservationError for an answer that leaves open what is on the node */
export function readDevices(get: (name: string) => ProbeResult): {
  loops: LoopFacts[];
  devices: BlockDevice[];
} {
  const losetup = succeeded('loops', get('loops'));
  const lsblk = succeeded('devices', get('devices'));
  const mappers = readMappers(get('mappers'));
  try {
    const unnamed = parseBlockDevices(lsblk);
    const devices = unnamed.map((each) => {
      const mapper = mappers.get(each.name);
      return mapper === undefined ? each : { ...each, mapper };
    });
    return { loops: parseLoops(losetup, devices), devices };
  } catch (cause) {
    throw new ObservationError(notUnderstood('losetup or lsblk', cause), cause);
  }
}

/**
 * Returns mount points by device number (proc(5), mountinfo): the third field is major:minor, the
 * fifth the mount point with octal escapes; type and source follow a `-`. btrfs gives each mount a
 * number of its own, so only the source shows its device.
 */
function readMounts(text: string, devices: readonly BlockDevice[]): Map<string, string[]> {
  const mounts = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [, , device, , point, ...rest] = line.split(' ');
    if (device === undefined || point === undefined) continue;
    const source = rest[rest.indexOf('-') + 2];
    const named = devices.find(({ name }) => source === `/dev/${name}`)?.device;
    for (const each of new Set([device, named ?? device])) {
      mounts.set(each, [...(mounts.get(each) ?? []), point]);
    }
  }
  return mounts;
}

/**
 * Returns the paths of swap devices (proc(5), swaps): a heading, then lines that begin with the
 * path.
 */
function readSwaps(text: string): string[] {
  return text
    .split('\n')
    .slice(1)
    .flatMap((line) => line.split(/\s/)[0] || []);
}

/** Converts a device number of stat(1) from hexadecimal: `7:a` is `7:10`. */
export function fromHex(device: string): string {
  return device
    .split(':')
    .map((part) => Number.parseInt(part, 16))
    .join(':');
}
