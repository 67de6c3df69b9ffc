import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { POPULATE_ATTEMPTS_ANNOTATION } from '../../../src/api/names.ts';
import { PERSISTENT_VOLUME_CLAIMS } from '../../../src/api/resources.ts';
import { mortal } from '../../support/mortal.ts';
import {
  NAMESPACE,
  OWN,
  type PopulationCluster,
  startPopulationCluster,
} from '../../support/population-cluster.ts';
import { until } from '../../support/until.ts';
import { type WorkingNodes, workingNodes } from '../../support/working-nodes.ts';

/**
 * The daemon is killed at each effect of populating a claim, or of canceling that, and a new one
 * starts with the same API server. The result is one volume or none, with the right data, and one
 * event of completion.
 */

let cluster: PopulationCluster;
let nodes: WorkingNodes;
let round = 0;

beforeAll(async () => {
  cluster = await startPopulationCluster();
  await cluster.register();
  await cluster.createHello();
  await cluster.createClass('immediate');
});
afterAll(() => cluster.stop());
beforeEach(() => {
  nodes = workingNodes();
  round += 1;
});
afterEach(() => cluster.stopDaemon());

const WRITES = [
  'create persistentvolumeclaims',
  'create pods',
  'patch persistentvolumeclaims',
  'patch persistentvolumes',
  'delete pods',
  'delete persistentvolumeclaims',
];

/** Runs a daemon until it has died, or has finished its work. @returns its effects */
async function dieAt(
  at: number,
  when: 'before' | 'after',
  done: () => Promise<unknown>,
): Promise<string[]> {
  const { client, executor, effects, arm } = mortal(cluster.client, nodes, (what) =>
    WRITES.includes(what),
  );
  const died = arm(at, when);
  await cluster.startDaemon({ client, executor });
  await Promise.race([died, done()]);
  await cluster.stopDaemon();
  return effects;
}

/**
 * Starts a daemon that does not die. Its retries are short: another process's write may make a
 * decision stale.
 */
const liveOn = () => cluster.startDaemon({ executor: nodes, retry: { startMs: 50, maxMs: 500 } });

/** Exceeds the effects of populating a claim: the last cases run without a death. */
const FILLING = 11;
const CASES = Array.from({ length: FILLING }, (_, index) => index + 1).flatMap((at) =>
  (['before', 'after'] as const).map((when) => [when, at] as const),
);

test.each(CASES)(
  'the next daemon populates a claim after a crash %s effect %i',
  async (when, at) => {
    const name = `filled-${round}`;
    await cluster.createClaim(name);
    const effects = await dieAt(at, when, () => cluster.isBound(name).then(cluster.isClean));
    await liveOn();
    const { spec, metadata } = await cluster.isBound(name);
    await cluster.isClean();
    const pvs = await cluster.persistentVolumes();
    expect({ effects, pvs: pvs.length }).toEqual({ effects, pvs: 1 });
    expect(pvs[0]?.spec.claimRef?.uid).toBe(metadata.uid);
    expect(cluster.contents.get(spec.volumeName ?? '')).toEqual({ 'hello.txt': 'Hello, world!' });
    const finished = (await cluster.eventsOf(name)).filter(
      ({ reason }) => reason === 'PopulatorFinished',
    );
    expect(finished.map(({ count }) => count)).toEqual([1]);
    expect(cluster.faults).toEqual([]);

    await cluster.client.delete(PERSISTENT_VOLUME_CLAIMS, name, { namespace: NAMESPACE });
    await cluster.isEmpty();
  },
);

/** Number of effects, including some after everything is gone. */
const CANCELLING = 4;

test.each(CASES.filter(([, at]) => at <= CANCELLING))(
  'the next daemon cancels a deleted claim after a crash %s effect %i of the cancellation',
  async (when, at) => {
    const name = `deleted-${round}`;
    const goOn = cluster.hold();
    try {
      await liveOn();
      await cluster.createClaim(name);
      await cluster.untilPodRuns();
      await cluster.stopDaemon();
      await cluster.client.delete(PERSISTENT_VOLUME_CLAIMS, name, { namespace: NAMESPACE });
      await dieAt(at, when, () => cluster.isClean().then(cluster.isEmpty));
      await liveOn();
      await cluster.isClean();
      await cluster.isEmpty();
      await cluster.gone(PERSISTENT_VOLUME_CLAIMS, name, NAMESPACE);
    } finally {
      goOn();
    }
  },
);

/** `npm run test:faults` has the time for all of them: a failed pod is retried after 10 s. */
const FAILING = (process.env.STOWAGE_FAULTS === undefined ? [4] : [3, 4, 5]).flatMap((at) =>
  (['before', 'after'] as const).map((when) => [when, at] as const),
);

test.each(FAILING)('a failed pod is counted once after a crash %s effect %i', async (when, at) => {
  const name = `failed-${round}`;
  const before = cluster.ran.length;
  const { run } = cluster.world;
  cluster.world.run = (pod) => (cluster.ran.length === before ? { failed: 'no space' } : run(pod));
  try {
    await cluster.createClaim(name);
    const effects = await dieAt(at, when, () => cluster.isBound(name).then(cluster.isClean));
    await liveOn();
    const prime = await until('the failure of the pod is recorded', async () => {
      const [found] = await cluster.all(PERSISTENT_VOLUME_CLAIMS, OWN);
      return found?.metadata.annotations?.[POPULATE_ATTEMPTS_ANNOTATION] === undefined
        ? undefined
        : found;
    });
    expect(
      JSON.parse(prime.metadata.annotations?.[POPULATE_ATTEMPTS_ANNOTATION] ?? ''),
    ).toMatchObject({
      failed: 1,
      message: expect.stringContaining('no space'),
    });
    const { spec } = await cluster.isBound(name);
    await cluster.isClean();
    expect({ effects, ran: cluster.ran.length - before }).toEqual({ effects, ran: 2 });
    expect(cluster.contents.get(spec.volumeName ?? '')).toEqual({ 'hello.txt': 'Hello, world!' });
    await cluster.client.delete(PERSISTENT_VOLUME_CLAIMS, name, { namespace: NAMESPACE });
    await cluster.isEmpty();
  } finally {
    cluster.world.run = run;
  }
});
