import type { Probe, ProbeResult } from '../../nodes/job.ts';

export interface Tool {
  name: string;
  /** Volumes or features that need it. */
  of: string;
  /** Package that has it, as Debian and Fedora name it if they agree. */
  package: string;
  /** Arguments that print its version; without arguments, it prints its usage. */
  version: readonly string[];
  /** Set if the node is complete without it: only the features that need it are refused. */
  optional?: true;
}

const tool = (name: string, of: string, from: string, ...version: string[]): Tool => ({
  name,
  of,
  package: from,
  version,
});

/** Returns an optional tool: Images, Archives and Backups name the program that they lack. */
const optional = (...of: Parameters<typeof tool>): Tool => ({ ...tool(...of), optional: true });

/**
 * Tools that Stowage runs on nodes and that may be missing there. Each is run to find it, as steps
 * do.
 */
export const TOOLS: readonly Tool[] = [
  tool('losetup', 'sparse files', 'util-linux (Debian: mount)', '--version'),
  tool('findmnt', 'sparse files', 'util-linux', '--version'),
  tool('mkfs.ext4', 'ext4', 'e2fsprogs', '-V'),
  tool('e2fsck', 'growing ext4', 'e2fsprogs', '-V'),
  tool('resize2fs', 'growing ext4', 'e2fsprogs'),
  tool('mkfs.xfs', 'xfs', 'xfsprogs', '-V'),
  tool('xfs_growfs', 'growing xfs', 'xfsprogs', '-V'),
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
  optional('zstd', 'Backups, and sources compressed with it', 'zstd', '--version'),
  optional('gzip', 'sources compressed with it', 'gzip', '--version'),
  optional('xz', 'sources compressed with it', 'xz-utils (Fedora: xz)', '--version'),
  // With --version, bzip2 continues and compresses standard input.
  optional('bzip2', 'sources compressed with it', 'bzip2', '--help'),
];

export const toolProbes = (): Probe[] =>
  TOOLS.map(({ name, version }) => ({ name, argv: [name, ...version] }));

/**
 * Returns the missing tools. Statuses 126 and 127 mean that the program cannot run or is missing
 * (or a library of it is).
 */
export const missingTools = (results: ReadonlyMap<string, ProbeResult>): Tool[] =>
  TOOLS.filter(({ name }) => [126, 127].includes(results.get(name)?.exit ?? 127));

/** Returns the versions that tools report, on either output. */
export const versionsOf = (results: ReadonlyMap<string, ProbeResult>): Map<string, string> =>
  new Map(
    TOOLS.flatMap(({ name }) => {
      const { stdout = '', stderr = '' } = results.get(name) ?? {};
      const version = /\b\d+(?:\.\d+)*\b/.exec(`${stdout}\n${stderr}`)?.[0];
      return version === undefined ? [] : [[name, version] as const];
    }),
  );
