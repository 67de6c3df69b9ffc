import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePorts } from '../../support/free-ports.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { startVm, type Vm, type VmOptions } from './vm.ts';

/** Path of the shared directory in both VMs. */
export const DIRECTORY = '/srv/volumes';
const EXPORTED = '/srv/export';
const NETWORK = '10.9.0.0/24';
const ADDRESSES = { vm1: '10.9.0.1', vm2: '10.9.0.2' } as const;

export type Name = keyof typeof ADDRESSES;
export const NAMES: readonly Name[] = ['vm1', 'vm2'];

/**
 * Two VMs that share a directory. The second is also its server, so that the first can lose its
 * power at any time.
 */
export interface Sharing {
  vms: Readonly<Record<Name, Vm>>;
  /** Path of an ssh configuration of both VMs, for `ssh -F` and `stowage --ssh-config`. */
  configFile: string;
  /**
   * Mounts the directory on a VM, as after a start, and waits until it is mounted. Adds `options`
   * to its own ones.
   */
  mount(name: Name, path?: string, options?: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

/** Starts both VMs, and mounts the directory on both. */
export async function startSharing(
  options: Omit<VmOptions, 'name' | 'link'> = {},
): Promise<Sharing> {
  const [here = 0, there = 0] = await freePorts(2);
  const links = {
    vm1: { here, there, mac: '52:54:00:00:01:01' },
    vm2: { here: there, there: here, mac: '52:54:00:00:01:02' },
  };
  const folder = await temporaryDirectory('sharing');
  const starting = NAMES.map((name) => startVm({ ...options, name, link: links[name] }));
  const started = await Promise.allSettled(starting);
  const stop = async () => {
    for (const each of started) if (each.status === 'fulfilled') await each.value.stop();
    await folder.remove();
  };
  try {
    const [vm1, vm2] = (await Promise.all(starting)) as [Vm, Vm];
    const vms = { vm1, vm2 };
    const configFile = join(folder.path, 'ssh_config');
    const configs = await Promise.all([vm1, vm2].map((vm) => readFile(vm.configFile, 'utf8')));
    await writeFile(configFile, configs.join('\n'));
    for (const name of NAMES) await plugIn(vms[name], ADDRESSES[name]);
    await serve(vm2);
    const mount: Sharing['mount'] = (name, path = DIRECTORY, more = []) =>
      mountOn(vms[name], path, more);
    for (const name of NAMES) await mount(name);
    return { vms, configFile, mount, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Assigns an address to the second network card, also for later boots. */
async function plugIn(vm: Vm, address: string): Promise<void> {
  const network = `[Match]\nName=eth1\n[Network]\nAddress=${address}/24\nLinkLocalAddressing=no\n`;
  await vm.run(['install', '-m', '644', '/dev/stdin', '/etc/systemd/network/wire.network'], {
    input: network,
  });
  await vm.run(['networkctl', 'reload']);
  await within(vm, `ip -4 -o addr show dev eth1 | grep -qF ' ${address}/'`);
}

async function serve(vm: Vm): Promise<void> {
  await vm.run(['mkdir', '-p', EXPORTED]);
  const line = `${EXPORTED} ${NETWORK}(rw,sync,no_root_squash,no_subtree_check)\n`;
  await vm.run(['install', '-m', '644', '/dev/stdin', '/etc/exports'], { input: line });
  await vm.run(['systemctl', 'start', 'nfs-server.service']);
}

async function mountOn(vm: Vm, path: string, more: readonly string[]): Promise<void> {
  const options = more.length > 0 ? ['nosharecache', ...more] : ['rw', 'hard', 'local_lock=none'];
  const from = `${ADDRESSES.vm2}:${EXPORTED}`;
  await vm.run(['mkdir', '-p', path]);
  // A server that has just started does not respond for a while.
  await within(
    vm,
    `mountpoint -q ${path} || mount -t nfs4 -o ${options.join(',')} ${from} ${path}`,
  );
}

/** Waits until a command of the VM's shell succeeds, for up to five minutes. */
async function within(vm: Vm, command: string): Promise<void> {
  await vm.run(['timeout', '300', 'sh', '-c', `until ${command}; do sleep 0.5; done`]);
}
