import { type Story, script, shows } from '../story.ts';
import { emptyCluster } from '../worlds.ts';

/** test/integration/completion.test.ts runs the shells themselves. */
export const SHELL_STORIES: readonly Story[] = [
  {
    path: 'docs/shells.md',
    world: emptyCluster,
    before: {
      'mkdir -p ~/.local/share/bash-completion/completions ~/.zfunc ~/.config/fish/completions':
        shows(/^/),
    },
    typed: {
      'stowage completion fish | source': shows(/--command stowage/, 'stowage completion fish'),
      'stowage completion bash > ~/.local/share/bash-completion/completions/stowage': shows(
        /complete -F _stowage stowage/,
        'stowage completion bash > ~/.local/share/bash-completion/completions/stowage && cat ~/.local/share/bash-completion/completions/stowage',
      ),
      'stowage completion zsh > ~/.zfunc/_stowage': shows(
        /^#compdef stowage/,
        'stowage completion zsh > ~/.zfunc/_stowage && cat ~/.zfunc/_stowage',
      ),
      'stowage completion fish > ~/.config/fish/completions/stowage.fish': shows(
        /--command stowage/,
        'stowage completion fish > ~/.config/fish/completions/stowage.fish && cat ~/.config/fish/completions/stowage.fish',
      ),
      'stowage __complete': shows(/^volumes\tlist Volumes$/m, "stowage __complete get ''"),
      'kubectl stowage get volumes': shows(/No volumes found/),
      'npm run bench -- completion': script('bench'),
    },
  },
  { path: 'docs/questions.md', world: emptyCluster, typed: { 'npm run panes': script('panes') } },
];
