import type { Command } from 'commander';
import type { TreeCommand } from '../lib/tree-command.ts';

/** In place of commander's, which looks at the first word only, and takes one that it does not know for none. */
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
          // What follows are arguments, as the kinds of `why` are.
          if (at.commands.length === 0) break;
          return (at as TreeCommand).refuseWord(word);
        }
        at = next;
      }
      at.help();
    });
}
