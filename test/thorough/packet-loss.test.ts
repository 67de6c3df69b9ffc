import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { VOLUME_API_VERSION } from '../../src/api/names.ts';
import { VOLUMES } from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import type { Informer } from '../../src/kube/informer.ts';
import { startCluster, type TestCluster } from '../support/cluster.ts';
import { type Disk, makeDisk } from '../support/disks.ts';
import { followVolumes } from '../support/follow-volumes.ts';
import { type Expected, leftovers } from '../support/leftovers.ts';
import { removeTraces } from '../support/remove-traces.ts';
import { describeAsRoot } from '../support/root.ts';
import { type Sshd, startSshd } from '../support/sshd.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { createTestNetwork, type TestNetwork } from '../support/test-network.ts';
import { ensureUdev } from '../support/udev.ts';
import { until } from '../support/until.ts';

const NODES = Array.from({ length: 20 }, (_, index) => `n${index}`);
const HEALTHY = NODES.slice(0, 10);
const AWAY = NODES.slice(10);
/** Number of Volumes of each node that are provisioned concurrently. */
const AT_ONCE = 2;
/**
 * Number of disks, one for each Volume. Stowage allots loop devices by node, but all nodes of this
 * machine share one set.
 */
const DISKS = (1 + AT_ONCE) * NODES.length + AT_ONCE * HEALTHY.length;

/** Durations in ms. */
interface Took {
  median: number;
  slowest: number;
}

