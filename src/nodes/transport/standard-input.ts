/**
 * A script for the standard input of a shell. `check` is called right before it is handed over, when the shell is there:
 * what it throws ends the run, and the shell was told nothing.
 */
export async function* checkedInput(script: string, check: () => void): AsyncGenerator<string> {
  check();
  yield script;
}
