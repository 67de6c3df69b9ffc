import { type Command, Option } from 'commander';
import { nodeNames } from '../parse.ts';

/** How nodes are reached. */
export interface NodeFlags {
  transport: 'ssh' | 'local';
  localNode: string[];
  sshConfig?: string;
}

/** `when` is said of each, where they count only then. */
export function addNodeOptions(command: Command, when = ''): Command {
  return command
    .addOption(
      new Option('--transport <transport>', `how nodes are reached${when}`)
        .choices(['ssh', 'local'])
        .default('ssh'),
    )
    .option(
      '--local-node <name,...>',
      `nodes that this machine is (with --transport local)${when}`,
      nodeNames,
      [],
    )
    .option('--ssh-config <file>', `configuration of ssh (default: ~/.ssh/config)${when}`);
}

/** Ends a command whose flags contradict each other, as wrong usage. */
export function checkNodeFlags(command: Command): void {
  const { transport, localNode } = command.opts<NodeFlags>();
  if ((transport === 'local') !== localNode.length > 0) {
    command.error('error: --transport local and --local-node go together');
  }
}

/** Ends a command that was told how to reach nodes and reaches none, as wrong usage. */
export function refuseNodeFlags(command: Command, unless: string): void {
  const given = ['transport', 'localNode', 'sshConfig'].find(
    (name) => command.getOptionValueSource(name) === 'cli',
  );
  if (given === undefined) return;
  const flag = command.options.find((option) => option.attributeName() === given)?.long;
  command.error(`error: ${flag} goes with ${unless}`);
}
