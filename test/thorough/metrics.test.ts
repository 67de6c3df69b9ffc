import { statfsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { VOLUME_API_VERSION } from '../../src/api/names.ts';
import { LEFTOVERS, STORAGE_CLASSES, VOLUMES } from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import type { Informer } from '../../src/kube/informer.ts';
import { startCluster, type TestCluster } from '../support/cluster.ts';
import { type Disk, makeDisk } from '../support/disks.ts';
import { type DocumentedSeries, documentedSeries } from '../support/documented-series.ts';
import { readSamples, type Sample, seriesValue } from '../support/exposition.ts';
import { followVolumes } from '../support/follow-volumes.ts';
import { expectDone, sumOf } from '../support/metric-sums.ts';
import { checkMetrics } from '../support/promtool.ts';
import { removeTraces } from '../support/remove-traces.ts';
import { describeAsRoot } from '../support/root.ts';
import { type Scraper, startScraper } from '../support/scraper.ts';
import { type Sshd, startSshd } from '../support/sshd.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { ensureUdev } from '../support/udev.ts';
import { until } from '../support/until.ts';

/**
 * Duration (ms) of creating and deleting Volumes, which `npm run test:faults` extends, and time
 * (ms) between scrapes.
 */
const BUSY = process.env.STOWAGE_FAULTS === undefined ? 20_000 : 60_000;
const BETWEEN_SCRAPES = 500;
const MI = 1 << 20;
const PHASES = ['Pending', 'Available', 'Failed', 'Terminating', 'Unknown'];

describeAsRoot('the metrics of a busy daemon', () => {
  let stopUdev: () => Promise<void>;
  let cluster: TestCluster;
  let folder: { path: string; remove(): Promise<void> };
  let sshd: Sshd;
  let disk: Disk;
  let volumes: Informer<Volume>;
  let told: DocumentedSeries[];
  let watch: ReturnType<typeof startWatch> | undefined;
  let scraper: Scraper | undefined;
  const uids: string[] = [];

  beforeAll(async () => {
    stopUdev = await ensureUdev();
    cluster = await startCluster({ nodes: ['n1', 'n2'] });
    folder = await temporaryDirectory('metrics');
    sshd = await startSshd({ nodes: ['n1', 'n2', 'away'] });
    disk = await makeDisk(folder.path, 'carries-something', 16n << 20n);
    await execa('mkfs.ext4', ['-q', disk.path]);
    volumes = await followVolumes(cluster.client, ({ metadata: { uid = '' } }) => uids.push(uid));
    // This test has no claims, populators or snapshots.
    told = (await documentedSeries()).filter(
      ({ name }) => !/^stowage_(claim|snapshot|populated)/.test(name),
    );
    // mkfs.ext4 accepts the option, but refuses its value.
    await cluster.client.create(STORAGE_CLASSES, {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'failing' },
      provisioner: 'kubernetes.io/no-provisioner',
      parameters: { fsType: 'ext4', mkfsOptions: '["-i", "1"]' },
      volumeBindingMode: 'WaitForFirstConsumer',
    });
  });

  afterAll(async () => {
    await scraper?.stop();
    watch?.kill('SIGTERM');
    await watch;
    await volumes?.stop();
    await cluster?.stop();
    await sshd?.stop();
    for (const uid of new Set(uids)) await removeTraces(uid, join(folder.path, uid));
    await disk?.remove();
    await stopUdev?.();
    await folder?.remove();
  });

  function startWatch(config: string) {
    const flags = [
      '--ssh-config',
      sshd.configFile,
      '--config',
      config,
      '--http-endpoint',
      '127.0.0.1:0',
    ];
    return execa('bin/stowage', ['watch', ...flags], {
      env: { KUBECONFIG: cluster.kubeconfig },
      reject: false,
      forceKillAfterDelay: false,
    });
  }

  /** Starts the daemon. @returns the URL of its metrics */
  async function startedWatch(): Promise<string> {
    const config = join(folder.path, 'config.yaml');
    await writeFile(config, 'nodes: {away: {port: 1}}\n');
    watch = startWatch(config);
    let log = '';
    watch.stderr?.on('data', (chunk) => {
      log += chunk;
    });
    return until('the daemon serves HTTP', async () => {
      const port = /"port":(\d+),"metricsPath"/.exec(log)?.[1];
      return port === undefined ? undefined : `http://127.0.0.1:${port}/metrics`;
    });
  }

  const sparse = (size: string) => ({ sparseLoopDevice: { size, directory: folder.path } });
  const create = (name: string, nodeName: string, spec: Partial<Volume['spec']> = sparse('16Mi')) =>
    cluster.client.create<Volume>(VOLUMES, {
      apiVersion: VOLUME_API_VERSION,
      kind: 'Volume',
      metadata: { name },
      spec: { nodeName, storageClassName: 'local', onDelete: 'Delete', ...spec },
    });
  const remove = async (names: readonly string[]) => {
    await Promise.all(names.map((name) => cluster.client.delete(VOLUMES, name)));
    await have('gone', names, (volume) => volume === undefined);
  };
  const have = (
    what: string,
    names: readonly string[],
    are: (volume: Volume | undefined) => boolean,
  ) =>
    until(`${names} ${what}`, async () =>
      names.every((name) => are(volumes.get(name))) ? true : undefined,
    );
  const haveIn = (phase: string, names: readonly string[]) =>
    have(phase, names, (volume) => volume?.status?.phase === phase);

  test('report all operations, and no series of deleted Volumes', async () => {
    const started = Date.now();
    scraper = startScraper(await startedWatch(), told, BETWEEN_SCRAPES);
    const { shows, scrape } = scraper;
    const phases = (counts: Record<string, number>) =>
      shows(
        'stowage_volumes',
        PHASES.map((phase) => ({ phase, value: counts[phase] ?? 0 })),
      );
    const sizes = (places: Record<string, number>) =>
      shows(
        'stowage_volumes_size_bytes',
        Object.entries(places).map(([node, mi]) => ({
          node,
          directory: folder.path,
          value: mi * MI,
        })),
      );

    await create('kept', 'n2');
    await create('unreached', 'away');
    await haveIn('Available', ['kept']);
    let rounds = 0;
    while (rounds === 0 || Date.now() - started < BUSY) {
      rounds += 1;
      const made = ['a', 'b', 'c', 'd'].map((letter) => `made-${letter}-${rounds}`);
      const bad = [`failing-${rounds}`, `refused-${rounds}`];
      await Promise.all([
        ...made.map((name, index) => create(name, index % 2 === 0 ? 'n1' : 'n2')),
        create(`failing-${rounds}`, 'n1', { ...sparse('16Mi'), storageClassName: 'failing' }),
        create(`refused-${rounds}`, 'n2', { rawBlockDevice: { devicePath: disk.path } }),
      ]);
      await haveIn('Available', made);
      await haveIn('Failed', bad);
      await phases({ Pending: 1, Available: 5, Failed: 2 });
      const grown = made.slice(0, 2);
      const larger = { spec: { sparseLoopDevice: { size: '24Mi' } } };
      await Promise.all(grown.map((name) => cluster.client.patch(VOLUMES, name, larger)));
      await have('grown', grown, (volume) => volume?.status?.capacity === '24Mi');
      await sizes({ n1: 24 + 16, n2: 24 + 16 + 16 });
      await remove([...made, ...bad]);
    }
    const busy = await sizes({ n2: 16 });
    process.stderr.write(
      `metrics.test.ts: ${scraper.bodies.length} scrapes in ${(Date.now() - started) / 1000} s, ${rounds} times 4 Volumes made, 2 grown, 1 failed, 1 refused, all deleted\n`,
    );
    const named = new Set(busy.map(({ name }) => name));
    expect(told.filter(({ name }) => !named.has(name) && !named.has(`${name}_count`))).toEqual([]);
    expectPlausible(busy);

    await remove(['kept']);
    // Its node stays unreachable, and a Leftover records the storage that may exist there.
    await execa(
      'bin/stowage',
      ['delete', 'volume', 'unreached', '--forget-node', '--yes', '--wait'],
      {
        env: { KUBECONFIG: cluster.kubeconfig },
      },
    );
    const leftover = await until(
      'a Leftover exists',
      async () => (await cluster.client.list(LEFTOVERS)).items[0],
    );
    await until('the Leftover is reconciled', async () =>
      sumOf(await scrape(), 'stowage_reconciles_total', { controller: 'leftover' }) > 0
        ? true
        : undefined,
    );
    await cluster.client.delete(LEFTOVERS, leftover.metadata.name);

    await phases({});
    await sizes({});
    for (const name of ['stowage_directory_allocated_bytes', 'stowage_directory_free_bytes']) {
      await shows(name, []);
    }
    const controllers = ['volume', 'leftover', 'attachment', 'claim', 'capacity', 'populator'];
    const idle = controllers.map((controller) => ({ controller, value: 0 }));
    await shows('stowage_queue_depth', idle);
    const rest = await shows('stowage_queue_oldest_age_seconds', idle);
    await scraper.stop();
    expectDone(rest, { made: 4 * rounds + 1, failed: rounds, grown: 2 * rounds });
    expect(scraper.faults).toEqual([]);
    expect(checkMetrics(scraper.bodies.at(-1) ?? '')).toEqual({ status: 0, said: '' });

    const all = scraper.bodies.flatMap(readSamples);
    const most = (wanted: string) =>
      all.reduce((max, { name, value }) => (name === wanted ? Math.max(max, value) : max), 0);
    // No age exceeds the daemon's, however busy the machine was.
    const elapsed = (Date.now() - started) / 1000;
    expect(most('stowage_queue_oldest_age_seconds')).toBeLessThan(elapsed);
    expect(most('stowage_informer_age_seconds')).toBeLessThan(elapsed);
    const texts = new Set(all.flatMap(({ labels }) => Object.values(labels)));
    const ofOneVolume = [...uids, 'kept', 'unreached', 'made-', 'failing-', 'refused-'];
    expect([...texts].filter((text) => ofOneVolume.some((part) => text.includes(part)))).toEqual(
      [],
    );
  });

  /** Expects plausible values while a Volume of 16 MiB exists on n2. */
  function expectPlausible(samples: Sample[]): void {
    const place = { node: 'n2', directory: folder.path };
    const allocated = seriesValue(samples, 'stowage_directory_allocated_bytes', place);
    expect(allocated).toBeGreaterThan(0);
    expect(allocated).toBeLessThanOrEqual(16 * MI);
    const { bavail, blocks, bsize } = statfsSync(folder.path);
    const free = seriesValue(samples, 'stowage_directory_free_bytes', place) ?? 0;
    expect(Math.abs(free - bavail * bsize)).toBeLessThan((blocks * bsize) / 10);
  }
});
