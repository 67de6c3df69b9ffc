import { type Command, InvalidArgumentError, Option } from 'commander';
import { connectFor, type GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { addNodeOptions, settleNodeFlags } from '../lib/nodes/flags.ts';
import { type Nodes, nodes } from '../lib/nodes/node-pattern.ts';
import { oneText } from '../lib/parse.ts';
import type { CheckFlags } from '../node/check/check.ts';

export default function checkNode(check: Command, io: Io): void {
  const command = check
    .command('node')
    .aliases(['nodes', 'no'])
    .description(
      'look at nodes: tools that are missing, and what no Volume owns there. Nothing is changed.',
    )
    .argument('<name...>', 'nodes; n{1..4} is four', nodes)
    .addOption(new Option('-o, --output <format>', 'what to print').choices(['json', 'yaml']));
  addNodeOptions(command)
    .option(
      '--trust-host-key <fingerprint>',
      'add the host key of a node to the known hosts, if it has this fingerprint (SHA256:…)',
      fingerprint,
    )
    .action(async ({ names }: Nodes, _flags, command: Command) => {
      const nodeFlags = await settleNodeFlags(command, io.env);
      const flags = { ...command.optsWithGlobals<CheckFlags & GlobalFlags>(), ...nodeFlags };
      if (flags.trustHostKey !== undefined && (names.length > 1 || flags.transport !== 'ssh')) {
        command.error('error: --trust-host-key is for one node, over ssh');
      }
      const { checkNodes } = await import('../node/check/check.ts');
      await checkNodes(names, flags, io, (await connectFor(command, io)).client);
    });
}

/** Validates a fingerprint as printed by ssh-keygen -l. */
function fingerprint(text: string, before?: string): string {
  if (!/^SHA256:[A-Za-z0-9+/]{43}$/.test(text)) {
    throw new InvalidArgumentError(
      'Write it as ssh-keygen -l prints it: SHA256: and 43 characters.',
    );
  }
  return oneText(text, before);
}
