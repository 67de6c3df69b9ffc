/**
 * Returns one argument as a POSIX shell word: the only place in Stowage where a string meets a
 * shell.
 *
 * Inside single quotes every byte stands for itself but the quote, which is closed, escaped and
 * reopened. NUL cannot be part of an argument (execve(2) ends it there), so it is refused rather
 * than lost.
 *
 * @throws RangeError for a string that holds NUL
 */
export function quote(argument: string): string {
  if (argument.includes('\0')) {
    throw new RangeError('an argument cannot contain a NUL character');
  }
  return `'${argument.replaceAll("'", "'\\''")}'`;
}

/**
 * Returns a command to paste: only words that need it are quoted.
 * @throws RangeError as `quote` does
 */
export const commandText = (...argv: readonly string[]): string =>
  argv.map((word) => (/^[a-zA-Z0-9_./-]+$/.test(word) ? word : quote(word))).join(' ');

/**
 * Returns a whole command line: each element stays one argument.
 * @throws RangeError as `quote` does
 */
export function quoteAll(argv: readonly string[]): string {
  return argv.map(quote).join(' ');
}
