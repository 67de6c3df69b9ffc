import { chmod, copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { needPackages } from '../../support/debian-packages.ts';
import { cached, keyOf } from '../cache.ts';
import { debianMirror } from './mirror.ts';

/** What every VM starts from; nobody writes in it. All files are in `folder`. */
export interface Image {
  folder: string;
  /** Raw; the whole of it is the root file system. */
  disk: string;
  /** It has in it what the root file system needs, so that there is no initrd. */
  kernel: string;
  /** Logs in as root. */
  clientKey: string;
  /** The public host key of all VMs, as known_hosts has it. */
  hostKey: string;
}

export const SUITE = 'bookworm';

/** The kernel of Debian for clouds is small, and has device-mapper. */
const PACKAGES = [
  ...['linux-image-cloud-amd64', 'systemd-sysv', 'udev', 'dbus', 'libpam-systemd', 'kmod'],
  ...['openssh-server', 'sudo', 'iproute2', 'procps'],
  ...['util-linux', 'e2fsprogs', 'xfsprogs', 'gdisk', 'lvm2', 'thin-provisioning-tools'],
  ...['nfs-common', 'nfs-kernel-server'],
  // Of what else takes hold of disks. The tests start multipathd themselves.
  ...['mdadm', 'multipath-tools', 'kpartx'],
];

/** They take seconds of each boot. */
const NOT_STARTED = [
  ...['apt-daily.timer', 'apt-daily-upgrade.timer', 'dpkg-db-backup.timer', 'fstrim.timer'],
  ...['e2scrub_all.timer', 'e2scrub_reap.service', 'lvm2-monitor.service'],
  ...['dev-hugepages.mount', 'sys-kernel-debug.mount', 'sys-kernel-tracing.mount'],
  ...['dev-mqueue.mount', 'proc-sys-fs-binfmt_misc.automount', 'systemd-pstore.service'],
  ...[
    'modprobe@configfs.service',
    'modprobe@drm.service',
    'modprobe@efi_pstore.service',
    'modprobe@fuse.service',
  ],
  ...[
    'systemd-networkd-wait-online.service',
    'systemd-network-generator.service',
    'systemd-random-seed.service',
  ],
  ...[
    'systemd-update-utmp.service',
    'systemd-update-utmp-runlevel.service',
    'systemd-journal-flush.service',
  ],
  ...['systemd-ask-password-console.path', 'systemd-ask-password-wall.path'],
  ...['serial-getty@ttyS0.service', 'getty.target', 'user@0.service'],
  // NFS 4 needs none of them.
  ...['rpcbind.service', 'rpcbind.socket', 'rpc-statd.service', 'rpc-statd-notify.service'],
  ...['nfs-idmapd.service', 'nfs-blkmap.service', 'nfs-client.target'],
  ...['multipathd.service', 'multipathd.socket', 'mdmonitor.service', 'mdcheck_start.timer'],
  ...['mdcheck_continue.timer', 'mdmonitor-oneshot.timer'],
];

/** The address that qemu's own network forwards to. */
export const ADDRESS = '10.0.2.15';

const FILES: Readonly<Record<string, string>> = {
  // Each VM is told its own. Were there none, systemd would begin with what it does once for a new system.
  'etc/machine-id': '',
  'etc/fstab': '/dev/nvme0n1 / ext4 errors=remount-ro 0 1\n',
  'etc/systemd/network/vm.network': `[Match]
Name=eth0
[Network]
Address=${ADDRESS}/24
Gateway=10.0.2.2
LinkLocalAddressing=no
`,
  'etc/ssh/sshd_config.d/vm.conf':
    'PermitRootLogin prohibit-password\nUseDNS no\nMaxStartups 100\n',
  // A client that lost its power is given up by the server after that time, in s.
  'etc/nfs.conf.d/vm.conf': '[nfsd]\nvers3=n\nthreads=4\ngrace-time=10\nlease-time=10\n',
  'etc/systemd/journald.conf.d/vm.conf': '[Journal]\nStorage=volatile\n',
};

/** As large as volumes of tests may become together; only what is written takes room. */
const SIZE = '8G';

/** Debian with all that nodes have, from the cache or built: a minute or two, as root. */
export async function image(): Promise<Image> {
  await needPackages({
    mmdebstrap: 'mmdebstrap',
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
    clientKey: join(folder, 'client_key'),
    hostKey: (await readFile(join(folder, 'host_key.pub'), 'utf8')).trim(),
  };
}

/** Counted up when the code below comes to make something else. */
const BUILT_BY = '3';

async function build(folder: string): Promise<void> {
  const root = join(folder, 'root');
  const bootstrap = [
    ...['--quiet', '--variant=essential', `--include=${PACKAGES.join(',')}`],
    // Nobody has this image yet when the power of this machine goes.
    '--dpkgopt=force-unsafe-io',
    ...['man', 'doc', 'locale'].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`),
    ...[SUITE, root, await debianMirror()],
  ];
  // Making an initrd would take a third of the time.
  await execa('mmdebstrap', bootstrap, { env: { INITRD: 'No' } });
  for (const name of ['client_key', 'host_key']) {
    await execa('ssh-keygen', [
      '-q',
      '-t',
      'ed25519',
      '-N',
      '',
      '-C',
      '',
      '-f',
      join(folder, name),
    ]);
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
  await systemctl('mask', ...NOT_STARTED);
  // Where a test starts it.
  await systemctl('disable', 'nfs-server.service');
  const [kernel = ''] = (await readdir(join(root, 'boot'))).filter((name) =>
    name.startsWith('vmlinuz-'),
  );
  await copyFile(join(root, 'boot', kernel), join(folder, 'vmlinuz'));
  await chmod(join(folder, 'vmlinuz'), 0o644);
  const disk = join(folder, 'disk.img');
  await execa('truncate', ['-s', SIZE, disk]);
  // What is initialized later would be so in each VM again.
  const whole = ['-E', 'lazy_itable_init=0,lazy_journal_init=0'];
  await execa('mkfs.ext4', ['-q', ...whole, '-d', root, disk]);
  await rm(root, { recursive: true });
}
