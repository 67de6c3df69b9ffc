import { Argument, type Command } from 'commander';
import type { Io } from '../lib/io.ts';

/** Completion scripts of the package, by shell. */
const SCRIPTS = { bash: 'stowage.bash', zsh: '_stowage', fish: 'stowage.fish' };

export default function completion(program: Command, io: Io): void {
  program
    .command('completion')
    .description(
      'print what makes a shell complete commands, options and names of objects (see stowage help completion)',
    )
    .addArgument(new Argument('<shell>', 'for which').choices(Object.keys(SCRIPTS)))
    .addHelpText(
      'after',
      `
To have it in this shell:   source <(stowage completion bash), or zsh; stowage completion fish | source
To have it from now on:     stowage completion bash > ~/.local/share/bash-completion/completions/stowage
                            stowage completion zsh > _stowage, in a folder of $fpath
                            stowage completion fish > ~/.config/fish/completions/stowage.fish`,
    )
    .action(async (shell: keyof typeof SCRIPTS) => {
      const { readPackageFile } = await import('../lib/package-file.ts');
      io.stdout.write(await readPackageFile(`completions/${SCRIPTS[shell]}`));
    });
}
