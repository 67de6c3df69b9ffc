import { Argument, type Command } from 'commander';
import type { Shell } from '../completion/script.ts';
import type { Io } from '../io.ts';

export default function completion(program: Command, io: Io): void {
  program
    .command('completion')
    .description(
      'print what makes a shell complete commands, options and names of objects (see stowage help completion)',
    )
    .addArgument(new Argument('<shell>', 'for which').choices(['bash', 'zsh', 'fish']))
    .addHelpText(
      'after',
      `
To have it in this shell:   source <(stowage completion bash), or zsh; stowage completion fish | source
To have it from now on:     stowage completion bash > ~/.local/share/bash-completion/completions/stowage
                            stowage completion zsh > _stowage, in a folder of $fpath
                            stowage completion fish > ~/.config/fish/completions/stowage.fish`,
    )
    .action(async (shell: Shell) => {
      const { completionScript } = await import('../completion/script.ts');
      io.stdout.write(completionScript(shell, program));
    });
}
