import { SignalError } from '../../src/cli/lib/signals.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import type { ClaimsCluster } from './claims-cluster.ts';
import type { World } from './fake-io.ts';
import { until } from './until.ts';

/** A terminal that keeps what a command writes to it. */
export function capturedTerminal() {
  let text = '';
  return {
    terminal: {
      write(more: string) {
        text += more;
      },
    },
    text: () => text,
    /** Waits until a text was written this often. */
    shows: (wanted: string, times = 1) =>
      until(`${wanted} is shown`, async () => text.split(wanted).length > times || undefined),
  };
}

export type Shows = ReturnType<typeof capturedTerminal>['shows'];

/** Runs a command that watches, carries out changes beside it, and interrupts it as Ctrl-C does. Returns the lines it wrote. */
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
