import { type Command, Option } from 'commander';
import { addExamples } from '../lib/examples.ts';
import { connectFor, type GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import type { VersionFlags } from '../show-version/show.ts';

export default function version(program: Command, io: Io): void {
  const command = program
    .command('version')
    .description('show the versions of this program and the server, and how their CRDs differ')
    .option('--client', 'show only the version of this program, without a server')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['json', 'yaml']))
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<VersionFlags & GlobalFlags>();
      const { showVersion } = await import('../show-version/show.ts');
      await showVersion(flags, io, () => connectFor(command, io));
    });
  addExamples(command, ['stowage version', 'stowage version --client -o json']);
}
