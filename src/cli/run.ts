import { explain, failed } from './lib/failure.ts';
import type { GlobalFlags } from './lib/globals.ts';
import type { Io } from './lib/io.ts';
import { wantsJson } from './lib/wants-json.ts';
import { normalizeArgv } from './normalize-argv.ts';
import { createProgram } from './program.ts';

/** Runs a command line (without the names of node and the program) and returns the exit status. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const json = wantsJson(argv);
  const program = createProgram(io, { quiet: json, run });
  try {
    // For shells: further arguments are parts of another command line. Help omits this command.
    if (argv[0] === '__complete') {
      const { complete } = await import('./complete/complete.ts');
      await complete(program, argv.slice(1), io);
      return 0;
    }
    await program.parseAsync(normalizeArgv(argv, program), { from: 'user' });
    return 0;
  } catch (error) {
    return failed(error, io, async (error) => {
      // Loaded for errors only: the text of all reasons would delay `--help`.
      const [{ errorLine }, { hintInCluster }] = await Promise.all([
        import('./lib/error-json.ts'),
        import('./lib/in-cluster.ts'),
      ]);
      const flags = program.opts<GlobalFlags>();
      const inHint = hintInCluster(flags, program.args[0]);
      if (json) io.stderr.write(errorLine(error, inHint));
      else explain(error, io, flags, inHint);
    });
  }
}
