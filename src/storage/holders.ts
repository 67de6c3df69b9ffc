import { USE_ENDS } from '../api/reasons/devices.ts';
import { fill } from '../api/reasons/template.ts';
import { commandText, quote } from '../nodes/quote.ts';
import type { BlockDevice, DeviceUsage } from './types.ts';

/** A holder keeps a device in use: a mount, swap, or a device that is stacked on it or made of it. */
export interface DeviceHolder {
  kind:
    | 'mount'
    | 'swap'
    | 'loop'
    | 'lvm'
    | 'crypt'
    | 'raid'
    | 'multipath'
    | 'bcache'
    | 'mapper'
    | 'other';
  /** The device that is mounted or swapped to, or that is made of the one below: a path. */
  device: string;
  /** The mount points, or device-mapper's name: escaped as the kernel does it, without a space. */
  name: string | undefined;
  /** Ends it, as one would type it on the node; undefined where the kubelet does, or nothing is known that does. */
  command: string | undefined;
}

/** The end of a use, as the parameters of `USE_ENDS`: one of them. */
export type UseEnd =
  | { command: string }
  | { look: string }
  | { kubelet: 'kubelet' }
  | { use: 'that' };

/** A use of a device. */
export interface Use {
  /** The holders, for the message of a refusal. */
  by: string;
  ended: UseEnd;
  /** The same as a sentence. The command comes last, if there is one. */
  end: string;
}

export const useBy = (by: string, ended: UseEnd): Use => ({
  by,
  ended,
  end: fill(USE_ENDS, ended).trimStart(),
});

type Device = Pick<BlockDevice, 'name' | 'device'>;

/** Bounds what is followed: whoever may make devices can stack thousands. */
const MAX_DEVICES = 256;

/** The kubelet's own mounts, which it ends itself. */
const OF_KUBELET = /kubernetes\.io~|\/plugins\/kubernetes\.io\//;

/**
 * Returns what holds a device, from what is directly on it to the last, which has to end first. Of several it is the longest row: the
 * logical volumes of a group can be deactivated together once none of them is in use. Not its partitions, which callers look at.
 * @param known the devices that were followed so far
 */
export function holdersOf(
  device: Device,
  users: DeviceUsage,
  known = new Map<string, DeviceHolder[]>(),
): DeviceHolder[] {
  const before = known.get(device.name);
  if (before !== undefined || known.size === MAX_DEVICES) return before ?? [];
  // lsblk may be read while devices are moved: what leads back here is not followed.
  known.set(device.name, []);
  const found = holdersNow(device, users, known);
  known.set(device.name, found);
  return found;
}

function holdersNow(
  { name, device }: Device,
  users: DeviceUsage,
  known: Map<string, DeviceHolder[]>,
): DeviceHolder[] {
  const path = `/dev/${name}`;
  const points = users.mounts.get(device);
  if (points !== undefined) {
    return [{ kind: 'mount', device: path, name: points.join(', '), command: unmount(points) }];
  }
  if (users.swaps.includes(path)) {
    return [{ kind: 'swap', device: path, name: undefined, command: commandText('swapoff', path) }];
  }
  const rows = [
    ...users.loops
      .filter(({ backingFile }) => backingFile === path)
      .map((loop) => [loopHolder(loop), ...above(loop, users, known)]),
    ...users.devices
      .filter(({ parent, type }) => parent === name && type !== 'part')
      .map((made) => [madeOf(made), ...above(made, users, known)]),
  ];
  return rows.reduce((longest, row) => (row.length > longest.length ? row : longest), []);
}

/** Returns the longest row on a device that is itself a holder, or on one of its partitions. */
function above(
  device: Device,
  users: DeviceUsage,
  known: Map<string, DeviceHolder[]>,
): DeviceHolder[] {
  const parts = users.devices.filter(
    ({ parent, type }) => parent === device.name && type === 'part',
  );
  return [device, ...parts]
    .map((each) => holdersOf(each, users, known))
    .reduce((longest, row) => (row.length > longest.length ? row : longest));
}

/** Returns who is seen to use a device, and what ends that; undefined where nobody is. */
export function useOf(device: Device, users: DeviceUsage): Use | undefined {
  const holders = holdersOf(device, users);
  const last = holders.at(-1);
  if (last === undefined) return undefined;
  return useBy(holders.map(describe).join(', '), endOf(last));
}

