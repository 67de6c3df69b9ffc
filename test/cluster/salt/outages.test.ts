import { readdir } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { execa } from 'execa';
import { VOLUMES } from '../../../src/api/resources.ts';
import type { Volume } from '../../../src/api/volume.ts';
import { listAll } from '../../../src/kube/client.ts';
import { startCluster, type TestCluster } from '../../support/cluster.ts';
import { type Kinds, setUpKinds } from '../../support/kinds.ts';
import { removeTraces } from '../../support/remove-traces.ts';
import { describeAsRoot } from '../../support/root.ts';
import { until } from '../../support/until.ts';
import { allowedFor, flagsFor, type Salt, startSalt } from './salt.ts';

jest.setTimeout(300_000);

const STOWAGE = 'bin/stowage';
/** Volumes that are on their way when something goes. */
const COUNT = 4;
/** After an outage a node is tried again within a minute. */
const CONVERGES = 150_000;

const startWatch = (flags: readonly string[], kubeconfig: string) =>
  execa(STOWAGE, ['watch', '--retry-interval-max', '5s', ...flags], {
    env: { KUBECONFIG: kubeconfig },
    reject: false,
  });

describeAsRoot('Volumes over Salt while parts of it are away', () => {
  let cluster: TestCluster;
  let kinds: Kinds;
  let salt: Salt;
  let watch: ReturnType<typeof startWatch>;
  const uids = new Set<string>();
  let round = 0;

  beforeAll(async () => {
    kinds = await setUpKinds();
    salt = await startSalt({ minions: ['n1'], allowed: allowedFor(kinds.folder) });
    cluster = await startCluster();
    watch = startWatch(flagsFor(salt), cluster.kubeconfig);
  });
  afterEach(async () => {
    for (const uid of uids) await removeTraces(uid, `${kinds.folder}/${uid}`);
    uids.clear();
  });
  afterAll(async () => {
    watch?.kill('SIGTERM');
    await watch;
    await cluster?.stop();
    await salt?.stop();
    await kinds?.stop();
  });

  const stowage = (...args: string[]) =>
    execa(STOWAGE, args, { env: { KUBECONFIG: cluster.kubeconfig }, reject: false });
  const volumes = async () => (await listAll<Volume>(cluster.client, VOLUMES, {})).items;
  const phases = async () => (await volumes()).map(({ status }) => status?.phase);
  /** The jobs that a node was given for a Volume. */
  const jobsOf = (uid: string) =>
    readdir(`/run/stowage/jobs/${uid}`).then(
      (names) => names.filter((name) => name !== 'lock').sort(),
      () => [],
    );

  async function create(): Promise<string[]> {
    round++;
    const names = Array.from({ length: COUNT }, (_, index) => `v${round}-${index}`);
    for (const name of names) {
      const flags = [
        '--node',
        'n1',
        '--storage-class',
        'local',
        '--size',
        '16Mi',
        '--directory',
        kinds.folder,
      ];
      expect((await stowage('create', 'volume', name, ...flags)).exitCode).toBe(0);
    }
    for (const { metadata } of await volumes()) uids.add(metadata.uid ?? '');
    return names;
  }

  /** Watches that no Volume is ever Failed until all are as `look` wants them. */
  async function settles(what: string, look: () => Promise<boolean>): Promise<void> {
    await until(what, CONVERGES, async () => {
      expect(await phases()).not.toContain('Failed');
      return (await look()) ? true : undefined;
    });
  }
  const allAvailable = () =>
    settles('all are Available', async () => (await phases()).every((phase) => phase === 'Available'));

  async function deleted(names: readonly string[]): Promise<void> {
    await stowage('delete', 'volume', ...names);
    await settles('all are gone', async () => (await volumes()).length === 0);
    const left = (await readdir(kinds.folder)).filter((name) => uids.has(name.replace(/\.partial$/, '')));
    expect(left).toEqual([]);
    expect((await execa('losetup', ['-l', '-n', '-O', 'BACK-FILE'])).stdout).not.toContain(kinds.folder);
  }

  async function oneJobEach(): Promise<void> {
    for (const uid of uids) expect(await jobsOf(uid)).toEqual([expect.stringMatching(/^prepare/)]);
  }

  const parts: [string, () => { stop(): Promise<void>; start(): Promise<void> }][] = [
    ['salt-api is restarted', () => salt.api],
    ['the salt-master is down for a while', () => salt.master],
    ['the minion is restarted', () => salt.minion('n1')],
  ];
  test.each(parts)(
    '%s while Volumes are made: no job twice, none Failed, all Available',
    async (_what, part) => {
      const names = await create();
      await part().stop();
      await until('it is noticed', 60_000, async () => {
        const seen = (await volumes()).map(({ status }) =>
          status?.conditions?.find(({ type }) => type === 'Ready'),
        );
        const over = (await phases()).every((phase) => phase === 'Available');
        return over || seen.some((ready) => ready?.reason === 'NodeUnreachable') ? true : undefined;
      });
      expect(await phases()).not.toContain('Failed');
      await part().start();
      await allAvailable();
      await oneJobEach();
      await deleted(names);
    },
  );

  test.each(parts)(
    '%s while Volumes are deleted: all are gone, with all that was theirs',
    async (_what, part) => {
      const names = await create();
      await allAvailable();
      const deleting = stowage('delete', 'volume', ...names);
      await part().stop();
      await deleting;
      await part().start();
      await deleted(names);
    },
  );

  test('a minion that is away: Ready is Unknown with the reason, and recovers by itself', async () => {
    await salt.minion('n1').stop();
    const names = await create();
    await until('Unknown', 60_000, async () => {
      const all = (await volumes()).map(({ status }) =>
        status?.conditions?.find(({ type }) => type === 'Ready'),
      );
      return all.every(
        ({ status, reason } = { type: 'Ready', status: 'False' } as never) =>
          status === 'Unknown' && reason === 'NodeUnreachable',
      )
        ? true
        : undefined;
    });
    const [volume] = await volumes();
    expect(volume?.status?.conditions?.[0]?.message).toContain('minion n1 does not answer');
    await salt.minion('n1').start();
    await allAvailable();
    await oneJobEach();
    await deleted(names);
  });

  test('the daemon is killed while jobs run, and the next one joins them', async () => {
    const names = await create();
    watch.kill('SIGKILL');
    await watch;
    watch = startWatch([...flagsFor(salt), '--leader-election=false'], cluster.kubeconfig);
    await allAvailable();
    for (const uid of uids) expect((await jobsOf(uid)).length).toBe(1);
    await deleted(names);
  });
});
