import type { Probe, ProbeResult } from '../../nodes/job.ts';

export interface Tool {
  name: string;
  /** The volumes that it is for. */
  of: string;
  /** The package that has it, as Debian and Fedora name it where they agree. */
  package: string;
  /** Has it say its version, or, without arguments, how it is used. */
  version: readonly string[];
  /** The node is complete without it: only what it is for is refused. */
  optional?: true;
}

const tool = (name: string, of: string, from: string, ...version: string[]): Tool => ({
  name,
  of,
  package: from,
  version,
});

/** Images, Archives and Backups name the program that they miss. */
const optional = (...of: Parameters<typeof tool>): Tool => ({ ...tool(...of), optional: true });

/** What Stowage runs on nodes and may be missing there; each is looked for by running it, as steps do. */
export const TOOLS: readonly Tool[] = [
  tool('losetup', 'sparse files', 'util-linux (Debian: mount)', '--version'),
  tool('findmnt', 'sparse files', 'util-linux', '--version'),
  tool('mkfs.ext4', 'ext4', 'e2fsprogs', '-V'),
  tool('e2fsck', 'ext4 that grows', 'e2fsprogs', '-V'),
  tool('resize2fs', 'ext4 that grows', 'e2fsprogs'),
  tool('mkfs.xfs', 'xfs', 'xfsprogs', '-V'),
  tool('xfs_growfs', 'xfs that grows', 'xfsprogs', '-V'),
  tool('fsfreeze', 'snapshots', 'util-linux', '--version'),
  tool('tune2fs', 'snapshots of ext4', 'e2fsprogs'),
  tool('xfs_admin', 'snapshots of xfs', 'xfsprogs', '-V'),
  tool('sgdisk', 'mode Block', 'gdisk', '--version'),
  tool('partx', 'mode Block', 'util-linux', '--version'),
  tool('wipefs', 'raw devices', 'util-linux', '--version'),
  tool('cmp', 'onDelete Wipe', 'diffutils', '--version'),
  tool('blkid', 'all', 'util-linux', '--version'),
  tool('lsblk', 'all', 'util-linux', '--version'),
  tool('flock', 'all', 'util-linux', '--version'),
  tool('dd', 'all', 'coreutils', '--version'),
  tool('udevadm', 'all', 'udev (Fedora: systemd-udev)', '--version'),
  optional('curl', 'Images, Archives and Backups at a URL', 'curl', '--version'),
  optional('qemu-img', 'Images of format qcow2', 'qemu-utils (Fedora: qemu-img)', '--version'),
  optional('tar', 'Archives and Backups', 'tar', '--version'),
  optional('setpriv', 'Archives, Backups and compressed Images', 'util-linux', '--version'),
  optional('zstd', 'Backups, and sources compressed by it', 'zstd', '--version'),
  optional('gzip', 'sources compressed by it', 'gzip', '--version'),
  optional('xz', 'sources compressed by it', 'xz-utils (Fedora: xz)', '--version'),
  // With --version it goes on, and compresses standard input.
  optional('bzip2', 'sources compressed by it', 'bzip2', '--help'),
];

export const toolProbes = (): Probe[] =>
  TOOLS.map(({ name, version }) => ({ name, argv: [name, ...version] }));

/** 126 and 127 are of who runs a program: it can't be run, or is not there (or a library of it is not). */
export const missingTools = (results: ReadonlyMap<string, ProbeResult>): Tool[] =>
  TOOLS.filter(({ name }) => [126, 127].includes(results.get(name)?.exit ?? 127));

/** What tools say their versions are, wherever they say it. */
export const versionsOf = (results: ReadonlyMap<string, ProbeResult>): Map<string, string> =>
  new Map(
    TOOLS.flatMap(({ name }) => {
      const { stdout = '', stderr = '' } = results.get(name) ?? {};
      const version = /\b\d+(?:\.\d+)*\b/.exec(`${stdout}\n${stderr}`)?.[0];
      return version === undefined ? [] : [[name, version] as const];
    }),
  );
