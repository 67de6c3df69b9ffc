import { chmod, copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { cached, keyOf } from '../cache.ts';
import { needPackages } from '../debian-packages.ts';
import { debianMirror } from './mirror.ts';

/** What every VM starts from; nobody writes in it. All files are in `folder`. */
export interface Image {
  folder: string;
  /** Raw; the whole of it is the root file system. */
  disk: string;
  kernel: string;
  initrd: string;
  /** Logs in as root. */
  clientKey: string;
  /** The public host key of all VMs, as known_hosts has it. */
  hostKey: string;
}

const SUITE = 'bookworm';

/** The kernel of Debian for clouds is small and has device-mapper, nfs, nfsd and overlay. */
const PACKAGES = [
  ...['linux-image-cloud-amd64', 'systemd-sysv', 'udev', 'dbus', 'libpam-systemd', 'kmod'],
  ...['openssh-server', 'sudo', 'iproute2', 'procps'],
  ...['util-linux', 'e2fsprogs', 'xfsprogs', 'gdisk', 'lvm2', 'thin-provisioning-tools'],
  // For what is yet to run here: an agent in Python, a kubelet, a directory that nodes share.
  ...['python3', 'containerd', 'runc', 'nfs-kernel-server', 'nfs-common'],
];

/** They take seconds of each boot, and who needs one starts it. */
const NOT_STARTED = [
  ...['containerd.service', 'nfs-server.service', 'nfs-client.target', 'rpcbind.service', 'rpcbind.socket'],
  ...['apt-daily.timer', 'apt-daily-upgrade.timer', 'dpkg-db-backup.timer', 'fstrim.timer'],
  ...['e2scrub_all.timer', 'e2scrub_reap.service'],
];

const FILES: Readonly<Record<string, string>> = {
  // Each VM is told its own. Were there none, systemd would begin with what it does once for a new system.
  'etc/machine-id': '',
  'etc/fstab': 'LABEL=stowage-vm / ext4 errors=remount-ro 0 1\n',
  'etc/systemd/network/vm.network': '[Match]\nName=eth0\n[Network]\nDHCP=ipv4\n',
  'etc/ssh/sshd_config.d/vm.conf': 'PermitRootLogin prohibit-password\nUseDNS no\nMaxStartups 100\n',
  'etc/systemd/journald.conf.d/vm.conf': '[Journal]\nStorage=volatile\n',
};

/** As large as volumes of tests may become together; only what is written takes room. */
const SIZE = '8G';

/** Debian with all that nodes have, from the cache or built: a few minutes, as root. */
export async function image(): Promise<Image> {
  await needPackages({
    debootstrap: 'debootstrap',
    'qemu-system-x86_64': 'qemu-system-x86',
    'qemu-img': 'qemu-utils',
    'mkfs.ext4': 'e2fsprogs',
  });
  const key = keyOf(SUITE, ...PACKAGES, ...NOT_STARTED, JSON.stringify(FILES), SIZE, BUILT_BY);
  const folder = await cached('vm', key, build);
  return {
    folder,
    disk: join(folder, 'disk.img'),
    kernel: join(folder, 'vmlinuz'),
    initrd: join(folder, 'initrd.img'),
    clientKey: join(folder, 'client_key'),
    hostKey: (await readFile(join(folder, 'host_key.pub'), 'utf8')).trim(),
  };
}

/** Counted up when the code below comes to make something else. */
const BUILT_BY = '1';

async function build(folder: string): Promise<void> {
  const root = join(folder, 'root');
  await execa('debootstrap', [
    ...['--variant=minbase', `--include=${PACKAGES.join(',')}`],
    ...[SUITE, root, await debianMirror()],
  ]);
  for (const name of ['client_key', 'host_key']) {
    await execa('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', join(folder, name)]);
  }
  for (const [path, text] of Object.entries(FILES)) {
    await mkdir(join(root, path, '..'), { recursive: true });
    await writeFile(join(root, path), text);
  }
  for (const name of await readdir(join(root, 'etc/ssh'))) {
    if (name.startsWith('ssh_host_')) await rm(join(root, 'etc/ssh', name));
  }
  await copyFile(join(folder, 'host_key'), join(root, 'etc/ssh/ssh_host_ed25519_key'));
  await copyFile(join(folder, 'host_key.pub'), join(root, 'etc/ssh/ssh_host_ed25519_key.pub'));
  await mkdir(join(root, 'root/.ssh'), { mode: 0o700, recursive: true });
  await copyFile(join(folder, 'client_key.pub'), join(root, 'root/.ssh/authorized_keys'));
  // Each VM is told its own.
  await rm(join(root, 'etc/hostname'), { force: true });
  const systemctl = (...args: string[]) => execa('chroot', [root, 'systemctl', ...args]);
  await systemctl('enable', 'systemd-networkd.service');
  await systemctl('disable', ...NOT_STARTED);
  await systemctl('mask', ...NOT_STARTED.filter((unit) => unit.endsWith('.timer')));
  for (const name of await readdir(join(root, 'boot'))) {
    const [kind = ''] = name.split('-');
    if (kind === 'vmlinuz' || kind === 'initrd.img') {
      await copyFile(join(root, 'boot', name), join(folder, kind));
      await chmod(join(folder, kind), 0o644);
    }
  }
  await rm(join(root, 'var/cache/apt'), { recursive: true, force: true });
  await rm(join(root, 'var/lib/apt/lists'), { recursive: true, force: true });
  const disk = join(folder, 'disk.img');
  await execa('truncate', ['-s', SIZE, disk]);
  // What is initialized later would be so in each VM again.
  const whole = ['-E', 'lazy_itable_init=0,lazy_journal_init=0'];
  await execa('mkfs.ext4', ['-q', '-L', 'stowage-vm', ...whole, '-d', root, disk]);
  await rm(root, { recursive: true });
}