describeAsRoot('packet loss on half of 20 nodes', () => {
  let stopUdev: () => Promise<void>;
  let cluster: TestCluster;
  let folder: { path: string; remove(): Promise<void> };
  let network: TestNetwork;
  let sshd: Sshd;
  let volumes: Informer<Volume>;
  let watch: ReturnType<typeof startWatch> | undefined;
  /** Time of each Volume's first availability by name, in ms since the epoch. */
  const availableAt = new Map<string, number>();
  const failed: string[] = [];
  const uids: string[] = [];
  const disks: Disk[] = [];
  /** Disks without a Volume. */
  let unused: Disk[] = [];

  beforeAll(async () => {
    stopUdev = await ensureUdev();
    cluster = await startCluster({ nodes: NODES });
    folder = await temporaryDirectory('packet-loss');
    network = await createTestNetwork(NODES);
    sshd = await startSshd({ nodes: NODES, under: network.nodes, addresses: network.addresses });
    const ssh = join(folder.path, 'ssh');
    await writeFile(ssh, `#!/bin/sh\nexec ${network.client.join(' ')} /usr/bin/ssh "$@"\n`);
    await chmod(ssh, 0o755);
    for (let n = 0; n < DISKS; n++)
      disks.push(await makeDisk(folder.path, `disk-${n}`, 16n << 20n));
    volumes = await followVolumes(cluster.client, ({ metadata: { name }, status }) => {
      if (status?.phase === 'Available' && !availableAt.has(name))
        availableAt.set(name, Date.now());
      if (status?.phase === 'Failed') failed.push(name);
    });
  });

  beforeEach(async () => {
    // A deleted Volume leaves data, which no Volume may overwrite without consent.
    for (const { path } of disks) await execa('blkdiscard', [path]);
    unused = [...disks];
  });

  afterEach(stopWatch);

  afterAll(async () => {
    await volumes?.stop();
    await cluster?.stop();
    await sshd?.stop();
    await network?.remove();
    for (const uid of uids) await removeTraces(uid);
    for (const disk of disks) await disk.remove();
    await stopUdev?.();
    await folder?.remove();
  });

  /** Starts the built daemon, whose ssh is the real one in the client's network. */
  const startWatch = () =>
    execa('bin/stowage', ['watch', '--ssh-config', sshd.configFile, '--leader-election=false'], {
      env: { KUBECONFIG: cluster.kubeconfig, PATH: `${folder.path}:${process.env.PATH}` },
      reject: false,
      forceKillAfterDelay: false,
    });

  async function stopWatch(): Promise<void> {
    watch?.kill('SIGTERM');
    const ended = await watch;
    watch = undefined;
    if (ended !== undefined) expect(ended.exitCode).toBe(0);
  }

  /** Creates that many Volumes on each node concurrently. @returns their names */
  async function create(
    batch: string,
    nodes: readonly string[],
    perNode: number,
  ): Promise<string[]> {
    const names = nodes.flatMap((node) =>
      Array.from({ length: perNode }, (_, n) => [`${batch}-${node}-${n}`, node]),
    );
    return Promise.all(
      names.map(async ([name = '', nodeName = '']) => {
        const rawBlockDevice = { devicePath: unused.shift()?.path ?? '' };
        const { metadata } = await cluster.client.create<Volume>(VOLUMES, {
          apiVersion: VOLUME_API_VERSION,
          kind: 'Volume',
          metadata: { name },
          spec: { nodeName, storageClassName: 'local', onDelete: 'Delete', rawBlockDevice },
        });
        uids.push(metadata.uid ?? '');
        return name;
      }),
    );
  }

  async function allAvailable(names: readonly string[]): Promise<void> {
    const others = () => names.filter((name) => !availableAt.has(name));
    try {
      await until('Volumes are Available', async () => (others().length === 0 ? true : undefined));
    } catch (cause) {
      const seen = others().map((name) => `${name}: ${JSON.stringify(volumes.get(name)?.status)}`);
      throw new Error(`${seen.length} of ${names.length} are not Available: ${seen.slice(0, 3)}`, {
        cause,
      });
    }
  }

  /** Returns the median and the maximum time (ms) from `since` until each was Available. */
  async function measure(names: readonly string[], since: number): Promise<Took> {
    await allAvailable(names);
    const took = names.map((name) => (availableAt.get(name) ?? 0) - since).sort((a, b) => a - b);
    return { median: took[Math.floor(took.length / 2)] ?? 0, slowest: took.at(-1) ?? 0 };
  }

  const readyOf = (name: string) =>
    volumes.get(name)?.status?.conditions?.find((condition) => condition.type === 'Ready');

  const allUnreachable = (names: readonly string[]) =>
    until('all Volumes report NodeUnreachable', async () =>
      names.every((name) => {
        const ready = readyOf(name);
        return ready?.status === 'Unknown' && ready.reason === 'NodeUnreachable';
      })
        ? true
        : undefined,
    );

  /** Returns faults of this test's Volumes: other tests may have left something on the machine. */
  const faultsOfOurs = async (expected: Expected[]) =>
    (await leftovers({ expected, uids, client: cluster.client })).filter((fault) =>
      uids.some((uid) => fault.includes(uid)),
    );

  async function expectWholeAndDelete(): Promise<void> {
    const there = volumes.list().map(({ metadata }) => metadata);
    expect(await faultsOfOurs(there.map(({ uid = '' }) => ({ uid, loop: false })))).toEqual([]);
    await Promise.all(there.map(({ name }) => cluster.client.delete(VOLUMES, name)));
    await until('Volumes are gone', async () => (volumes.list().length === 0 ? true : undefined));
    expect(await faultsOfOurs([])).toEqual([]);
  }

  /**
   * Expects that Volumes of unreachable nodes are provisioned once packets pass again, and that no
   * Volume failed.
   */
  async function expectBackAndDelete(waiting: readonly string[]): Promise<void> {
    await network.pass(AWAY);
    const since = Date.now();
    const back = await measure(waiting, since);
    process.stderr.write(
      `packet-loss.test.ts: all were Available ${back.slowest} ms after packets flowed again\n`,
    );
    expect(failed).toEqual([]);
    await expectWholeAndDelete();
  }

  function expectUsual(among: Took, usual: Took): void {
    process.stderr.write(
      `packet-loss.test.ts: ${HEALTHY.length * AT_ONCE} Volumes of nodes that answer took ${among.median} ms, the slowest ${among.slowest} ms, usually ${usual.median} and ${usual.slowest} ms\n`,
    );
    expect(among.median).toBeLessThan(2 * usual.median);
    expect(among.slowest).toBeLessThan(2 * usual.slowest);
  }

  /**
   * Each case takes three minutes, mostly waiting: only `npm run test:faults` has the time for
   * both.
   */
  const inFaults = process.env.STOWAGE_FAULTS === undefined ? undefined : test;

  inFaults?.(
    'before the daemon starts',
    async () => {
      const first = await create('usual', HEALTHY, AT_ONCE);
      const made = await create('made', AWAY, 1);
      let since = Date.now();
      watch = startWatch();
      const usual = await measure(first, since);
      await allAvailable(made);
      await stopWatch();

      await network.drop(AWAY);
      const waiting = await create('waiting', AWAY, AT_ONCE);
      const second = await create('among', HEALTHY, AT_ONCE);
      since = Date.now();
      watch = startWatch();
      const among = await measure(second, since);
      expect(waiting.filter((name) => availableAt.has(name))).toEqual([]);
      expectUsual(among, usual);
      await allUnreachable([...waiting, ...made]);
      expect(made.map((name) => volumes.get(name)?.status?.phase)).toEqual(
        made.map(() => 'Available'),
      );
      await expectBackAndDelete(waiting);
    },
    240_000,
  );

  test('healthy nodes are not delayed if connections were open', async () => {
    watch = startWatch();
    await allAvailable(await create('open', NODES, 1));
    let since = Date.now();
    const usual = await measure(await create('alike', HEALTHY, AT_ONCE), since);

    await network.drop(AWAY);
    const waiting = await create('silent', AWAY, AT_ONCE);
    since = Date.now();
    const among = await measure(await create('within', HEALTHY, AT_ONCE), since);
    expect(waiting.filter((name) => availableAt.has(name))).toEqual([]);
    expectUsual(among, usual);
    await allUnreachable(waiting);
    await expectBackAndDelete(waiting);
  }, 240_000);
});
