import { type Command, Option } from 'commander';
import type { UninstallFlags } from '../install/uninstall.ts';
import { components } from '../lib/components.ts';
import { connectFor, type GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';

export default function uninstall(program: Command, io: Io): void {
  program
    .command('uninstall')
    .description(
      'remove what install made. Volumes on nodes, PersistentVolumes and namespaces with other objects stay, and kinds that still have objects are not removed.',
    )
    .option(
      '--components <name,...>',
      'parts to remove: crds, rbac, deployment, snapshot-crds, referencegrant-crd, populator-crds (default: all)',
      components,
    )
    .addOption(
      new Option(
        '--dry-run <mode>',
        'remove nothing: say what would be removed, or let the server check',
      )
        .choices(['none', 'client', 'server'])
        .default('none'),
    )
    .option('--yes', 'remove without asking')
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<UninstallFlags & GlobalFlags>();
      const { uninstall: run } = await import('../install/uninstall.ts');
      await run(flags, io, await connectFor(command, io));
    });
}
