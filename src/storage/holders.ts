import { USE_ENDS } from '../api/reasons/devices.ts';
import { fill } from '../api/reasons/template.ts';
import { commandText, quote } from '../nodes/quote.ts';
import type { BlockDevice, DeviceUsage } from './types.ts';

/**
 * Holder that keeps a device in use: a mount, swap, or a device that is stacked on it or made of
 * it.
 */
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
  /** Path of the device that is mounted, used as swap, or made of the one below. */
  device: string;
  /** Mount points, or type and device-mapper name, each escaped as the kernel does. */
  name: string | undefined;
  /**
   * Command that ends the use, as typed on the node; undefined if the kubelet ends it, or none is
   * known.
   */
  command: string | undefined;
}

/** End of a use, as exactly one of the parameters of `USE_ENDS`. */
export type UseEnd =
  | { command: string }
  | { look: string }
  | { kubelet: 'kubelet' }
  | { use: 'that' };

export interface Use {
  /** Holders, as the message of a refusal names them. */
  by: string;
  ended: UseEnd;
  /** `ended` as a sentence, with the command last if there is one. */
  end: string;
}

export const useBy = (by: string, ended: UseEnd): Use => ({
  by,
  ended,
  end: fill(USE_ENDS, ended).trimStart(),
});

type Device = Pick<BlockDevice, 'name' | 'device'>;

/** Maximum number of devices to follow: a user who may make devices can stack thousands. */
const MAX_DEVICES = 256;

/** Pattern of the kubelet's own mount points, which the kubelet unmounts. */
const OF_KUBELET = /kubernetes\.io~|\/plugins\/kubernetes\.io\//;

/**
 * Returns the holders of a device, from the one directly on it to the last, which has to end
 * first. Returns the longest of several chains: the logical volumes of a group can be deactivated
 * together once none is in use. Excludes the device's partitions, which callers check.
 * @param known devices that were followed so far
 */
export function holdersOf(
  device: Device,
  users: DeviceUsage,
  known = new Map<string, DeviceHolder[]>(),
): DeviceHolder[] {
  const before = known.get(device.name);
  if (before !== undefined || known.size === MAX_DEVICES) return before ?? [];
  // lsblk may run while devices change: do not follow a cycle.
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

/** Returns the longest chain on a device that is itself a holder, or on one of its partitions. */
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

/** Returns the observed use of a device and what ends it; undefined if there is none. */
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
      return at === 0 ? `held by ${device}` : `which is held by ${device}`;
    default: {
      const what = `${device} (${name ?? kind})`;
      return at === 0 ? `held by ${what}` : `which is held by ${what}`;
    }
  }
}

/**
 * Decodes a mount point of mountinfo, where a space, tab, newline or backslash is three octal
 * digits.
 */
const unescaped = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );

/**
 * Escapes a user-chosen name the same way, so that it cannot pass for another part of a message.
 */
const escaped = (text: string): string =>
  text.replace(/[^!-[\]-~]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`);

/** Returns a command on one line; undefined if an argument is not printable ASCII. */
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
 * Returns a command that deactivates a volume group by UUID. A pod's group may have the name of one
 * of the node's own. The list of devices on some systems (lvmdevices) is ignored: it lacks pods'
 * volumes.
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
