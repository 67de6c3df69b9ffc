import { connect } from '../../src/kube/connect.ts';
import type { ApiCall } from '../../src/kube/transport.ts';
import { parseHttpAddress } from '../../src/manager/http-address.ts';
import { createMetrics, type Metrics } from '../../src/manager/metrics/metrics.ts';
import { runWatch, type WatchOptions } from '../../src/manager/watch.ts';
import type { Executor } from '../../src/nodes/job.ts';
import { systemClock } from '../../src/workqueue/clock.ts';

export interface AsWatch {
  metrics: Metrics;
  /** Resolves when the daemon has ended. */
  ended: Promise<void>;
  stop(): void;
}

/**
 * Runs `stowage watch` over nodes in memory, with an HTTP endpoint and the command's defaults,
 * except for the controllers: volume and leftover. SIGTERM ends the daemon.
 */
export async function startAsWatch(
  kubeconfig: string | undefined,
  nodes: Executor,
  onCall: (call: ApiCall) => void,
  more: Partial<Pick<WatchOptions, 'controllers' | 'rate'>> = {},
): Promise<AsWatch> {
  const aborter = new AbortController();
  const stop = () => aborter.abort(new Error('SIGTERM'));
  process.on('SIGTERM', stop);
  const metrics = createMetrics({ clock: systemClock, transportOf: () => 'bench' });
  const connection = await connect({
    kubeconfig,
    onCall(call) {
      metrics.onCall(call);
      onCall(call);
    },
  });
  const ended = runWatch(
    {
      connection,
      metrics,
      settings: {
        transport: 'ssh',
        localNodes: [],
        sshConfig: undefined,
        salt: undefined,
        workers: 10,
        retry: { startMs: 1000, maxMs: 300_000 },
        addresses: new Map(),
        minions: new Map(),
      },
      controllers: new Set(['volume', 'leftover']),
      election: {
        namespace: 'default',
        leaseDurationMs: 15_000,
        renewDeadlineMs: 10_000,
        retryPeriodMs: 2000,
      },
      http: { address: parseHttpAddress('127.0.0.1:0'), metricsPath: '/metrics' },
      verbose: false,
      signal: aborter.signal,
      ...more,
    },
    () => nodes,
  );
  return { metrics, ended, stop };
}
