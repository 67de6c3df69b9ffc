/** Ends a command with an exit status of its own. Without a cause, nothing is printed. */
export class ExitError extends Error {
  override readonly name = 'ExitError';
  readonly exitCode: number;

  constructor(exitCode: number, cause?: unknown) {
    super(`exit with ${exitCode}`, { cause });
    this.exitCode = exitCode;
  }
}
