import { readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { execa } from 'execa';
import { PAUSED_ANNOTATION } from '../../../src/api/names.ts';
import { VOLUMES } from '../../../src/api/resources.ts';
import type { Volume } from '../../../src/api/volume.ts';
import type { Informer } from '../../../src/kube/informer.ts';
import { sparseVolume, startCluster, type TestCluster } from '../../support/cluster.ts';
import { type CuttableProxy, startCuttableProxy } from '../../support/cuttable-proxy.ts';
import { followVolumes } from '../../support/follow-volumes.ts';
import { type Kinds, setUpKinds } from '../../support/kinds.ts';
import { removeTraces } from '../../support/remove-traces.ts';
import { describeAsRoot } from '../../support/root.ts';
import { until } from '../../support/until.ts';
import { type HeldJobs, holdJobs } from './held-jobs.ts';
import { allowedFor, flagsFor, type Restartable, type Salt, startSalt } from './salt.ts';

jest.setTimeout(400_000);

const STOWAGE = 'bin/stowage';
/** Volumes that are on their way when something goes. */
const COUNT = 4;
/** How long it stays away at least, in ms, beside what is waited for meanwhile. */
const AWAY = process.env.STOWAGE_FAULTS === undefined ? 0 : 60_000;
/** After an outage a node is tried again within a minute. */
const CONVERGES = 150_000;

const startWatch = (flags: readonly string[], kubeconfig: string) =>
  execa(STOWAGE, ['watch', ...flags], { env: { KUBECONFIG: kubeconfig }, reject: false });

describeAsRoot('Volumes over Salt while parts of it are away', () => {
  let cluster: TestCluster;
  let kinds: Kinds;
  let salt: Salt;
  let proxy: CuttableProxy;
  let flags: string[];
  let watch: ReturnType<typeof startWatch>;
  let volumes: Informer<Volume>;
  /** What should never be. */
  const failed: string[] = [];
  const held: HeldJobs[] = [];
  const uids: string[] = [];
  let count = 0;

  beforeAll(async () => {
    kinds = await setUpKinds();
    salt = await startSalt({ minions: ['n1'], allowed: allowedFor(kinds.folder) });
    proxy = await startCuttableProxy(Number(new URL(salt.access.url).port));
    flags = flagsFor({ access: { ...salt.access, url: `https://127.0.0.1:${proxy.port}` } });
    cluster = await startCluster();
    volumes = await followVolumes(cluster.client, ({ metadata, status }) => {
      if (status?.phase === 'Failed') failed.push(`${metadata.name}: ${JSON.stringify(status)}`);
    });
    watch = startWatch(flags, cluster.kubeconfig);
  });
  afterEach(async () => {
    for (const each of held.splice(0)) await each.stop();
    for (const uid of uids.splice(0)) await removeTraces(uid, `${kinds.folder}/${uid}`);
    expect(failed.splice(0)).toEqual([]);
  });
  afterAll(async () => {
    watch?.kill('SIGTERM');
    await watch;
    await volumes?.stop();
    await cluster?.stop();
    await proxy?.stop();
    await salt?.stop();
    await kinds?.stop();
  });

  const readyOf = ({ status }: Volume) => status?.conditions?.find(({ type }) => type === 'Ready');

  /** New Volumes; nothing is done for one that is paused. */
  async function create(paused = false): Promise<Volume[]> {
    const made: Volume[] = [];
    for (let index = 0; index < COUNT; index++) {
      const volume = sparseVolume(`v${++count}`, 'n1', '16Mi');
      volume.spec.sparseLoopDevice = { size: '16Mi', directory: kinds.folder };
      if (paused) volume.metadata.annotations = { [PAUSED_ANNOTATION]: 'true' };
      made.push(await cluster.client.create(VOLUMES, volume));
    }
    uids.push(...made.map(({ metadata }) => metadata.uid ?? ''));
    return made;
  }

  /** Volumes each of which has a job on the node that has begun, and waits. */
  async function createHeld(): Promise<{ names: string[]; jobs: HeldJobs[] }> {
    const made = await create(true);
    const jobs: HeldJobs[] = [];
    for (const { metadata } of made) jobs.push(await holdJobs(metadata.uid ?? ''));
    held.push(...jobs);
    const names = made.map(({ metadata }) => metadata.name);
    const resumed = { metadata: { annotations: { [PAUSED_ANNOTATION]: null } } };
    for (const name of names) await cluster.client.patch(VOLUMES, name, resumed);
    for (const each of jobs) await each.begun();
    return { names, jobs };
  }

  const available = () =>
    until('all are Available', CONVERGES, async () => {
      const all = volumes.list();
      return all.every((each) => each.status?.phase === 'Available' && readyOf(each)?.status === 'True')
        ? all
        : undefined;
    });

  async function gone(names: readonly string[]): Promise<void> {
    for (const name of names) await cluster.client.delete(VOLUMES, name);
    await allGone();
  }

  async function allGone(): Promise<void> {
    await until('all are gone', CONVERGES, async () => (volumes.list().length === 0 ? true : undefined));
    const left = (await readdir(kinds.folder)).filter((name) => uids.includes(name.replace('.partial', '')));
    expect(left).toEqual([]);
    expect((await execa('losetup', ['-l', '-n', '-O', 'BACK-FILE'])).stdout).not.toContain(kinds.folder);
  }

  const cut: Restartable = {
    async stop() {
      proxy.cut();
    },
    async start() {
      proxy.mend();
    },
  };
  const outages: [string, () => Restartable][] = [
    ['salt-api is restarted', () => salt.api],
    ['the salt-master is down', () => salt.master],
    ['the minion is down', () => salt.minion('n1')],
    ['the network is cut', () => cut],
  ];

  test.each(outages)(
    '%s inside jobs that make Volumes: they go on, none runs twice, none is Failed, all are Available',
    async (what, part) => {
      const { names, jobs } = await createHeld();
      await part().stop();
      // Some end meanwhile, the others later.
      const [first, second, ...others] = jobs;
      for (const each of [first, second]) await each?.release();
      for (const each of [first, second]) await each?.ended();
      if (!what.includes('restarted')) await sleep(AWAY);
      await part().start();
      for (const each of others) await each.release();
      for (const { status } of await available()) expect(status?.attempt ?? 1).toBe(1);
      expect(jobs.map((each) => each.seen())).toEqual(jobs.map(() => ['prepare-1']));
      await gone(names);
    },
  );

  test.each(outages)(
    '%s while Volumes are deleted: all are gone, with all that was theirs',
    async (what, part) => {
      const made = await create();
      await available();
      for (const { metadata } of made) await cluster.client.delete(VOLUMES, metadata.name);
      await part().stop();
      if (!what.includes('restarted')) await sleep(AWAY);
      await part().start();
      await allGone();
    },
  );

  test('a minion that is away: Ready is Unknown with the reason, and recovers by itself', async () => {
    await salt.minion('n1').stop();
    const made = await create();
    const [seen] = await until('Unknown', 90_000, async () => {
      const all = volumes.list().map(readyOf);
      const unknown = all.every((ready) => ready?.status === 'Unknown' && ready.reason === 'NodeUnreachable');
      return all.length === COUNT && unknown ? all : undefined;
    });
    expect(seen?.message).toContain('minion n1 does not answer');
    await salt.minion('n1').start();
    await available();
    await gone(made.map(({ metadata }) => metadata.name));
  });

  test('the daemon is killed inside jobs, and the next one joins them', async () => {
    const { names, jobs } = await createHeld();
    watch.kill('SIGKILL');
    await watch;
    watch = startWatch([...flags, '--leader-election=false'], cluster.kubeconfig);
    for (const each of jobs) await each.release();
    await available();
    expect(jobs.map((each) => each.seen())).toEqual(jobs.map(() => ['prepare-1']));
    await gone(names);
  });
});
