import { type Command, Option } from 'commander';
import { addExamples } from '../lib/examples.ts';
import { selectorOption } from '../lib/get/get-command.ts';
import { clientFor, type GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { nodeNames } from '../lib/nodes/node-pattern.ts';
import { addWaitOptions } from '../lib/objects/flags.ts';
import { objectNames } from '../lib/parse.ts';
import { NODE_NAMES, VOLUME_NAMES } from '../lib/resource-names.ts';
import type { PausedKind, PauseFlags, PauseVerb } from '../pause/types.ts';

const DESCRIPTIONS: Readonly<Record<PauseVerb, Record<PausedKind, string>>> = {
  pause: {
    volume: 'stop all work on Volumes until they are resumed',
    node: 'stop all work on nodes until they are resumed, such as for maintenance',
  },
  resume: {
    volume: 'continue the work on paused Volumes',
    node: 'continue the work on paused nodes',
  },
};

const WAITS: Readonly<Record<PauseVerb, string>> = {
  pause: 'wait until the daemon reports the pause',
  resume: 'wait until the daemon reports no pause',
};

/** Adds the commands `pause` or `resume`, by the name of the verb, for Volumes and Nodes. */
export default function addPauseCommands(verb: Command, io: Io): void {
  const name = verb.name() as PauseVerb;
  addKind('volume', VOLUME_NAMES, 'Volumes', [
    `stowage ${name} volume data1`,
    '# All Volumes with a label, until the daemon reports it',
    `stowage ${name} volume -l app=db --wait`,
  ]);
  addKind('node', NODE_NAMES, 'nodes', [
    `stowage ${name} node n1`,
    '# Several nodes, until the daemon reports it for all their Volumes',
    `stowage ${name} node 'n{1..4}' --wait`,
  ]);

  function addKind(
    kind: PausedKind,
    [plural, singular, ...short]: readonly [string, string, ...string[]],
    all: string,
    examples: readonly string[],
  ): void {
    const isNode = kind === 'node';
    const command = verb
      .command(singular)
      .aliases([plural, ...short])
      .description(DESCRIPTIONS[name][kind])
      .argument(
        '[name...]',
        isNode ? "names of nodes; 'n{1..4}' stands for four" : 'names of Volumes',
        isNode ? nodeNames : objectNames,
      )
      .addOption(selectorOption())
      .option('--all', `${name} all ${all} of the cluster`);
    addWaitOptions(command, WAITS[name])
      .addOption(
        new Option('-o, --output <format>', 'output format').choices(['json', 'yaml', 'name']),
      )
      .action(async (names: string[] | undefined, _flags, command: Command) => {
        const flags = command.optsWithGlobals<PauseFlags & GlobalFlags>();
        const { pause } = await import('../pause/pause.ts');
        await pause(name, kind, names ?? [], flags, io, clientFor(command, io));
      });
    addExamples(command, examples);
  }
}
