import type { Image } from './image.ts';

/** A disk of a VM. */
export interface DiskFile {
  /** Names it in qemu, and is its serial number. */
  name: string;
  file: string;
}

/** A second network card, by a wire to one other VM. Both may be off at any time, and find each other again. */
export interface Link {
  /** UDP ports of loopback: this end's, and the other one's. */
  here: number;
  there: number;
  /** No other VM's on the wire. */
  mac: string;
}

/** A device of qemu, such as `{ driver: 'nvme-ns', bus: 'c0', drive: 'NAME OF A DISK' }`. */
export type DeviceProperties = { driver: string; drive?: string } & Readonly<
  Record<string, string | bigint | boolean>
>;

export interface Machine {
  name: string;
  image: Image;
  memoryMiB: number;
  cpus: number;
  /** Loopback port that leads to its sshd. */
  port: number;
  link: Link | undefined;
  /** qcow2 on top of the image's disk. */
  rootDisk: string;
  disks: readonly DiskFile[];
  /** The names of those that it has when it starts. */
  plugged: ReadonlySet<string>;
  /** Further devices, with properties as qemu names them; the driver comes first. */
  devices: readonly DeviceProperties[];
  /** Further arguments of the kernel. */
  kernel: readonly string[];
  /** Where all boots are written one after the other. */
  consoleLog: string;
  /** Socket of the monitor. */
  monitor: string;
}

/** The arguments of qemu-system-x86_64. Nothing is emulated beside what is named, and no signal but ours ends it. */
export function qemuArguments(machine: Machine): string[] {
  const {
    name,
    image,
    memoryMiB,
    cpus,
    port,
    link,
    rootDisk,
    disks,
    plugged,
    devices,
    consoleLog,
    monitor,
  } = machine;
  const device = (properties: object) => ['-device', JSON.stringify(properties)];
  return [
    ...['-name', name, '-nodefaults', '-no-user-config', '-display', 'none'],
    ...['-machine', 'q35', '-accel', 'tcg,thread=multi', '-cpu', 'Westmere'],
    ...['-smp', String(cpus), '-m', String(memoryMiB)],
    ...['-kernel', image.kernel, '-append', kernelArguments(name, machine.kernel)],
    ...[
      '-chardev',
      `file,id=console,append=on,path=${comma(consoleLog)}`,
      '-serial',
      'chardev:console',
    ],
    ...['-qmp', `unix:${comma(monitor)},server=on,wait=off`],
    ...blockdev('root', rootDisk),
    // The kernel has its driver built in, as no other disk's.
    ...device({ driver: 'nvme', drive: 'root', serial: 'root' }),
    ...device({ driver: 'virtio-scsi-pci', id: 'scsi' }),
    ...disks.flatMap(({ name, file }) => blockdev(name, file)),
    ...disks.filter(({ name }) => plugged.has(name)).flatMap((disk) => device(scsiDisk(disk))),
    ...devices.flatMap((each) => ['-device', json(each)]),
    ...['-netdev', `user,id=net,hostfwd=tcp:127.0.0.1:${port}-:22`],
    ...device({ driver: 'virtio-net-pci', netdev: 'net', romfile: '' }),
    ...device({ driver: 'virtio-rng-pci' }),
    // After the other card, which is eth0.
    ...(link === undefined
      ? []
      : [...wire(link), ...device({ driver: 'virtio-net-pci', ...LINK, mac: link.mac })]),
  ];
}

const LINK = { netdev: 'link', romfile: '' };
const wire = ({ here, there }: Link) => [
  '-netdev',
  `socket,id=link,udp=127.0.0.1:${there},localaddr=127.0.0.1:${here}`,
];

/** The device of a disk, as an option and as the monitor's `device_add` take it. */
export function scsiDisk({ name }: DiskFile): Record<string, string> {
  return { driver: 'scsi-hd', bus: 'scsi.0', id: name, drive: name, serial: name };
}

/**
 * A flush of the VM is one of the host, and what was not flushed may be lost with the process: tables of a qcow2 file
 * are in its memory. So that ending it is a power cut.
 */
function blockdev(name: string, file: string): string[] {
  const options = { driver: 'qcow2', 'node-name': name, file: { driver: 'file', filename: file } };
  return ['-blockdev', JSON.stringify(options)];
}

const kernelArguments = (name: string, more: readonly string[]) =>
  [
    ...['root=/dev/nvme0n1', 'rw', 'console=ttyS0', 'net.ifnames=0', 'panic=1'],
    // An emulated processor has nothing to precondition against. And what it translated of a program it can use again only
    // where the program is at the same place again: starting one takes a fifth of the time then.
    ...['mitigations=off', 'norandmaps', 'nokaslr', 'init_on_alloc=0'],
    ...more,
    `systemd.hostname=${name}`,
    // Always the same for one name, and no other VM's.
    `systemd.machine_id=${Buffer.from(name).toString('hex').padEnd(32, '0').slice(0, 32)}`,
  ].join(' ');

/** JSON, also of a WWN, which has more bits than a number of JavaScript. */
const json = (properties: DeviceProperties): string =>
  `{${Object.entries(properties)
    .map(([key, value]) => `"${key}":${typeof value === 'bigint' ? value : JSON.stringify(value)}`)
    .join(',')}}`;

const comma = (path: string) => path.replaceAll(',', ',,');
