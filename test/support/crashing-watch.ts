/**
 * Controllers of `stowage watch` in their own process, which kills itself or its connections to
 * nodes with SIGKILL at its n-th effect. Every write to the API server and every call to a node is
 * an effect.
 *
 * The only argument is CrashingWatchOptions as JSON.
 */
import { appendFileSync } from 'node:fs';
import type { KubeNode } from '../../src/api/core.ts';
import { NODES } from '../../src/api/resources.ts';
import { connect } from '../../src/kube/connect.ts';
import { createInformer } from '../../src/kube/informer.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { DEFAULT_ATTACHMENT } from '../../src/manager/attachment-controller.ts';
import { startControllers } from '../../src/manager/manager.ts';
import type { Executor } from '../../src/nodes/job.ts';
import { createLocalShell } from '../../src/nodes/transport/local-shell.ts';
import { createShellExecutor } from '../../src/nodes/transport/shell-executor.ts';
import { createSshShell } from '../../src/nodes/transport/ssh-shell.ts';
import { systemClock } from '../../src/workqueue/clock.ts';
import { cutConnections, hasSession } from './sshd.ts';
import { until } from './until.ts';

export interface CrashingWatchOptions {
  kubeconfig: string;
  transport: 'ssh' | 'local';
  nodes: string[];
  sshConfig?: string;
  /** Path of the log: one effect name per line, appended right before the effect. */
  log: string;
  /** Number of the effect to crash at, from 1; 0 for none. */
  effect: number;
  /** Name of an effect; the first such effect crashes. */
  first?: string;
  /** Time of the crash. For a connection, `after` means during the call. */
  when: 'before' | 'after';
  /** Namespace for populating claims, if enabled. */
  namespace?: string;
  /** PID of an sshd. Its connections are killed instead of this process. */
  cut?: number;
}

const options = JSON.parse(process.argv[2] ?? '') as CrashingWatchOptions;
let effects = 0;

async function crash(): Promise<void> {
  if (options.cut === undefined) process.kill(process.pid, 'SIGKILL');
  else await cutConnections(options.cut);
}

/** Waits until a call has reached the node or has ended. */
async function isUnderWay(call: Promise<unknown>, sshd: number): Promise<void> {
  let hasEnded = false;
  const end = () => {
    hasEnded = true;
  };
  call.then(end, end);
  await until('a session', async () => (hasEnded || (await hasSession(sshd)) ? true : undefined));
}

/** Returns a copy of the object whose named methods can crash. */
function crashing<T extends object>(
  what: string,
  object: T,
  methods: readonly (keyof T & string)[],
): T {
  const wrapped = { ...object };
  for (const method of methods) {
    const carryOut = object[method] as (...args: unknown[]) => Promise<unknown>;
    Object.assign(wrapped, {
      async [method](...args: unknown[]) {
        // The first argument is a resource, or the name of a node.
        const { plural } = args[0] as { plural?: string };
        const name = `${what}.${method}${plural === undefined ? '' : ` ${plural}`}`;
        const mine = ++effects === options.effect || name === options.first;
        appendFileSync(options.log, `${name}\n`);
        if (mine && options.when === 'before') await crash();
        const outcome = carryOut.apply(object, args);
        // Awaited after the crash, which may reject it: avoid an unhandled rejection until then.
        outcome.catch(() => {});
        if (mine && options.when === 'after') {
          await (options.cut === undefined ? outcome : isUnderWay(outcome, options.cut));
          await crash();
        }
        return outcome;
      },
    });
  }
  return wrapped;
}

const { client } = await connect({ kubeconfig: options.kubeconfig });
const executor = createShellExecutor(
  options.transport === 'local'
    ? createLocalShell(options.nodes)
    : createSshShell({
        ...(options.sshConfig === undefined ? {} : { configFile: options.sshConfig }),
        addressOf: () => ({}),
      }),
);
// Events accompany the work and change nothing: they are no effects.
const isEvent = (resource: unknown) => (resource as { kind: string }).kind === 'Event';
const counted = crashing<KubeClient>('client', client, ['create', 'patch', 'delete']);
const api: KubeClient = {
  ...client,
  create: (resource, ...rest) => (isEvent(resource) ? client : counted).create(resource, ...rest),
  patch: (resource, ...rest) => (isEvent(resource) ? client : counted).patch(resource, ...rest),
  delete: counted.delete,
};
const silent = {
  debug() {},
  info() {},
  warn() {},
  error: (fields: object, message: string) => console.error(message, fields),
};
const common = { clock: systemClock, random: Math.random, logger: silent };
const nodes = createInformer<KubeNode>({ ...common, client, resource: NODES });
nodes.start();
const controller = startControllers({
  ...common,
  client: api,
  nodes,
  begin: nodes.synced,
  executor: crashing<Executor>('node', executor, ['observe', 'submit', 'poll', 'purge']),
  managesNode: (node) => options.nodes.includes(node),
  host: 'test',
  namespace: options.namespace,
  workers: 4,
  attachment: DEFAULT_ATTACHMENT,
  crossNamespace: true,
  snapshotController: 'builtin',
  retry: { startMs: 200, maxMs: 2000 },
});
process.on('SIGTERM', () => {
  void controller
    .stop(5000, 5000)
    .then(() => nodes.stop())
    .then(() => executor.close())
    .then(() => process.exit(0));
});
