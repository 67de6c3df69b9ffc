import { DefaultRenderer, Listr, ListrLogger, ProcessOutput } from 'listr2';
import type { Output } from '../io.ts';
import { printable } from './printable.ts';

/** Draws also when standard output is no terminal: it is not what it draws on. */
class Renderer extends DefaultRenderer {
  static override nonTTY = true;
}

/** Runs tasks with a spinner and their state for each, on a terminal. (Its colours go by $NO_COLOR and --no-color by themselves.) */
export async function showLive<T>(
  terminal: Output,
  tasks: readonly ProgressTask<T>[],
): Promise<PromiseSettledResult<T>[]> {
  const stream = terminal as NodeJS.WriteStream;
  const running: Promise<T>[] = [];
  const list = new Listr(
    tasks.map(({ title, run }) => ({
      title,
      task: async (_context, shown): Promise<void> => {
        const work = run((state) => {
          // A long line would wrap, and what is drawn over it then leaves parts of it behind.
          shown.title = `${title}: ${printable(state).replaceAll('\n', ' ')}`;
        });
        running.push(work);
        await work;
      },
    })),
    {
      renderer: Renderer,
      concurrent: true,
      exitOnError: false,
      registerSignalListeners: false,
      rendererOptions: {
        showErrorMessage: false,
        // Both are standard error: standard output is for data.
        logger: new ListrLogger({
          useIcons: false,
          processOutput: new ProcessOutput(stream, stream),
        }),
      },
    },
  );
  await list.run();
  return Promise.allSettled(running);
}
export interface ProgressTask<T> {
  title: string;
  /** Calls `tell` with where it is, as often as it likes. */
  run(tell: (state: string) => void): Promise<T>;
}
