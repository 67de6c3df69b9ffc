import type { Command } from 'commander';
import { addExamples } from '../lib/examples.ts';
import { clientFor, type GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { addNodeOptions, refuseNodeFlags, settleNodeFlags } from '../lib/nodes/flags.ts';
import { addCreateOptions, addWaitOptions } from '../lib/objects/flags.ts';
import { objectName, quantity } from '../lib/parse.ts';
import { VOLUME_NAMES } from '../lib/resource-names.ts';
import type { ResizeFlags } from '../volume/resize/resize.ts';

export default function resizeVolume(resize: Command, io: Io): void {
  const [plural, singular, ...short] = VOLUME_NAMES;
  const command = resize
    .command(singular)
    .aliases([plural, ...short])
    .description('expand the storage of a Volume with its file system, also while it is used')
    .argument('<name>', 'name of a Volume', objectName)
    .argument('<size>', 'new size, such as 20Gi; a Volume never shrinks', quantity);
  addNodeOptions(command, 'Node access (for --dry-run=plan only):');
  addWaitOptions(
    addCreateOptions(command, true, 'change'),
    'wait until the Volume has the size',
  ).action(async (name: string, size: string, _flags, command: Command) => {
    const flags = command.optsWithGlobals<ResizeFlags & GlobalFlags>();
    if (flags.dryRun !== 'plan') refuseNodeFlags(command, '--dry-run=plan');
    else if (flags.output === 'name')
      command.error('error: --dry-run=plan takes -o json or -o yaml, but not -o name');
    const { resize: run } = await import('../volume/resize/resize.ts');
    const nodeFlags = () => settleNodeFlags(command, io.env);
    await run(name, size, flags, io, clientFor(command, io), nodeFlags);
  });
  addExamples(command, [
    'stowage resize volume data1 20Gi --wait',
    '# Print the commands that would run on the node',
    'stowage resize volume data1 20Gi --dry-run=plan',
  ]);
}
