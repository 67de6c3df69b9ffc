import { readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { execa } from 'execa';
import { PAUSED_ANNOTATION } from '../../src/api/names.ts';
import { VOLUMES } from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import { isNotFound } from '../../src/kube/errors.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { sparseVolume } from './cluster.ts';
import { type HeldJobs, holdJobs } from './held-jobs.ts';
import { type Kinds, setUpKinds } from './kinds.ts';
import { seeded } from './random.ts';
import { removeTraces } from './remove-traces.ts';
import { describeAsRoot } from './root.ts';
import { type Service, startService } from './service.ts';
import { until } from './until.ts';

/** Component that can fail. */
export interface Restartable {
  stop(): Promise<void>;
  /** Waits until the component answers. */
  start(): Promise<void>;
}

/** API server, with this machine as node n1. */
export interface OutageScene {
  client: KubeClient;
  kubeconfig: string;
  /** Flags of `stowage watch`. */
  flags: readonly string[];
  part(name: string): Restartable;
  stop(): Promise<void>;
}

/** Number of Volumes in progress during an outage. */
const COUNT = 4;
/** Minimum duration (ms) of an outage, in addition to the waits within. */
const AWAY = process.env.STOWAGE_FAULTS === undefined ? 0 : 60_000;
/** Number of cases in a short run. */
const SAMPLE = 3;
const SEED = Number(process.env.STOWAGE_FAULTS_SEED ?? Date.now() % 2 ** 32);
/** Includes the retry of a node within a minute after an outage. */
const CONVERGES = 150_000;

const readyOf = ({ status }: Volume) => status?.conditions?.find(({ type }) => type === 'Ready');

/**
 * Declares tests for outages. Without the component `away`, the node is unreachable, and Volumes
 * report `says`.
 * @param parts components to stop, named as in test titles
 */
export function outageCases(
  title: string,
  parts: readonly string[],
  { away, says }: { away: string; says: string },
  start: (kinds: Kinds) => Promise<OutageScene>,
): void {
  jest.setTimeout(400_000);

  describeAsRoot(title, () => {
    let kinds: Kinds;
    let scene: OutageScene;
    let watch: Service;
    const held: HeldJobs[] = [];
    const uids: string[] = [];
    let count = 0;

    beforeAll(async () => {
      kinds = await setUpKinds();
      scene = await start(kinds);
      watch = startService(scene.kubeconfig, scene.flags, kinds.folder);
    }, 700_000);
    afterEach(async () => {
      for (const each of held.splice(0)) await each.stop();
      for (const uid of uids.splice(0)) await removeTraces(uid, `${kinds.folder}/${uid}`);
      expect((await watch.statuses()).filter(({ phase }) => phase === 'Failed')).toEqual([]);
    });
    afterAll(async () => {
      const exit = await watch?.stop();
      await scene?.stop();
      await kinds?.stop();
      expect(exit).toBe(0);
    });

    /** Returns undefined if the API server does not answer. */
    const list = () =>
      scene.client.list<Volume>(VOLUMES).then(
        ({ items }) => items,
        () => undefined,
      );

    /** Creates Volumes. Paused Volumes are not reconciled. */
    async function create(paused = false): Promise<Volume[]> {
      const made: Volume[] = [];
      for (let index = 0; index < COUNT; index++) {
        const volume = sparseVolume(`v${++count}`, 'n1', '16Mi');
        volume.spec.sparseLoopDevice = { size: '16Mi', directory: kinds.folder };
        if (paused) volume.metadata.annotations = { [PAUSED_ANNOTATION]: 'true' };
        made.push(await scene.client.create(VOLUMES, volume));
      }
      uids.push(...made.map(({ metadata }) => metadata.uid ?? ''));
      return made;
    }

    /** Creates Volumes whose jobs have started on the node, and wait. */
    async function createHeld(): Promise<HeldJobs[]> {
      const made = await create(true);
      const jobs: HeldJobs[] = [];
      for (const { metadata } of made) jobs.push(await holdJobs(metadata.uid ?? ''));
      held.push(...jobs);
      const resumed = { metadata: { annotations: { [PAUSED_ANNOTATION]: null } } };
      for (const { metadata } of made) await scene.client.patch(VOLUMES, metadata.name, resumed);
      for (const each of jobs) await each.begun();
      return jobs;
    }

    const available = (howMany = COUNT) =>
      told(`${howMany} are there, and Available`, async () => {
        const all = await list();
        const are = all?.every(
          (each) => each.status?.phase === 'Available' && readyOf(each)?.status === 'True',
        );
        return are && all?.length === howMany ? all : undefined;
      });

    /** Waits. After a timeout, prints the last log lines of the daemon. */
    async function told<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
      try {
        return await until(what, look, CONVERGES);
      } catch (error) {
        process.stderr.write(
          `\n${JSON.stringify(await list())}\nThe daemon:\n${await watch.log()}\n`,
        );
        throw error;
      }
    }

    async function remove(volumes: readonly Volume[]): Promise<void> {
      for (const { metadata } of volumes) {
        await scene.client.delete(VOLUMES, metadata.name).catch((error: unknown) => {
          // The Volume was deleted meanwhile.
          if (!isNotFound(error)) throw error;
        });
      }
    }

    /** Deletes all Volumes and waits until nothing remains of them. */
    async function allGone(): Promise<void> {
      await remove((await list()) ?? []);
      await told('all are gone', async () => ((await list())?.length === 0 ? true : undefined));
      const left = (await readdir(kinds.folder)).filter((name) =>
        uids.includes(name.replace('.partial', '')),
      );
      expect(left).toEqual([]);
      expect((await execa('losetup', ['-l', '-n', '-O', 'BACK-FILE'])).stdout).not.toContain(
        kinds.folder,
      );
    }

    const cases: Record<string, () => Promise<void>> = {};
    for (const what of parts) {
      cases[
        `${what} during provisioning jobs and deletions: no job runs twice, no Volume fails, all converge`
      ] = async () => {
        const leaving = await create();
        await available();
        const jobs = await createHeld();
        await remove(leaving);
        const part = scene.part(what);
        await part.stop();
        // Some jobs end during the outage, the others later.
        const [first, second, ...others] = jobs;
        for (const each of [first, second]) await each?.release();
        for (const each of [first, second]) await each?.ended();
        // A restarted component is down only as long as the restart takes.
        if (!what.includes('restarted')) await sleep(AWAY);
        await part.start();
        for (const each of others) await each.release();
        for (const { status } of await available(jobs.length)) expect(status?.attempt ?? 1).toBe(1);
        expect(jobs.map((each) => each.seen())).toEqual(jobs.map(() => ['prepare-1']));
        await allGone();
      };
    }

    cases[`${away}: Ready is Unknown with the reason, and recovers afterwards`] = async () => {
      await scene.part(away).stop();
      await create();
      const seen = await told('Unknown', async () => {
        const all = (await list())?.map(readyOf);
        const isUnknown = all?.every(
          (ready) => ready?.status === 'Unknown' && ready.reason === 'NodeUnreachable',
        );
        return isUnknown ? all : undefined;
      });
      for (const ready of seen) expect(ready?.message).toContain(says);
      await scene.part(away).start();
      await available();
      await allGone();
    };

    cases['the daemon is killed during jobs, and its successor joins them'] = async () => {
      const jobs = await createHeld();
      const before = watch.starts();
      watch.signal('SIGKILL');
      await told('it is started again', async () => (watch.starts() > before ? true : undefined));
      for (const each of jobs) await each.release();
      await available();
      expect(jobs.map((each) => each.seen())).toEqual(jobs.map(() => ['prepare-1']));
      await allGone();
    };

    test.each(chosen(Object.keys(cases)))('%s', async (name) => cases[name]?.());
  });
}

/** Returns all cases, or a random sample in a short run. */
function chosen(names: string[]): string[] {
  if (process.env.STOWAGE_FAULTS !== undefined) return names;
  console.info(`${SAMPLE} of ${names.length} outages: STOWAGE_FAULTS_SEED=${SEED}`);
  const random = seeded(SEED);
  return Array.from({ length: SAMPLE }, () =>
    names.splice(Math.floor(random() * names.length), 1),
  ).flat();
}
