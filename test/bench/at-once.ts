import { VOLUMES } from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import { connect } from '../../src/kube/connect.ts';
import { createInformer } from '../../src/kube/informer.ts';
import { systemClock } from '../../src/workqueue/clock.ts';
import { createNode } from '../support/claim-objects.ts';
import { sparseVolume } from '../support/cluster.ts';
import { mebibytes, median, ms, printFigures, quantile, seconds } from './figures.ts';
import { createClass } from './make-volume.ts';
import { start, usageOf, WATCH_ENV, WATCH_FLAGS } from './processes.ts';

const NODES = 100;
/** Concurrent requests. */
const AT_ONCE = 50;

export interface Round {
  perSecond: number;
  p50: number;
  p99: number;
  daemon: { cpu: number; peak: number };
  /** CPU time of the API server, in s. */
  serverCpu: number;
  ownCpu: number;
  calls: Record<string, number>;
}

/**
 * Creates Volumes concurrently and waits until all are Available. A new daemon, the bundled
 * working-daemon.ts, provisions the Volumes. The API server has the CRDs and no Volume.
 */
export async function atOnce(
  count: number,
  { bundled, kubeconfig, serverPid }: { bundled: string; kubeconfig: string; serverPid: number },
): Promise<Round> {
  const daemon = start(process.execPath, [...WATCH_FLAGS, bundled, kubeconfig], WATCH_ENV);
  const figures = await Promise.race([
    fill(count, kubeconfig, serverPid, daemon.pid),
    daemon.broken,
  ]);
  return { ...figures, calls: JSON.parse(await daemon.stop()) };
}

async function fill(
  count: number,
  kubeconfig: string,
  serverPid: number,
  daemonPid: number,
): Promise<Omit<Round, 'calls'>> {
  const { client } = await connect({ kubeconfig });
  await createClass(client);
  for (let index = 0; index < NODES; index++) await createNode(client, `node-${index}`);
  const watched = await watchAvailable(kubeconfig);
  const create = (name: string, index: number) =>
    client.create(VOLUMES, sparseVolume(name, `node-${index % NODES}`, '1Gi'));
  // Available once the daemon leads and reconciles.
  await create('first', 0);
  await watched.seen(1);

  const before = await Promise.all([usageOf(daemonPid), usageOf(serverPid)]);
  const own = process.cpuUsage();
  const created = new Map<string, number>();
  let next = 0;
  const keepCreating = async () => {
    for (let index = next++; index < count; index = next++) {
      created.set(`volume-${index}`, performance.now());
      await create(`volume-${index}`, index);
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: AT_ONCE }, keepCreating));
  await watched.seen(count + 1);
  const ended = performance.now();
  const [ofDaemon, ofServer] = await Promise.all([usageOf(daemonPid), usageOf(serverPid)]);
  const { user, system } = process.cpuUsage(own);
  await watched.stop();
  const waits = [...created].map(([name, at]) => (watched.available.get(name) ?? Number.NaN) - at);
  return {
    perSecond: count / ((ended - began) / 1000),
    p50: quantile(waits, 0.5),
    p99: quantile(waits, 0.99),
    daemon: { cpu: ofDaemon.cpu - before[0].cpu, peak: ofDaemon.peak },
    serverCpu: ofServer.cpu - before[1].cpu,
    ownCpu: (user + system) / 1e6,
  };
}

/** Records when each Volume is first observed as Available. */
async function watchAvailable(kubeconfig: string) {
  const { client } = await connect({ kubeconfig });
  const available = new Map<string, number>();
  let told = () => {};
  const logger = { debug() {}, info() {}, warn: console.error, error: console.error };
  const informer = createInformer<Volume>({
    client,
    clock: systemClock,
    random: Math.random,
    logger,
    resource: VOLUMES,
  });
  informer.onChange(({ object: { metadata, status } }) => {
    if (status?.phase !== 'Available' || available.has(metadata.name)) return;
    available.set(metadata.name, performance.now());
    told();
  });
  informer.start();
  await informer.synced;
  return {
    available,
    stop: () => informer.stop(),
    seen: (count: number) =>
      new Promise<void>((resolve) => {
        told = () => {
          if (available.size >= count) resolve();
        };
        told();
      }),
  };
}

/**
 * Prints medians.
 * @param server name of the API server in the output
 */
export function showRounds(count: number, server: string, rounds: readonly Round[]): void {
  const of = (figure: (round: Round) => number) => median(rounds.map(figure));
  console.log(
    `${count} Volumes at once on ${NODES} nodes in memory; medians of ${rounds.length} rounds`,
  );
  printFigures(
    'Volumes a second',
    of(({ perSecond }) => perSecond).toFixed(0),
    `(${rounds.map(({ perSecond }) => perSecond.toFixed(0)).join(', ')})`,
  );
  printFigures(
    'create to Available',
    `p50 ${ms(of(({ p50 }) => p50))}`,
    `p99 ${ms(of(({ p99 }) => p99))}`,
  );
  printFigures('CPU of the daemon', seconds(of(({ daemon }) => daemon.cpu)));
  printFigures(`CPU of the ${server}`, seconds(of(({ serverCpu }) => serverCpu)));
  printFigures('CPU of the bench itself', seconds(of(({ ownCpu }) => ownCpu)));
  printFigures('peak RSS of the daemon', mebibytes(of(({ daemon }) => daemon.peak)));
  const calls = Object.entries(rounds[0]?.calls ?? {}).filter(([, made]) => made > count / 10);
  console.log('requests of the daemon for each Volume, in the first round:');
  for (const [call, made] of calls) printFigures(`  ${call}`, (made / count).toFixed(2));
}
