/** An error of the caller, of which only the message is printed. */
export class UsageError extends Error {}

/** Runs a command. A UsageError is printed, and sets exit status 2. */
export async function runMain(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 2;
  }
}

/** Returns a pattern as a regular expression. Throws a UsageError if it is invalid. */
export function toRegExp(pattern: string): RegExp {
  try {
    return new RegExp(pattern);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
