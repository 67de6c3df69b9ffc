import { failed } from './failure.ts';
import type { Io } from './io.ts';
import { createProgram } from './program.ts';

/** Runs a command line (without the names of node and the program) and returns the exit status. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const program = createProgram(io);
  try {
    await program.parseAsync(argv, { from: 'user' });
    return 0;
  } catch (error) {
    return failed(error, io, program.opts());
  }
}
