import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { quoteAll } from '../../../src/nodes/quote.ts';
import { freePorts } from '../../support/free-ports.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';
import { image } from './image.ts';
import {
  type DeviceProperties,
  type DiskFile,
  type Link,
  type Machine,
  qemuArguments,
  scsiDisk,
} from './qemu.ts';
import { connectQmp, type Qmp } from './qmp.ts';

export interface VmOptions {
  /** Node name: its hostname, and the name of its host key. */
  name: string;
  /**
   * Disks by name: the size of an empty disk as for qemu-img (`1G`), or a raw file, which is not
   * changed. A qcow2 file is written to, so that another VM can have the disk afterwards.
   */
  disks?: Readonly<Record<string, string | { file: string } | { qcow2: string }>>;
  /**
   * Devices in addition to a SCSI disk for each of `disks`. A disk that is the `drive` of a device
   * gets no SCSI disk.
   */
  devices?: readonly DeviceProperties[];
  /** Additional arguments of the kernel. */
  kernel?: readonly string[];
  memoryMiB?: number;
  cpus?: number;
  /** eth1, in addition to the network to this machine. */
  link?: Link;
}

export interface Ran {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** A node as a virtual machine, with its own kernel, systemd, udev, sshd and disks. */
export interface Vm {
  name: string;
  /**
   * Path of an ssh configuration for root on the VM by its name, for `ssh -F` and `stowage
   * --ssh-config`.
   */
  configFile: string;
  /** Loopback port of its sshd. */
  port: number;
  /** PID of qemu, or undefined while the VM is off. */
  pid(): number | undefined;
  /** Returns the persistent path of a disk in the VM. */
  disk(name: string): string;
  /** Runs a program in the VM as root. Throws if it fails, unless `reject` is false. */
  run(argv: readonly string[], options?: { input?: string; reject?: boolean }): Promise<Ran>;
  /** Ends the VM as by a power cut: data that it had not flushed to its disks may be lost. */
  powerCut(): Promise<void>;
  /** Starts the VM again, and waits for its sshd. */
  boot(): Promise<void>;
  /** Runs `systemctl reboot`, and waits for its sshd. */
  reboot(): Promise<void>;
  /** Unplugs a disk, even if it is in use. */
  unplug(disk: string): Promise<void>;
  /** Plugs a disk in again. */
  plug(disk: string): Promise<void>;
  /** Returns the console's output of kernel and systemd, of all boots. */
  console(): Promise<string>;
  /** Ends the VM immediately, and removes its disks. */
  stop(): Promise<void>;
}

interface Running {
  qemu: ChildProcess;
  /** Set after the boot. */
  qmp?: Qmp;
}

/** Timeout in ms: the VM is emulated, and the machine may be busy. */
const BOOTS_WITHIN = 600_000;

/**
 * Reports lost commands of the emulated NVMe disk. QEMU 7.2 can lose commands while a VM starts on
 * a busy machine, and then all later ones. The kernel waits half a minute for each. Only a restart
 * of the VM helps.
 */
class LostCommands extends Error {}

const LOST_COMMANDS = /nvme nvme0: I\/O \d+ .*timeout, aborting/;
const STARTS = 3;

/** Starts a VM and waits for its sshd. Its disks are on top of the image, which is not changed. */
export async function startVm({
  name,
  disks = {},
  devices = [],
  kernel = [],
  memoryMiB = 1024,
  cpus = 1,
  link,
}: VmOptions): Promise<Vm> {
  const base = await image();
  const folder = await temporaryDirectory('vm');
  const at = (file: string) => join(folder.path, file);
  const [port = 0] = await freePorts(1);
  const diskFiles: DiskFile[] = [];
  for (const [disk, content] of Object.entries(disks)) {
    if (typeof content === 'object' && 'qcow2' in content) {
      diskFiles.push({ name: disk, file: content.qcow2 });
      continue;
    }
    const file = at(`${disk}.qcow2`);
    await execa('qemu-img', [
      ...QCOW2,
      file,
      ...(typeof content === 'string' ? [content] : on(content.file)),
    ]);
    diskFiles.push({ name: disk, file });
  }
  const rootDisk = at('root.qcow2');
  await execa('qemu-img', [...QCOW2, rootDisk, ...on(base.disk)]);
  await writeFile(at('known_hosts'), `${name} ${base.hostKey}\n`);
  const configFile = at('ssh_config');
  await writeFile(configFile, clientConfig(name, port, base.clientKey, at('known_hosts')));

  const drives = devices.map(({ drive }) => drive);
  const plugged = new Set(Object.keys(disks).filter((disk) => !drives.includes(disk)));
  const machine: Machine = {
    ...{
      name,
      image: base,
      memoryMiB,
      cpus,
      port,
      link,
      rootDisk,
      disks: diskFiles,
      plugged,
      devices,
      kernel,
    },
    ...{ consoleLog: at('console.log'), monitor: at('monitor') },
  };
  const state: { running?: Running | undefined } = {};

  const ssh = (...args: string[]) =>
    execa('ssh', ['-F', configFile, ...SHARED, '-o', `ControlPath=${at('ssh')}`, ...args], {
      ...{ reject: false, timeout: 60_000, stripFinalNewline: true },
    });

  const consoleText = () => readFile(machine.consoleLog, 'utf8').catch(() => '');
  async function withConsole<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const last = (await consoleText()).split('\n').slice(-60).join('\n');
      throw new Error(`VM ${name}: ${(error as Error).message}\nIts console:\n${last}`, {
        cause: error,
      });
    }
  }

  /** Returns the ID of the current boot, or undefined if the VM does not respond. */
  async function bootId(): Promise<string | undefined> {
    const { exitCode, stdout } = await ssh(name, 'cat /proc/sys/kernel/random/boot_id');
    return exitCode === 0 ? stdout : undefined;
  }

  /**
   * Waits for the boot whose output begins at that position of the console.
   * @param isNew reports whether a boot ID is that of this boot
   */
  async function answers(from: number, isNew = (_boot: string) => true): Promise<void> {
    const { qemu } = state.running ?? {};
    let said = '';
    qemu?.stderr?.on('data', (chunk: Buffer) => {
      said += chunk;
    });
    const runs = async () => {
      if (qemu?.exitCode !== null || qemu.signalCode !== null)
        throw new Error(`qemu has ended: ${said}`);
      if (LOST_COMMANDS.test((await consoleText()).slice(from)))
        throw new LostCommands('its disk lost commands');
    };
    await withConsole(async () => {
      // ssh would retry a connection that is not accepted after increasing delays.
      await until(
        'sshd of the VM is started',
        async () => {
          await runs();
          return /Started .*ssh\.service/.test((await consoleText()).slice(from))
            ? true
            : undefined;
        },
        BOOTS_WITHIN,
      );
      await until(
        'sshd of the VM answers',
        async () => {
          await runs();
          const id = await bootId();
          return id === undefined || !isNew(id) ? undefined : true;
        },
        BOOTS_WITHIN,
      );
    });
  }

  async function boot(starts = STARTS): Promise<void> {
    try {
      await bootOnce();
    } catch (error) {
      if (!((error as Error).cause instanceof LostCommands) || starts === 1) throw error;
      console.info(
        `VM ${name}: the emulated disk lost commands while it started, and it is started anew`,
      );
      await off();
      await boot(starts - 1);
    }
  }

  async function bootOnce(): Promise<void> {
    if (state.running !== undefined) throw new Error(`VM ${name} runs already`);
    await rm(machine.monitor, { force: true });
    const { length } = await consoleText();
    // qemu ends with this process, even if that is killed.
    const argv = ['--pdeathsig', 'KILL', '--', 'qemu-system-x86_64', ...qemuArguments(machine)];
    const qemu = spawn('setpriv', argv, { stdio: ['ignore', 'ignore', 'pipe'] });
    const current: Running = { qemu };
    state.running = current;
    await answers(length);
    current.qmp = await connectQmp(machine.monitor);
  }

  async function off(): Promise<void> {
    if (state.running === undefined) return;
    const { qemu, qmp } = state.running;
    state.running = undefined;
    qmp?.close();
    if (qemu.exitCode === null && qemu.signalCode === null) {
      const ended = once(qemu, 'exit');
      qemu.kill('SIGKILL');
      await ended;
    }
    await ssh('-O', 'exit', name);
  }

  const monitor = (): Qmp => {
    if (state.running?.qmp === undefined) throw new Error(`VM ${name} is off`);
    return state.running.qmp;
  };
  const diskFile = (disk: string): DiskFile => {
    const found = diskFiles.find((each) => each.name === disk);
    if (found === undefined) throw new Error(`VM ${name} has no disk ${disk}`);
    return found;
  };

  const vm: Vm = {
    ...{ name, configFile, port, console: consoleText, powerCut: off },
    boot: () => boot(),
    pid: () => state.running?.qemu.pid,
    disk: (disk) => `/dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_${diskFile(disk).name}`,
    async run(argv, { input, reject = true } = {}) {
      const {
        exitCode = 255,
        stdout,
        stderr,
      } = await execa(
        'ssh',
        ['-F', configFile, ...SHARED, '-o', `ControlPath=${at('ssh')}`, name, quoteAll(argv)],
        { reject: false, ...(input === undefined ? { stdin: 'ignore' } : { input }) },
      );
      if (reject && exitCode !== 0) {
        throw new Error(
          `VM ${name}: ${argv.join(' ')} ended with ${exitCode}: ${stderr || stdout}`,
        );
      }
      return { exitCode, stdout: String(stdout), stderr: String(stderr) };
    },
    async reboot() {
      const before = await withConsole(() => until('sshd of the VM answers', bootId, BOOTS_WITHIN));
      const { length } = await consoleText();
      await ssh(name, 'systemctl reboot');
      await ssh('-O', 'exit', name);
      try {
        await answers(length, (id) => id !== before);
      } catch (error) {
        if (!((error as Error).cause instanceof LostCommands)) throw error;
        await off();
        await boot();
      }
    },
    async unplug(disk) {
      const { name: id } = diskFile(disk);
      const gone = monitor().event('DEVICE_DELETED', { device: id });
      await monitor().execute('device_del', { id });
      await gone;
      plugged.delete(id);
    },
    async plug(disk) {
      await monitor().execute('device_add', scsiDisk(diskFile(disk)));
      plugged.add(disk);
    },
    async stop() {
      await off();
      await folder.remove();
    },
  };
  try {
    await boot();
  } catch (error) {
    await vm.stop();
    throw error;
  }
  return vm;
}

const QCOW2 = ['create', '-q', '-f', 'qcow2'];
const on = (file: string) => ['-b', file, '-F', 'raw'];

/** Options for one shared connection for all commands of a test. */
const SHARED = [
  ...['-o', 'BatchMode=yes', '-o', 'LogLevel=ERROR', '-o', 'ConnectTimeout=10'],
  ...['-o', 'ControlMaster=auto', '-o', 'ControlPersist=yes'],
  ...['-o', 'ServerAliveInterval=5', '-o', 'ServerAliveCountMax=3'],
];

function clientConfig(name: string, port: number, key: string, knownHosts: string): string {
  return `Host ${name}
  HostName 127.0.0.1
  Port ${port}
  HostKeyAlias ${name}
  User root
  IdentityFile ${key}
  IdentitiesOnly yes
  UserKnownHostsFile ${knownHosts}
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking yes
`;
}
