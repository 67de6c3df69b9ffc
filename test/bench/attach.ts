/**
 * `npm run bench:attach [-- --pods N …]`: compares attach and detach with the attach/detach
 * controller of kube-controller-manager. Both run in turns, on one real API server and at equal
 * request rates.
 *
 * kube-controller-manager attaches nothing: its pods have inline iSCSI volumes. For Stowage, nodes
 * in memory attach at once, and Stowage writes the PersistentVolume, the status and the pod.
 * Finally, the same writes are measured without any other work. See docs/benchmarks.md.
 */
import { connect } from '../../src/kube/connect.ts';
import { startControlPlane } from '../cluster/control-plane/control-plane.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { createNodes, createVolumes } from './attach-cluster.ts';
import { atEase, atRest, attachMany, detachMany, type Idle } from './attach-idle.ts';
import { attachOptions } from './attach-options.ts';
import {
  type Attaching,
  type Calls,
  type ClientRate,
  startManager,
  startOwn,
} from './attach-programs.ts';
import { type Bench, type Round, runRound } from './attach-rounds.ts';
import { watchBoth } from './attach-sides.ts';
import { type AtRate, showAttaching } from './attach-table.ts';
import { bundle } from './processes.ts';

const options = attachOptions(process.argv.slice(2));

/**
 * Default rate of kube-controller-manager, and a rate above the needs of both. Stowage has no limit
 * by default.
 */
const DEFAULT_RATE: ClientRate = { qps: 20, burst: 30 };
const NO_LIMIT: ClientRate = { qps: 100_000, burst: 100_000 };

const folder = await temporaryDirectory('bench');
// Other controllers of a cluster would only observe these objects.
const controlPlane = await startControlPlane({ controllers: [] });
const running = new Set<Attaching>();
try {
  const { kubeconfig } = controlPlane;
  const { client } = await connect({ kubeconfig });
  const bundled = await bundle('attach-daemon.ts', folder.path);
  const bundledWrites = await bundle('attach-writes.ts', folder.path);
  const { nodes } = options;
  await createNodes(client, nodes);
  const volumes = Math.max(options.pods, options.one, options.attachments);
  const placed = await createVolumes(client, volumes, nodes);
  const watched = await watchBoth(kubeconfig, nodes);
  const bench: Bench = { client, watched, serverPid: controlPlane.apiServerPid() };
  const manager = async (rate: ClientRate) => keep(await startManager(controlPlane, rate));
  const daemon = async (rate: ClientRate, controllers: string, attached: boolean) =>
    keep(
      await startOwn(bundled, folder.path, { kubeconfig, placed, attached, controllers, ...rate }),
    );
  const all = (rate: ClientRate) => daemon(rate, '*', false);
  const writes = async () => keep(await startOwn(bundledWrites, folder.path, { kubeconfig }));

  const throttled = await roundsAt(DEFAULT_RATE, options['throttled-rounds'], all);
  const unthrottled = await roundsAt(NO_LIMIT, options.rounds, all);
  const written = await roundsAt(NO_LIMIT, options.rounds, writes);
  const idle = options.attachments === 0 ? undefined : await atRestBoth();
  showAttaching(options, { throttled, unthrottled, written, idle });
  await watched.stop();

  /** Measures both programs in turns. The other program runs too, and observes the objects. */
  async function roundsAt(
    rate: ClientRate,
    count: number,
    own: (rate: ClientRate) => Promise<Attaching>,
  ): Promise<AtRate | undefined> {
    if (count === 0) return undefined;
    const programs = [await manager(rate), await own(rate)];
    for (const program of programs) await atEase(program);
    const rounds: [Round[], Round[]] = [[], []];
    for (let round = 0; round < count; round++) {
      for (const [at, side] of watched.sides.entries()) {
        const program = programs[at] as Attaching;
        const { pods: burst, one: oneByOne } = options;
        const ran = await Promise.race([
          runRound(bench, side, program, { burst, oneByOne }),
          program.broken,
        ]);
        (rounds[at] as Round[]).push(ran as Round);
      }
    }
    let calls: Calls[] = [];
    for (const program of programs) calls = await end(program);
    return { rounds, calls };
  }

  /** Measures the programs one by one, each alone. */
  async function atRestBoth(): Promise<Record<string, Idle>> {
    const [theirs, ours] = watched.sides;
    const { attachments, rest } = options;
    const found: Record<string, Idle> = {};
    let program = await manager(NO_LIMIT);
    const pods = await attachMany(bench, theirs, attachments);
    found['kube-controller-manager'] = await atRest(program, rest);
    await detachMany(bench, theirs, pods);
    await end(program);
    program = await all(NO_LIMIT);
    await attachMany(bench, ours, attachments);
    found['stowage, all controllers'] = await atRest(program, rest);
    await end(program);
    program = await daemon(NO_LIMIT, 'attachment', true);
    // The daemon first verifies the attachments.
    await atEase(program);
    found['stowage, attachment alone'] = await atRest(program, rest);
    await end(program);
    return found;
  }
} finally {
  // After an error, some programs still run.
  for (const program of running) await program.stop().catch(() => {});
  await controlPlane.stop();
  await folder.remove();
}

function keep(program: Attaching): Attaching {
  running.add(program);
  return program;
}

function end(program: Attaching): Promise<Calls[]> {
  running.delete(program);
  return program.stop();
}
