import type { Image } from './image.ts';

/** A disk of a VM. */
export interface DiskFile {
  /** Name in qemu, and serial number. */
  name: string;
  file: string;
}

/** A second network card, connected to one other VM. Either VM may be off at any time. */
export interface Link {
  /** UDP ports on loopback: of this end, and of the other end. */
  here: number;
  there: number;
  /** MAC address, unique on the connection. */
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
  /** Loopback port that is forwarded to its sshd. */
  port: number;
  link: Link | undefined;
  /** qcow2 file on top of the image's disk. */
  rootDisk: string;
  disks: readonly DiskFile[];
  /** Names of the disks that it has at the start. */
  plugged: ReadonlySet<string>;
  /** Additional devices, with properties as qemu names them. The driver comes first. */
  devices: readonly DeviceProperties[];
  /** Additional arguments of the kernel. */
  kernel: readonly string[];
  /** Path of the log of the console, with all boots in sequence. */
  consoleLog: string;
  /** Path of the monitor's socket. */
  monitor: string;
}

/**
 * Returns the arguments of qemu-system-x86_64. Emulates only the named devices. Only signals of
 * this process end it.
 */
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
    // The kernel has only this disk driver built in.
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

/** Returns the device of a disk, as an option and as the monitor's `device_add` take it. */
export function scsiDisk({ name }: DiskFile): Record<string, string> {
  return { driver: 'scsi-hd', bus: 'scsi.0', id: name, drive: name, serial: name };
}

/**
 * Returns the options of a disk. A flush in the VM flushes on the host. Data that is not flushed
 * may be lost with the process, which keeps tables of qcow2 files in its memory. So killing it is a
 * power cut.
 */
function blockdev(name: string, file: string): string[] {
  const options = { driver: 'qcow2', 'node-name': name, file: { driver: 'file', filename: file } };
  return ['-blockdev', JSON.stringify(options)];
}

const kernelArguments = (name: string, more: readonly string[]) =>
  [
    ...['root=/dev/nvme0n1', 'rw', 'console=ttyS0', 'net.ifnames=0', 'panic=1'],
    // An emulated processor has no speculation to mitigate.
    // Without address randomization, it reuses translated code: a program then starts in a fifth of
    // the time.
    ...['mitigations=off', 'norandmaps', 'nokaslr', 'init_on_alloc=0'],
    ...more,
    `systemd.hostname=${name}`,
    // Always the same for a name, and unique among VMs.
    `systemd.machine_id=${Buffer.from(name).toString('hex').padEnd(32, '0').slice(0, 32)}`,
  ].join(' ');

/** Returns JSON, also with a WWN, which exceeds the precision of a JavaScript number. */
const json = (properties: DeviceProperties): string =>
  `{${Object.entries(properties)
    .map(([key, value]) => `"${key}":${typeof value === 'bigint' ? value : JSON.stringify(value)}`)
    .join(',')}}`;

const comma = (path: string) => path.replaceAll(',', ',,');
