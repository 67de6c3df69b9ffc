import { type Command, InvalidArgumentError, Option } from 'commander';
import { addExamples } from '../lib/examples.ts';
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
      'check nodes for missing tools, leftovers that no Volume owns, and other problems, without changing anything',
    )
    .argument('<name...>', "names of nodes; 'n{1..4}' stands for four", nodes)
    .addOption(new Option('-o, --output <format>', 'output format').choices(['json', 'yaml']));
  addNodeOptions(command)
    .option(
      '--trust-host-key <fingerprint>',
      'add the host key of the node to the known hosts if it has this fingerprint (SHA256:…)',
      fingerprint,
    )
    .action(async ({ names }: Nodes, _flags, command: Command) => {
      const nodeFlags = await settleNodeFlags(command, io.env);
      const flags = { ...command.optsWithGlobals<CheckFlags & GlobalFlags>(), ...nodeFlags };
      if (flags.trustHostKey !== undefined && (names.length > 1 || flags.transport !== 'ssh')) {
        command.error('error: --trust-host-key takes one node, with --transport ssh');
      }
      const { checkNodes } = await import('../node/check/check.ts');
      await checkNodes(names, flags, io, (await connectFor(command, io)).client);
    });
  addExamples(command, [
    'stowage check node n1',
    "stowage check node 'n{1..4}'",
    '# A new node, whose fingerprint you compared',
    'stowage check node n1 --trust-host-key SHA256:hT2Qd9uXvJm3cW0yKf7sLr4ZbNqPe8gAiVoE6xYtUcw',
  ]);
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
