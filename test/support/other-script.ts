import { launcherOf } from '../../src/storage/scripts/scripts.ts';

/** Returns the command that runs a text as if it were the script of that name. */
export const otherScript = (name: string, script: string, ...words: string[]): string[] => [
  ...['sh', '-c', launcherOf(name, script), name, script],
  ...words,
];
/** Directory of the scripts, for tests that call their functions: `. ./NAME.sh`. */
export const SCRIPT_FILES = 'src/storage/scripts';