/** Returns the command that lists the processes that have a device open. */
export const listUsers = (path: string): string => commandText('fuser', '-v', path);

/** Returns the use of a device that a process has open: no observation names the process. */
export const openUse = (path: string): Use =>
  useBy('a process has it open', { look: listUsers(path) });

function endOf({ kind, name = '', command }: DeviceHolder): UseEnd {
  if (command !== undefined) return { command };
  return kind === 'mount' && OF_KUBELET.test(name) ? { kubelet: 'kubelet' } : { use: 'that' };
}

function describe({ kind, device, name }: DeviceHolder, at: number): string {
  switch (kind) {
    case 'mount':
      return at === 0 ? `mounted at ${name}` : `which is mounted at ${name}`;
    case 'swap':
      return at === 0 ? 'it is swap' : 'which is swap';
    case 'loop':
      return at === 0 ? `${device} is stacked on it` : `on that ${device}`;
    default: {
      const what = `${device} (${name ?? kind})`;
      return at === 0 ? `${what} is made of it` : `of that ${what}`;
    }
  }
}

/** Reads a mount point as mountinfo has it: a space, tab, newline or backslash is three octal digits there. */
const unescaped = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );

/** Escapes a name that somebody chose the same way, so that none is taken for another part of a message. */
const escaped = (text: string): string =>
  text.replace(/[^!-[\]-~]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`);

/** Returns a command of one line; undefined for what would be more, which is left to a person. */
const asLine = (...argv: readonly string[]): string | undefined =>
  argv.some((word) => /[^ -~]/.test(word)) ? undefined : commandText(...argv);

function unmount(points: readonly string[]): string | undefined {
  return points.some((point) => OF_KUBELET.test(point))
    ? undefined
    : asLine('umount', ...points.map(unescaped));
}

const loopHolder = ({ name }: Device): DeviceHolder => ({
  kind: 'loop',
  device: `/dev/${name}`,
  name: undefined,
  command: commandText('losetup', '-d', `/dev/${name}`),
});

/** Returns a program with a name as its argument, which is never taken for an option. */
const named = (program: readonly string[], name: string): string | undefined =>
  asLine(...program, ...(name.startsWith('-') ? ['--'] : []), name);

function madeOf({ name, type, mapper }: BlockDevice): DeviceHolder {
  const device = `/dev/${name}`;
  const known = mapper && escaped(mapper.name);
  const holder = (kind: DeviceHolder['kind'], command: string | undefined): DeviceHolder => ({
    ...{ kind, device, command },
    // lsblk takes the type from the UUID, which is free text.
    name: known === undefined ? escaped(type) : `${escaped(type)}, ${known}`,
  });
  if (name.startsWith('bcache')) {
    return holder('bcache', `echo 1 >${quote(`/sys/block/${name}/bcache/stop`)}`);
  }
  if (/^md\d/.test(name)) return holder('raid', commandText('mdadm', '--stop', device));
  const vg = /^LVM-([A-Za-z0-9]{32})/.exec(mapper?.uuid ?? '')?.[1];
  if (vg !== undefined) return holder('lvm', deactivate(vg));
  if (mapper === undefined) return holder('other', undefined);
  if (type === 'crypt') return holder('crypt', named(['cryptsetup', 'close'], mapper.name));
  if (type === 'mpath') return holder('multipath', named(['multipath', '-f'], mapper.name));
  return holder('mapper', named(['dmsetup', 'remove'], mapper.name));
}

/**
 * Returns the command that deactivates a volume group. It goes by its UUID, for one that a pod made may have the name of one of the node's own. The list of
 * devices that some systems keep (lvmdevices) does not have the volumes of pods.
 */
function deactivate(vg: string): string {
  const uuid = [0, 6, 10, 14, 18, 22, 26]
    .map((from, at, all) => vg.slice(from, all[at + 1] ?? 32))
    .join('-');
  return commandText(
    ...['vgchange', '--activate', 'n', '--config', 'devices/use_devicesfile=0'],
    ...['--select', `vg_uuid=${uuid}`],
  );
}
