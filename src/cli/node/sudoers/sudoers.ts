import { SPARSE_DIRECTORY } from '../../../storage/loopfile/file.ts';
/** Objects on a node that its account may work on. */
export interface Allowed {
  user: string;
  /** Directories of Volumes' files; if empty, the default one. */
  directories: readonly string[];
  /** Volume groups; if empty, the lines for LVM are omitted. */
  groups: readonly string[];
  /** Kernel names of disks; if empty, the lines for raw devices are omitted. */
  disks: readonly string[];
  /** Includes the lines for directories that nodes share. */
  shared: boolean;
  kubeletRoot: string;
}

/** Placeholders in the sample. */
const SAMPLE = {
  user: 'stowage',
  directory: SPARSE_DIRECTORY,
  group: 'vg0',
  disk: '(sd|hd|vd|xvd|nvme|mmcblk|dasd|pmem|md|dm-|nbd|rbd|drbd|zd|bcache|loop)[a-z0-9]+',
  kubeletRoot: '/var/lib/kubelet',
};

/**
 * Returns the lines for a node: those groups of the sample deploy/sudoers that it needs, for the
 * given user, directories, volume groups and disks. Pure.
 * Input is already checked: its only special characters of regular expressions and sudoers are full
 * stop and plus.
 */
export function sudoersFor(sample: string, allowed: Allowed): string {
  const { user, groups, disks, shared, kubeletRoot } = allowed;
  const directories = allowed.directories.length > 0 ? allowed.directories : [SPARSE_DIRECTORY];
  const isLeftOut = (block: string): boolean =>
    /^#[^\n]*\n*$/.test(block) ||
    (disks.length === 0 && /STOWAGE_RAW/.test(block)) ||
    (groups.length === 0 && /STOWAGE_LVM/.test(block)) ||
    (!shared && /STOWAGE_SHARED/.test(block));
  const [head = '', ...blocks] = sample.split('\n\n');
  const kept = [head, ...blocks].filter((block) =>
    /^(User_Alias|Defaults|Cmnd_Alias|STOWAGE)/m.test(block),
  );
  const text = kept
    .filter((block) => !isLeftOut(block))
    .join('\n\n')
    .replace(`User_Alias STOWAGE = ${SAMPLE.user}\n`, `User_Alias STOWAGE = ${user}\n`)
    .replaceAll(`-o ${SAMPLE.user} `, `-o ${user} `)
    .replaceAll(SAMPLE.kubeletRoot, escaped(kubeletRoot))
    .replaceAll(SAMPLE.disk, `${oneOf(disks)}[0-9]*`)
    .replaceAll(SAMPLE.group, oneOf(groups));
  return `${title({ ...allowed, directories })}${text.replaceAll(SAMPLE.directory, oneOf(directories)).trimEnd()}\n`;
}

const oneOf = (names: readonly string[]): string => {
  const [first = '', ...others] = names.map(escaped);
  return others.length === 0 ? first : `(${[first, ...others].join('|')})`;
};

const escaped = (name: string): string => name.replaceAll(/[.+]/g, '\\$&');

const title = ({ user, directories, groups, disks }: Allowed): string =>
  [
    `# What ${user} may run as root for Stowage: files in ${directories.join(', ')}${groups.length === 0 ? '' : `; volume groups ${groups.join(', ')}`}${disks.length === 0 ? '' : `; disks ${disks.join(', ')}`}.`,
    '# Install it as /etc/sudoers.d/stowage, owned by root, with mode 0440. To check it: visudo -c',
    ...(disks.length + groups.length === 0
      ? []
      : [
          '# With the lines for disks or volume groups this user can become root (docs/hardening.md).',
        ]),
    '',
    '',
  ].join('\n');
