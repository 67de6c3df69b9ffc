import { type Command, InvalidArgumentError } from 'commander';
import type { Io } from '../lib/io.ts';
import { lvmName, oneDirectory, oneText } from '../lib/parse.ts';
import type { Allowed } from '../node/sudoers/sudoers.ts';

interface Flags {
  user: string;
  directory: string[];
  vg: string[];
  disk: string[];
  shared?: boolean;
  kubeletRootDir: string;
}

export default function printSudoers(print: Command, io: Io): void {
  print
    .command('sudoers')
    .description(
      'print what the account on a node may run as root: lines for /etc/sudoers.d/stowage',
    )
    .option('--user <name>', 'account that ssh logs in as (default: stowage)', user)
    .option(
      '--directory <path,...>',
      "folders of Volumes' files (default: /var/lib/metalk8s/storage/sparse)",
      each(directory),
      [],
    )
    .option(
      '--vg <name,...>',
      'volume groups; without one there are no lines for LVM',
      each(lvmName),
      [],
    )
    .option(
      '--disk <name,...>',
      'kernel names of disks, such as sdb; without one there are no lines for raw devices',
      each(disk),
      [],
    )
    .option('--shared', 'with the lines for directories that several nodes share')
    .option(
      '--kubelet-root-dir <path>',
      'root folder of the kubelet',
      directory,
      '/var/lib/kubelet',
    )
    .action(async (flags: Flags) => {
      const { printSudoers: run } = await import('../node/sudoers/print.ts');
      const allowed: Allowed = {
        user: flags.user ?? 'stowage',
        directories: flags.directory,
        groups: flags.vg,
        disks: flags.disk,
        shared: flags.shared ?? false,
        kubeletRoot: flags.kubeletRootDir,
      };
      await run(allowed, io);
    });
}

/** Parses comma-separated values of an option that may be repeated. */
const each =
  (parse: (text: string) => string) =>
  (text: string, before: readonly string[]): string[] => [
    ...before,
    ...text.split(',').map((one) => parse(one)),
  ];

function user(text: string, before?: string): string {
  if (!/^[a-z_][a-z0-9_-]{0,31}$/.test(oneText(text, before))) {
    throw new InvalidArgumentError(
      'A user has at most 32 lower-case letters, digits, underscores and hyphens.',
    );
  }
  return text;
}

/** Refuses characters that have a meaning in the patterns of sudoers. */
function directory(text: string): string {
  if (!/^\/[A-Za-z0-9_./+-]*$/.test(oneDirectory(text))) {
    throw new InvalidArgumentError('For sudo it has letters, digits and _ . + - alone.');
  }
  return text;
}

function disk(text: string): string {
  if (!/^[a-z][a-z0-9-]*$/.test(text))
    throw new InvalidArgumentError('Write names of the kernel, such as sdb.');
  return text;
}
