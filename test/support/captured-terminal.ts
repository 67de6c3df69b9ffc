import { SignalError } from '../../src/cli/lib/signals.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import type { ClaimsCluster } from './claims-cluster.ts';
import type { World } from './fake-io.ts';
import { until } from './until.ts';

/** Returns a terminal that stores the output of a command. */
export function capturedTerminal() {
  let text = '';
  return {
    terminal: {
      write(more: string) {
        text += more;
      },
    },
    text: () => text,
    /** Waits until a text was written `times` times. */
    shows: (wanted: string, times = 1) =>
      until(`${wanted} is shown`, async () => text.split(wanted).length > times || undefined),
  };
}

export type Shows = ReturnType<typeof capturedTerminal>['shows'];

/**
 * Runs a watching command, carries out changes, and interrupts the command like Ctrl-C.
 * @returns also the lines on the terminal
 */
export async function interrupted(
  cluster: ClaimsCluster,
  argv: string[],
  change: (shows: Shows) => Promise<unknown>,
  through?: (client: KubeClient) => KubeClient,
): Promise<{ code: number; err: string; lines: string[] }> {
  const aborter = new AbortController();
  const { terminal, text, shows } = capturedTerminal();
  const world: World = { signal: aborter.signal, terminal };
  const watching = cluster.stowage(argv, world, through);
  try {
    await change(shows);
  } finally {
    aborter.abort(new SignalError('SIGINT'));
  }
  const { code, err } = await watching;
  return { code, err, lines: text().trimEnd().split('\n') };
}
