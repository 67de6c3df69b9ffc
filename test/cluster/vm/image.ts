import { chmod, copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { needPackages } from '../../support/debian-packages.ts';
import { cached, keyOf } from '../cache.ts';
import { debianMirror } from './mirror.ts';

/** The read-only base of all VMs. All files are in `folder`. */
export interface Image {
  folder: string;
  /** Raw disk. The root file system has no partition table around it. */
  disk: string;
  /** Kernel with the drivers of the root file system built in, so that no initrd is needed. */
  kernel: string;
  /** Private key of a client that logs in as root. */
  clientKey: string;
  /** Public host key of all VMs, in the format of known_hosts. */
  hostKey: string;
}

export const SUITE = 'bookworm';

/** Debian's cloud kernel is small, and has device-mapper. */
const PACKAGES = [
  ...['linux-image-cloud-amd64', 'systemd-sysv', 'udev', 'dbus', 'libpam-systemd', 'kmod'],
  ...['openssh-server', 'sudo', 'iproute2', 'procps'],
  ...['util-linux', 'e2fsprogs', 'xfsprogs', 'gdisk', 'lvm2', 'thin-provisioning-tools'],
  ...['nfs-common', 'nfs-kernel-server'],
  // Other programs that hold disks. The tests start multipathd themselves.
  ...['mdadm', 'multipath-tools', 'kpartx'],
];

/** Units that would delay each boot by seconds. */
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
  // NFS 4 needs none of these.
  ...['rpcbind.service', 'rpcbind.socket', 'rpc-statd.service', 'rpc-statd-notify.service'],
  ...['nfs-idmapd.service', 'nfs-blkmap.service', 'nfs-client.target'],
  ...['multipathd.service', 'multipathd.socket', 'mdmonitor.service', 'mdcheck_start.timer'],
  ...['mdcheck_continue.timer', 'mdmonitor-oneshot.timer'],
];

/** Address to which qemu's user network forwards. */
export const ADDRESS = '10.0.2.15';

const FILES: Readonly<Record<string, string>> = {
  // Each VM gets its own ID from the kernel's command line. Without the file, systemd would run its
  // first-boot setup.
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
  // Times in s after which the server drops the state of a client that lost its power.
  'etc/nfs.conf.d/vm.conf': '[nfsd]\nvers3=n\nthreads=4\ngrace-time=10\nlease-time=10\n',
  'etc/systemd/journald.conf.d/vm.conf': '[Journal]\nStorage=volatile\n',
};

/** Maximum size of all test volumes together. Only written blocks take space. */
const SIZE = '8G';

/**
 * Returns a Debian with all software of nodes, from the cache or built in a minute or two. Must run
 * as root.
 */
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

/** Version of the code below. Increment it when the image changes. */
const BUILT_BY = '3';

async function build(folder: string): Promise<void> {
  const root = join(folder, 'root');
  const bootstrap = [
    ...['--quiet', '--variant=essential', `--include=${PACKAGES.join(',')}`],
    // No VM uses this image before it is complete, even after a power failure of this machine.
    '--dpkgopt=force-unsafe-io',
    ...['man', 'doc', 'locale'].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`),
    ...[SUITE, root, await debianMirror()],
  ];
  // Creating an initrd would take a third of the time.
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
  // Each VM gets its own hostname from the kernel's command line.
  await rm(join(root, 'etc/hostname'), { force: true });
  const systemctl = (...args: string[]) => execa('chroot', [root, 'systemctl', ...args]);
  await systemctl('enable', 'systemd-networkd.service');
  await systemctl('mask', ...NOT_STARTED);
  // Tests start it when they need it.
  await systemctl('disable', 'nfs-server.service');
  const [kernel = ''] = (await readdir(join(root, 'boot'))).filter((name) =>
    name.startsWith('vmlinuz-'),
  );
  await copyFile(join(root, 'boot', kernel), join(folder, 'vmlinuz'));
  await chmod(join(folder, 'vmlinuz'), 0o644);
  const disk = join(folder, 'disk.img');
  await execa('truncate', ['-s', SIZE, disk]);
  // Lazy initialization would run in each VM again.
  const whole = ['-E', 'lazy_itable_init=0,lazy_journal_init=0'];
  await execa('mkfs.ext4', ['-q', ...whole, '-d', root, disk]);
  await rm(root, { recursive: true });
}
