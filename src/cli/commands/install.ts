import { type Command, InvalidArgumentError, Option } from 'commander';
import { clientFor, type GlobalFlags } from '../globals.ts';
import { components } from '../install/components.ts';
import type { InstallFlags } from '../install/install.ts';
import type { Io } from '../io.ts';
import { addNodeOptions, refuseNodeFlags, settleNodeFlags } from '../nodes/flags.ts';
import { oneText } from '../parse.ts';

export default function install(program: Command, io: Io): void {
  const command = program
    .command('install')
    .description(
      'install or upgrade what a cluster needs: definitions of kinds, rights, and the daemon as a Deployment, in the namespace stowage unless -n says another',
    )
    .option(
      '--components <name,...>',
      'parts to install: crds, rbac, deployment (default: these), and standard kinds where they are absent: snapshot-crds, referencegrant-crd, populator-crds',
      components,
    )
    .option(
      '--image <image>',
      'image of the daemon (default: stowage:<version>, as built and loaded by you)',
      image,
    )
    .addOption(
      new Option('--dry-run <mode>', 'change nothing: print the manifests, or let the server check')
        .choices(['none', 'client', 'server'])
        .default('none'),
    )
    .option(
      '--take-over-metalk8s',
      "stop MetalK8s's storage operator and adopt its Volumes, each only where its device is recognised on its node; no byte of a device is written",
    );
  addNodeOptions(command, ' (with --take-over-metalk8s)').action(async (_flags, command: Command) => {
    const flags = command.optsWithGlobals<InstallFlags & GlobalFlags & { takeOverMetalk8s?: boolean }>();
    if (flags.takeOverMetalk8s) {
      const nodeFlags = await settleNodeFlags(command, io.env);
      const { takeOver } = await import('../take-over/take-over.ts');
      await takeOver({ ...flags, ...nodeFlags }, io, clientFor(command, io));
      return;
    }
    refuseNodeFlags(command, '--take-over-metalk8s');
    const { install: run } = await import('../install/install.ts');
    await run(flags, io, clientFor(command, io));
  });
}

function image(text: string, before?: string): string {
  if (text === '') throw new InvalidArgumentError('An image has a name.');
  return oneText(text, before);
}
