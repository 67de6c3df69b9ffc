import type { Command } from 'commander';
import { bashCompletion } from './bash.ts';
import { fishCompletion } from './fish.ts';
import { zshCompletion } from './zsh.ts';

/** Shells, and how their completions are made of the tree of commands. */
const SCRIPTS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };
export type Shell = keyof typeof SCRIPTS;

export const completionScript = (shell: Shell, program: Command): string => SCRIPTS[shell](program);
