import type { Command } from 'commander';
import type { TreeCommand } from '../lib/tree-command.ts';

/** Replaces commander's help, which reads only the first argument and ignores an unknown one. */
export default function help(program: Command): void {
  program
    .helpCommand(false)
    .command('help')
    .description('show help of a command')
    .argument('[command...]', 'such as: get volumes')
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
}
