import type { Command } from 'commander';
import { addExamples } from '../lib/examples.ts';
import { connectFor } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { wholeNumber } from '../lib/parse.ts';
import type { Run } from '../ui/run-command.ts';
import type { UiFlags } from '../ui/serve.ts';

/** @param run runs other commands in this process: the page shows what they print */
export default function ui(program: Command, io: Io, run: Run): void {
  const command = program
    .command('ui')
    .description('show Volumes and nodes in a browser, with your rights, until interrupted')
    .option('--port <number>', 'port on 127.0.0.1; 0 is any free port', wholeNumber(0, 65_535), 0)
    .option('--open', 'open the page in a browser')
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<UiFlags>();
      const connection = await connectFor(command, io);
      const { serveUi } = await import('../ui/serve.ts');
      await serveUi(flags, io, connection, run);
    });
  addExamples(command, [
    'stowage ui --open',
    '# Print the URL only, on a fixed port',
    'stowage ui --port 8090',
  ]);
}
