import { existsSync } from 'node:fs';
import { readdir, readFile, readlink, rm, rmdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { execa } from 'execa';
import { until } from '../../support/until.ts';
import { NAMESPACE, runcRootIn, socketIn, tasksIn } from './containerd.ts';

/** Settings of the kernel that a kubelet changes. */
const SYSCTLS = [
  'vm/overcommit_memory',
  'vm/panic_on_oom',
  'kernel/panic',
  'kernel/panic_on_oops',
  'kernel/keys/root_maxkeys',
  'kernel/keys/root_maxbytes',
];
const CGROUPS = '/sys/fs/cgroup';
/** Directory in which each kubelet links all logs, regardless of their location. */
const LOG_LINKS = '/var/log/containers';
/** Directory of containerd's shim sockets, regardless of its other directories. */
const SOCKETS = '/run/containerd/s';
/** Directory in which each kubelet listens for plugins, regardless of its root directory. */
const PLUGINS = '/var/lib/kubelet/device-plugins';
const PLUGIN_FILES = ['kubelet.sock', 'kubelet_internal_checkpoint'];

/** Throws if this machine is a node of another cluster: two kubelets would conflict. */
export async function refuseNode(): Promise<void> {
  const [other] = (await list(dirname(PLUGINS))).filter((name) => name !== basename(PLUGINS));
  if (other === undefined) return;
  throw new Error(
    `this machine has a kubelet of its own: there is ${join(dirname(PLUGINS), other)}`,
  );
}

/** Records settings in `folder` for undo(). */
export async function keepSysctls(folder: string): Promise<void> {
  const kept: Record<string, string> = {};
  for (const name of SYSCTLS) kept[name] = await readFile(`/proc/sys/${name}`, 'utf8');
  await writeFile(sysctlsIn(folder), JSON.stringify(kept));
}

/**
 * Removes everything that a containerd and a kubelet of `folder` left on the machine: containers,
 * cgroups, mounts, loop devices, kernel settings, and the directory. Both must have ended, and may
 * have been killed at any moment.
 */
export async function undo(folder: string): Promise<void> {
  await endContainers(folder);
  await freeDevices(folder);
  const sysctls = await readFile(sysctlsIn(folder), 'utf8').catch(() => '{}');
  for (const [name, value] of Object.entries(JSON.parse(sysctls) as Record<string, string>)) {
    await writeFile(`/proc/sys/${name}`, value);
  }
  for (const name of await list(LOG_LINKS)) {
    const link = join(LOG_LINKS, name);
    if ((await readlink(link)).startsWith(`${folder}/`)) await rm(link);
  }
  if (existsSync(folder))
    for (const name of PLUGIN_FILES) await rm(join(PLUGINS, name), { force: true });
  await rm(folder, { recursive: true, force: true });
  const hierarchies = (await list(CGROUPS)).map((name) => join(CGROUPS, name, NAMESPACE));
  const within = [LOG_LINKS, SOCKETS, dirname(SOCKETS), PLUGINS, dirname(PLUGINS)];
  // Directories that are not empty belong to another program.
  for (const each of [...within, join(CGROUPS, NAMESPACE), ...hierarchies])
    await rmdir(each).catch(() => {});
}

const sysctlsIn = (folder: string) => join(folder, 'sysctls.json');

async function endContainers(folder: string): Promise<void> {
  const holders = () => processesWith(['-address', socketIn(folder)]);
  for (const pid of await holders()) process.kill(pid, 'SIGKILL');
  await until('all containerd shims have ended', async () =>
    (await holders()).length === 0 ? true : undefined,
  );
  for (const task of await list(tasksIn(folder))) {
    const address = await readFile(join(tasksIn(folder), task, 'address'), 'utf8').catch(() => '');
    if (address.startsWith('unix://')) await rm(address.slice('unix://'.length), { force: true });
  }
  const root = join(runcRootIn(folder), NAMESPACE);
  for (const id of await list(root)) await execa('runc', ['--root', root, 'delete', '--force', id]);
}

/** Returns the processes whose command line has these two arguments in sequence. */
async function processesWith([first, second]: readonly [string, string]): Promise<number[]> {
  const found: number[] = [];
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    const argv = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (argv.includes(`\0${first}\0${second}\0`)) found.push(Number(pid));
  }
  return found;
}

/** Removes mounts and loop devices. Loop devices may hold mounts, and mounts loop devices. */
async function freeDevices(folder: string): Promise<void> {
  await until(`no mount and no loop device of ${folder}`, async () => {
    const loops = await loopsOf(folder);
    const mounts = await mountsIn(folder);
    if (loops.length + mounts.length === 0) return true;
    for (const loop of loops) await execa('losetup', ['--detach', loop], { reject: false });
    for (const mount of mounts.reverse()) await execa('umount', [mount], { reject: false });
    return undefined;
  });
}

async function loopsOf(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const name of await list('/sys/block')) {
    const backing = await readFile(`/sys/block/${name}/loop/backing_file`, 'utf8').catch(() => '');
    if (backing.startsWith(`${folder}/`)) found.push(`/dev/${name}`);
  }
  return found;
}

/** Returns mount points in the order of their mounts. */
async function mountsIn(folder: string): Promise<string[]> {
  const lines = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n');
  return lines
    .map((line) => line.split(' ')[4] ?? '')
    .map((path) =>
      path.replace(/\\(\d{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8))),
    )
    .filter((path) => path.startsWith(`${folder}/`));
}

/** Returns an empty list if the directory does not exist. */
const list = (folder: string) => readdir(folder).catch(() => []);
