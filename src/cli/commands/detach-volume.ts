import { type Command, Option } from 'commander';
import { connectFor, type GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { durationOption, objectName, oneObjectName } from '../lib/parse.ts';
import { VOLUME_NAMES } from '../lib/resource-names.ts';
import type { DetachFlags } from '../volume/detach/detach.ts';

export default function detachVolume(detach: Command, io: Io): void {
  const [plural, singular, ...short] = VOLUME_NAMES;
  detach
    .command(singular)
    .aliases([plural, ...short])
    .description(
      'wait until the daemon has detached a Volume from a node, or let go of it on a dead node',
    )
    .argument('<name>', 'name of a Volume', objectName)
    .requiredOption('--node <name>', 'the node', oneObjectName)
    .option('--force', 'do not wait for the node, which is known to be dead')
    .option('--yes', 'the machine is off, though its Node is gone: do not ask')
    .addOption(durationOption('--timeout <duration>', 'how long to wait at most', '5m'))
    .addOption(
      new Option('-o, --output <format>', 'what to print').choices(['json', 'yaml', 'name']),
    )
    .action(async (name: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<DetachFlags & GlobalFlags>();
      const { detach: run } = await import('../volume/detach/detach.ts');
      await run(name, flags, io, (await connectFor(command, io)).client);
    });
}
