import { Argument, type Command } from 'commander';
import { addExamples } from '../lib/examples.ts';
import type { Io } from '../lib/io.ts';

/** Completion scripts of the package, by shell. */
const SCRIPTS = { bash: 'stowage.bash', zsh: '_stowage', fish: 'stowage.fish' };

export default function completion(program: Command, io: Io): void {
  const command = program
    .command('completion')
    .description('print a script that lets a shell complete commands, options and names of objects')
    .addArgument(new Argument('<shell>', 'name of the shell').choices(Object.keys(SCRIPTS)))
    .action(async (shell: keyof typeof SCRIPTS) => {
      const { readPackageFile } = await import('../lib/package-file.ts');
      io.stdout.write(await readPackageFile(`completions/${SCRIPTS[shell]}`));
    });
  addExamples(command, [
    '# bash, in this shell',
    'source <(stowage completion bash)',
    '# bash, permanently',
    'stowage completion bash > ~/.local/share/bash-completion/completions/stowage',
    '# zsh, permanently, with ~/.zfunc in fpath',
    'stowage completion zsh > ~/.zfunc/_stowage',
    '# fish, permanently',
    'stowage completion fish > ~/.config/fish/completions/stowage.fish',
  ]);
}
