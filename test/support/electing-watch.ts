/**
 * `stowage watch` in its own process, over nodes that are a directory. Its writes and calls go to a
 * log that several processes share. The only argument is ElectingWatchOptions as JSON.
 */
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../../src/kube/client.ts';
import { connect } from '../../src/kube/connect.ts';
import type { ElectionTiming } from '../../src/kube/election.ts';
import type { Transport } from '../../src/kube/transport.ts';
import { runWatch } from '../../src/manager/watch.ts';
import type { NodeExecutorOptions } from '../../src/model/node-executor.ts';
import type { Executor, JobKey, JobState } from '../../src/nodes/job.ts';
import { EMPTY_NODE, fakeExecutor } from './fake-executor.ts';

export interface ElectingWatchOptions {
  kubeconfig: string;
  timing: ElectionTiming;
  /** Directory of the nodes' jobs: one file each. */
  jobs: string;
  /**
   * Path of the shared log: a line `PID what` for each write and each call to a node, right before
   * it.
   */
  log: string;
  /** Path of the daemon's own log. */
  messages: string;
  /**
   * Call in which the process stops itself (SIGSTOP), once: right before that call to a node
   * returns, or right before the first renewal is sent.
   */
  stopIn?: 'submit' | 'poll' | 'renewal';
}

const options = JSON.parse(process.argv[2] ?? '') as ElectingWatchOptions;
const log = (what: string) => appendFileSync(options.log, `${process.pid} ${what}\n`);

let { stopIn } = options;
function stopOnce(where: typeof stopIn): void {
  if (stopIn !== where) return;
  stopIn = undefined;
  process.kill(process.pid, 'SIGSTOP');
}

/** Returns nodes on which jobs never end. */
function nodesIn(folder: string, { check = () => {} }: NodeExecutorOptions): Executor {
  const fileOf = ({ subject, id }: JobKey) => join(folder, `${subject}-${id}`);
  const stateOf = (key: JobKey): JobState => ({
    state: existsSync(fileOf(key)) ? 'running' : 'not-found',
  });
  const looking = fakeExecutor({ n1: { probes: EMPTY_NODE } });
  return {
    ...looking,
    async observe(node, probes) {
      check(node);
      log('observe');
      return looking.observe(node, probes);
    },
    async submit(node, { key }) {
      check(node);
      log(`submit ${key.subject}-${key.id}`);
      writeFileSync(fileOf(key), '');
      stopOnce('submit');
      return stateOf(key);
    },
    async poll(node, keys, waitMs) {
      check(node);
      log('poll');
      await sleep(Math.min(waitMs, 50));
      stopOnce('poll');
      return keys.map(stateOf);
    },
  };
}

/**
 * Set by SIGUSR2: nothing more arrives from the API server, and no error is reported, as if a
 * firewall dropped the packets.
 */
let isCut = false;
process.on('SIGUSR2', () => {
  isCut = true;
});
const silence = (signal: AbortSignal | undefined): Promise<never> =>
  new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));

/** Logs each request right before it is sent. */
function logged(transport: Transport): Transport {
  // Before its first successful write of the Lease, the process is no leader. Another acquisition
  // is no renewal.
  let holds = false;
  return {
    ...transport,
    async send(request) {
      const isLease = /\/leases(\/|\?|$)/.test(request.path) && request.method !== 'GET';
      const check = () => {
        if (isLease && holds) stopOnce('renewal');
        request.check?.();
        log(`${request.method} ${request.path}`);
      };
      if (isCut) return silence(request.signal);
      const answer = await transport.send(
        request.method === 'GET' ? request : { ...request, check },
      );
      // A late response was abandoned by the caller and does not count.
      if (isLease && !request.signal?.aborted) holds = true;
      return answer;
    },
    async *stream(request) {
      for await (const chunk of transport.stream(request)) {
        if (isCut) await silence(request.signal);
        yield chunk;
      }
    },
  };
}

const aborter = new AbortController();
process.on('SIGTERM', () => aborter.abort(new Error('SIGTERM')));
const connection = await connect({ kubeconfig: options.kubeconfig, requestTimeoutMs: 5000 });
const transport = logged(connection.transport);
try {
  await runWatch(
    {
      connection: { ...connection, transport, client: createClient(transport) },
      settings: {
        transport: 'ssh',
        localNodes: [],
        sshConfig: undefined,
        salt: undefined,
        workers: 4,
        retry: { startMs: 200, maxMs: 1000 },
        minions: new Map(),
        addresses: new Map(),
      },
      controllers: new Set(['volume', 'leftover']),
      namespace: 'default',
      election: { ...options.timing, namespace: 'default' },
      http: {
        address: { text: '127.0.0.1:0', host: '127.0.0.1', port: 0 },
        metricsPath: '/metrics',
      },
      verbose: false,
      signal: aborter.signal,
    },
    (how) => nodesIn(options.jobs, how),
  );
  process.exit(0);
} catch {
  process.exit(1);
}
