import { DefaultRenderer, Listr, ListrLogger, ProcessOutput } from 'listr2';
import type { Output } from '../io.ts';
import { printable } from './printable.ts';

/** Renderer that also draws if standard output, which it does not use, is no terminal. */
class Renderer extends DefaultRenderer {
  static override nonTTY = true;
}

/**
 * Runs tasks on a terminal, with a spinner and a state for each. (Colors follow $NO_COLOR and
 * --no-color without further code.)
 */
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
          // A long line would wrap, and drawing over it would leave parts behind.
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
  /** Runs the task, which may call `report` with its state any number of times. */
  run(report: (state: string) => void): Promise<T>;
}
