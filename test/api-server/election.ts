import { afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Lease } from '../../src/api/core.ts';
import type { KubeObject, Resource } from '../../src/api/meta.ts';
import { LEASES } from '../../src/api/resources.ts';
import { connect } from '../../src/kube/connect.ts';
import { type Election, startElection } from '../../src/kube/election.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { memoryLogger } from '../support/logger.ts';
import { until } from '../support/until.ts';
import { cleanUp, type Suite } from './server.ts';

const TIMING = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2000 };

/** Candidates in one process, with a clock that only advances when a test advances it. */
export const election: Suite = (server) => {
  let cluster: { client: KubeClient };
  let clock: FakeClock;
  let elections: Election[];

  beforeAll(async () => {
    cluster = await connect({ kubeconfig: server().kubeconfig });
  });
  beforeEach(() => {
    clock = new FakeClock();
    elections = [];
  });
  afterEach(async () => {
    await Promise.all(elections.map((one) => one.stop()));
  });
  // Must run after the elections have stopped: a leader would create its Lease again.
  cleanUp(server, '/apis/coordination.k8s.io/v1/namespaces/default/leases');

  function stand(identity: string, client = cluster.client) {
    const logger = memoryLogger();
    const election = startElection({
      client,
      namespace: 'default',
      name: 'stowage',
      identity,
      timing: TIMING,
      clock,
      monotonic: () => clock.now(),
      random: () => 0,
      logger,
    });
    elections.push(election);
    return { election, logger };
  }

  const lease = () => cluster.client.get<Lease>(LEASES, 'stowage', { namespace: 'default' });
  const holderIs = (holder: string) =>
    until(`${holder} holds the Lease`, async () =>
      (await lease().catch(() => undefined))?.spec?.holderIdentity === holder ? true : undefined,
    );
  const says = (logger: ReturnType<typeof memoryLogger>, message: string) =>
    until(message, async () => logger.lines.find((line) => line.message === message));
  const renewedAt = async () => (await lease()).spec?.renewTime;

  test('one of two leads, and renews; the other may do nothing, and takes over at once when it is released', async () => {
    const first = stand('first');
    await first.election.won;
    await holderIs('first');
    const second = stand('second');
    await says(second.logger, 'standing by: another process leads');
    expect([first.election.leads(), second.election.leads()]).toEqual([true, false]);
    expect(() => first.election.check()).not.toThrow();
    expect(() => second.election.check()).toThrow('does not hold the Lease default/stowage');
    expect(second.election.lastHeard()).toBe(clock.now());

    const before = await renewedAt();
    await clock.advance(2000);
    await until('Lease renewed', async () => ((await renewedAt()) === before ? undefined : true));
    expect((await lease()).spec?.leaseTransitions).toBe(0);

    first.election.resign();
    expect(() => first.election.check()).toThrow();
    await first.election.stop();
    // The clock does not advance.
    await second.election.won;
    expect((await lease()).spec).toMatchObject({ holderIdentity: 'second', leaseTransitions: 1 });
  });

  /** Wraps a client so that all requests about Leases fail once `state.broken` is set. */
  function failing(real: KubeClient) {
    const state = { broken: false, asked: 0 };
    const ask = <A extends unknown[], R>(method: (...args: A) => Promise<R>) => {
      return async (...args: A): Promise<R> => {
        state.asked += 1;
        if (state.broken) throw new Error('cut off');
        return method(...args);
      };
    };
    const client: KubeClient = {
      ...real,
      get: ask(real.get) as KubeClient['get'],
      create: ask(real.create) as KubeClient['create'],
      patch: ask(real.patch) as KubeClient['patch'],
    };
    return { client, state };
  }

  test('a leader that gets no answer has lost the right at its deadline, to the millisecond, and asks no more', async () => {
    const { client, state } = failing(cluster.client);
    const { election } = stand('first', client);
    await election.won;
    const wonAt = clock.now();
    state.broken = true;
    await clock.advance(9999);
    expect(election.leads()).toBe(true);
    expect(state.asked).toBeGreaterThan(3);
    await clock.advance(1);
    expect(clock.now() - wonAt).toBe(10_000);
    expect(election.leads()).toBe(false);
    expect(() => election.check()).toThrow();
    expect(await election.lost).toMatchObject({
      message: expect.stringContaining('it was not renewed in time'),
      hint: expect.stringContaining('Start it again'),
    });
    const { asked } = state;
    state.broken = false;
    await clock.advance(60_000);
    expect(state.asked).toBe(asked);
    expect(election.leads()).toBe(false);
  });

  test('a leader that finds another in the Lease leads no more', async () => {
    const { election } = stand('first');
    await election.won;
    await cluster.client.patch(
      LEASES,
      'stowage',
      { spec: { holderIdentity: 'usurper' } },
      { namespace: 'default' },
    );
    // The renewal conflicts, and the following read returns the other holder.
    await clock.advance(2000);
    await until('the leader steps down', async () => {
      await clock.advance(1000);
      return election.leads() ? undefined : true;
    });
    expect(await election.lost).toMatchObject({
      message: expect.stringContaining('usurper holds it'),
    });
    expect((await lease()).spec?.holderIdentity).toBe('usurper');
  });

  test('a Lease whose holder is gone is waited out, then taken', async () => {
    const gone: Lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'stowage' },
      // A renewal in the far future, by the clock of another machine.
      spec: {
        holderIdentity: 'gone',
        leaseDurationSeconds: 15,
        renewTime: '2999-01-01T00:00:00.000000Z',
      },
    };
    await cluster.client.create<KubeObject>(LEASES as Resource, gone, { namespace: 'default' });
    const start = clock.now();
    const { election, logger } = stand('second');
    await says(logger, 'standing by: another process leads');
    await until('the second leads', async () => {
      await clock.advance(500);
      return election.leads() ? true : undefined;
    });
    expect(clock.now() - start).toBeGreaterThanOrEqual(15_000);
  });

  test('a Lease that is deleted is made anew by its leader, and nobody takes it meanwhile', async () => {
    const { client, state } = failing(cluster.client);
    const first = stand('first', client);
    await first.election.won;
    await holderIs('first');
    const second = stand('second');
    await says(second.logger, 'standing by: another process leads');
    const { uid } = (await lease()).metadata;
    await cluster.client.delete(LEASES, 'stowage', { namespace: 'default' });
    // The clock does not advance.
    await until('the Lease exists again', async () =>
      (await lease().catch(() => undefined))?.metadata.uid === uid ? undefined : true,
    ).then(() => holderIs('first'));
    expect([first.election.leads(), second.election.leads()]).toEqual([true, false]);

    // A leader that cannot create its Lease again keeps its whole lease time before another takes
    // over.
    state.broken = true;
    const cutOffAt = clock.now();
    await cluster.client.delete(LEASES, 'stowage', { namespace: 'default' });
    await until('the second leads', async () => {
      await clock.advance(500);
      expect(first.election.leads() && second.election.leads()).toBe(false);
      return second.election.leads() ? true : undefined;
    });
    expect(clock.now() - cutOffAt).toBeGreaterThanOrEqual(10_000);
  });

  test('a namespace that is not there is said', async () => {
    const { logger } = stand('first', {
      ...cluster.client,
      create: (resource, object) => cluster.client.create(resource, object, { namespace: 'none' }),
    });
    const line = await says(logger, 'cannot read or write the Lease');
    expect((line.fields.err as Error).message).toContain('namespaces "none" not found');
    const complaints = () => logger.lines.filter(({ fields }) => 'leads' in fields);
    await until('more than two failures are logged', async () => {
      await clock.advance(2000);
      return complaints().length > 2 ? true : undefined;
    });
    expect(complaints().filter(({ level }) => level === 'warn')).toHaveLength(1);
  });

  test('that it may not look at Leases is said, and it goes on trying', async () => {
    const { client, state } = failing(cluster.client);
    state.broken = true;
    const { election, logger } = stand('first', client);
    const line = await says(logger, 'cannot read or write the Lease');
    expect(line).toMatchObject({
      level: 'warn',
      fields: { lease: 'default/stowage', leads: false },
    });
    await until('more than five attempts are made', async () => {
      await clock.advance(2000);
      return state.asked > 5 ? true : undefined;
    });
    const complaints = logger.lines.filter(
      ({ level, fields }) => level === 'warn' && 'leads' in fields,
    );
    expect(complaints).toHaveLength(1);
    state.broken = false;
    await until('the first leads', async () => {
      await clock.advance(2000);
      return election.leads() ? true : undefined;
    });
  });
};
