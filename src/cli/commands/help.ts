import type { Command } from 'commander';
import { addExamples } from '../lib/examples.ts';
import type { TreeCommand } from '../lib/tree-command.ts';

/** Description of help, which the groups of commands have, too. */
export const HELP = 'show help for a command';

/** Replaces commander's help, which reads only the first argument and ignores an unknown one. */
export default function help(program: Command): void {
  const command = program
    .helpCommand(false)
    .command('help')
    .description(HELP)
    .argument('[command...]', 'command, such as get volumes')
    .action((words: string[]) => {
      let at = program;
      for (const word of words) {
        const next = at.commands.find(
          (each) => each.name() === word || each.aliases().includes(word),
        );
        if (next === undefined) {
          // Further arguments are no commands, such as the kinds of `why`.
          if (at.commands.length === 0) break;
          return (at as TreeCommand).refuseWord(word);
        }
        at = next;
      }
      at.help();
    });
  addExamples(command, ['stowage help create volume']);
}
