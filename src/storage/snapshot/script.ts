import { createHash } from 'node:crypto';

/** A script for `sh -c` as one line: each of its lines but the last of a block ends with what may stand before a space. */
export const oneLine = (script: string): string =>
  script
    .trim()
    .split('\n')
    .map((line) => line.trim())
    .join(' ');

/**
 * What is run as root in place of a script: it takes that as its first argument, and runs it if it is the one, to the
 * letter. For sudo has no pattern of more than 1,024 characters. It too is one function, of which a part does nothing.
 * The script finds itself in `text`.
 * @param name what the script sees as `$0`
 */
export const launcherOf = (name: string, script: string): string =>
  oneLine(`
run() {
  [ "$(printf %s "$1" | sha256sum | cut -c 1-64)" = ${createHash('sha256').update(script).digest('hex')} ] || exit 2;
  text=$1;
  shift;
  export text;
  exec sh -c "$text" ${name} "$@";
};
run "$@"
`);

/** The command that runs a script with arguments. */
export const scriptArgv = (name: string, script: string, ...words: readonly string[]): string[] => [
  ...['sh', '-c', launcherOf(name, script), name, script],
  ...words,
];
