/**
 * `stowage watch` in a process of its own, over nodes that are a folder: what it may do is written to a log that it shares
 * with others. Its one argument is ElectingWatchOptions as JSON.
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
  /** Where the nodes keep their jobs: a file each. */
  jobs: string;
  /** `PID what`, a line for each write and each call to a node, right before it is carried out. */
  log: string;
  /** Where its own log goes. */
  messages: string;
  /**
   * It stops itself (SIGSTOP) in the first call of that name to a node, right before that returns, or right before it
   * sends its first renewal.
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

/** Nodes on which jobs never end. */
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

/** From SIGUSR2 on nothing comes from the API server, and nobody is told: as where a firewall drops packets. */
let isCut = false;
process.on('SIGUSR2', () => {
  isCut = true;
});
const silence = (signal: AbortSignal | undefined): Promise<never> =>
  new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));

/** Logged when the request is about to be sent. */
function logged(transport: Transport): Transport {
  // Before it heard that it has the Lease it does not lead, and a write that takes the Lease again is no renewal.
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
      // An answer that came too late is given up by who asked, and counts for nothing.
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
