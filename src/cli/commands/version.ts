import { type Command, Option } from 'commander';
import { connectFor, type GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import type { VersionFlags } from '../show-version/show.ts';

export default function version(program: Command, io: Io): void {
  program
    .command('version')
    .description('show the versions of this program and of the server, and how their CRDs differ')
    .option('--client', 'of this program only: no server is asked')
    .addOption(new Option('-o, --output <format>', 'what to print').choices(['json', 'yaml']))
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<VersionFlags & GlobalFlags>();
      const { showVersion } = await import('../show-version/show.ts');
      await showVersion(flags, io, () => connectFor(command, io));
    });
}
