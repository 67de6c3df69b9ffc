import { type Command, InvalidArgumentError, Option } from 'commander';
import { addExamples } from '../lib/examples.ts';
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
  const command = print
    .command('sudoers')
    .description('print the sudo rules for the account on a node, for its /etc/sudoers.d/stowage')
    .option('--user <name>', 'account that ssh logs in to (default: stowage)', user)
    .addOption(
      list('--directory <path,...>', 'directories of backing files', directory).default(
        [],
        '/var/lib/metalk8s/storage/sparse',
      ),
    )
    .addOption(
      list('--vg <name,...>', 'volume groups', lvmName).default([], 'none, and no rules for LVM'),
    )
    .addOption(
      list('--disk <name,...>', 'kernel names of disks, such as sdb', disk).default(
        [],
        'none, and no rules for raw devices',
      ),
    )
    .option('--shared', 'add the rules for directories that several nodes share')
    .option(
      '--kubelet-root-dir <path>',
      'root directory of the kubelet',
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
  addExamples(command, [
    'stowage print sudoers > stowage.sudoers',
    'stowage print sudoers --user stowage --directory /data/volumes --vg vg0 --disk sdb',
  ]);
}

/** Returns an option for comma-separated values, which may be repeated. */
const list = (flags: string, description: string, parse: (text: string) => string): Option =>
  new Option(flags, description).argParser(each(parse));

const each =
  (parse: (text: string) => string) =>
  (text: string, before: readonly string[]): string[] => [
    ...before,
    ...text.split(',').map((one) => parse(one)),
  ];

function user(text: string, before?: string): string {
  if (!/^[a-z_][a-z0-9_-]{0,31}$/.test(oneText(text, before))) {
    throw new InvalidArgumentError(
      'A user name has at most 32 lower-case letters, digits, underscores and hyphens.',
    );
  }
  return text;
}

/** Refuses characters that have a meaning in the patterns of sudoers. */
function directory(text: string): string {
  if (!/^\/[A-Za-z0-9_./+-]*$/.test(oneDirectory(text))) {
    throw new InvalidArgumentError(
      'For sudo, its characters must be letters, digits or _ . + - only.',
    );
  }
  return text;
}

function disk(text: string): string {
  if (!/^[a-z][a-z0-9-]*$/.test(text))
    throw new InvalidArgumentError('Write kernel names of disks, such as sdb.');
  return text;
}
