/**
 * The daemon of test/bench/volumes.ts: `stowage watch` over nodes that do at once, in memory, what they are told. Its
 * argument is the file of a kubeconfig. In the end it prints how often it asked the API server for what, as JSON.
 */
import { systemClock } from '../../src/control/clock.ts';
import { createMetrics } from '../../src/daemon/metrics/metrics.ts';
import { runWatch } from '../../src/daemon/watch.ts';
import { connect } from '../../src/kube/connect.ts';
import { workingNodes } from '../support/working-nodes.ts';

const aborter = new AbortController();
process.on('SIGTERM', () => aborter.abort(new Error('SIGTERM')));
const calls: Record<string, number> = {};
const metrics = createMetrics({ clock: systemClock, transportOf: () => 'bench' });
const connection = await connect({
  kubeconfig: process.argv[2],
  onCall(call) {
    metrics.onCall(call);
    const name = `${call.verb} ${call.resource}`;
    calls[name] = (calls[name] ?? 0) + 1;
  },
});
await runWatch(
  {
    connection,
    metrics,
    // The defaults of the command.
    settings: {
      transport: 'ssh',
      localNodes: [],
      sshConfig: undefined,
      salt: undefined,
      workers: 10,
      retry: { startMs: 1000, maxMs: 300_000 },
      minions: new Map(),
      addresses: new Map(),
    },
    controllers: new Set(['volume', 'leftover']),
    election: { namespace: 'default', leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2000 },
    verbose: false,
    signal: aborter.signal,
  },
  workingNodes,
);
console.log(JSON.stringify(calls));
