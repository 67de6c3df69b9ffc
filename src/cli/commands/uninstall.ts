import { type Command, Option } from 'commander';
import type { UninstallFlags } from '../install/uninstall.ts';
import { components } from '../lib/components.ts';
import { addExamples } from '../lib/examples.ts';
import { connectFor, type GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';

export default function uninstall(program: Command, io: Io): void {
  const command = program
    .command('uninstall')
    .description(
      'remove what stowage install created. Storage on nodes, PersistentVolumes and namespaces with other objects stay. Removes nothing if a CRD still has objects.',
    )
    .option(
      '--components <name,...>',
      'components to remove: crds, rbac, deployment, snapshot-crds, referencegrant-crd, populator-crds (default: all)',
      components,
    )
    .addOption(
      new Option(
        '--dry-run <mode>',
        'remove nothing: client prints what would be removed, server also validates it',
      )
        .choices(['none', 'client', 'server'])
        .default('none'),
    )
    .option('--yes', 'remove without confirmation')
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<UninstallFlags & GlobalFlags>();
      const { uninstall: run } = await import('../install/uninstall.ts');
      await run(flags, io, await connectFor(command, io));
    });
  addExamples(command, [
    '# Print what would be removed',
    'stowage uninstall --dry-run=client',
    '# Keep the CRDs and their objects',
    'stowage uninstall --components rbac,deployment',
  ]);
}
