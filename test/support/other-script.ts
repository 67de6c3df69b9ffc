import { launcherOf } from '../../src/storage/scripts/scripts.ts';

/** The command that runs a text under a name as if it were the script of that name. */
export const otherScript = (name: string, script: string, ...words: string[]): string[] => [
  ...['sh', '-c', launcherOf(name, script), name, script],
  ...words,
];
/** The files of scripts, for tests that call functions of theirs: `. ./NAME.sh`. */
export const SCRIPT_FILES = 'src/storage/scripts';
