import { type Command, Option } from 'commander';
import { addExamples } from '../lib/examples.ts';
import { connectFor, type GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { durationOption, objectName, oneObjectName } from '../lib/parse.ts';
import { VOLUME_NAMES } from '../lib/resource-names.ts';
import type { DetachFlags } from '../volume/detach/detach.ts';

export default function detachVolume(detach: Command, io: Io): void {
  const [plural, singular, ...short] = VOLUME_NAMES;
  const command = detach
    .command(singular)
    .aliases([plural, ...short])
    .description('wait until a Volume is detached from a node, or force-detach it from a dead node')
    .argument('<name>', 'name of a Volume', objectName)
    .requiredOption('--node <name>', 'node to detach from', oneObjectName)
    .option('--force', 'force-detach without waiting for the node, which must be dead')
    .option('--yes', 'with --force, vouch that the machine of a deleted Node is off')
    .addOption(durationOption('--timeout <duration>', 'maximum time to wait', '5m'))
    .addOption(
      new Option('-o, --output <format>', 'output format').choices(['json', 'yaml', 'name']),
    )
    .action(async (name: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<DetachFlags & GlobalFlags>();
      const { detach: run } = await import('../volume/detach/detach.ts');
      await run(name, flags, io, (await connectFor(command, io)).client);
    });
  addExamples(command, [
    '# Wait until the Volume is detached',
    'stowage detach volume data1 --node n1',
    '# Force-detach it from a dead node',
    'stowage detach volume data1 --node n1 --force',
  ]);
}
