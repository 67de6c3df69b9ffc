/**
 * Yields a script for the standard input of a shell. `check` is called right before that, once the
 * shell has started: its error ends the run, and the shell gets nothing.
 */
export async function* checkedInput(script: string, check: () => void): AsyncGenerator<string> {
  check();
  yield script;
}
