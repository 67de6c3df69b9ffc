import type { KubeObject } from '../../src/api/meta.ts';
import { SignalError } from '../../src/cli/lib/signals.ts';
import type { WatchEvent } from '../../src/kube/types.ts';
import { FakeClock } from './fake-clock.ts';
import { type Outcome, stowage, type World } from './fake-io.ts';

/**
 * Runs a command that watches Volumes in memory, with the events of each connection, and interrupts
 * it like Ctrl-C. Each connection but the last breaks after its events.
 */
export async function watchVolumes(
  argv: string[],
  there: Record<string, KubeObject>,
  connections: WatchEvent[][],
  world: World = {},
): Promise<Outcome> {
  const aborter = new AbortController();
  const clock = new FakeClock();
  const objects = { ...there };
  const left = [...connections];
  const running = stowage(argv, {
    ...{ objects, clock, signal: aborter.signal },
    *events() {
      for (const event of left.shift() ?? []) {
        const key = `volumes/${event.object.metadata.name}`;
        if (event.type === 'DELETED') delete objects[key];
        else objects[key] = event.object;
        yield event;
      }
      if (left.length > 0) throw new Error('connection reset\u001b[2J');
      aborter.abort(new SignalError('SIGINT'));
    },
    ...world,
  });
  while (!aborter.signal.aborted) await clock.advance(1000);
  return running;
}
