import { afterEach, describe, expect, test } from '@jest/globals';
import type { Lease } from '../../src/api/core.ts';
import { type Election, startElection } from '../../src/kube/election.ts';
import { ApiError } from '../../src/kube/errors.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { FakeClock, until } from '../support/fake-clock.ts';
import { memoryLogger } from '../support/logger.ts';
import { refusal } from '../support/refusals.ts';

const TIMING = { leaseDurationMs: 4000, renewDeadlineMs: 3000, retryPeriodMs: 300 };

type WriteOptions = { check?: () => void };

const elections: Election[] = [];
afterEach(async () => {
  for (const election of elections.splice(0)) await election.stop();
});

/**
 * Starts an election for a Lease that is free by default. Time only advances when the test advances
 * it.
 * @param answerMs response time of the API server to a write
 * @param there initial Lease
 * @param refusedUntil time (ms) until which the account has no access
 */
function stand({
  answerMs = 0,
  there,
  refusedUntil = 0,
}: {
  answerMs?: number;
  there?: Lease;
  refusedUntil?: number;
} = {}) {
  const time = { ms: 0, beforeSend: 0 };
  const clock = new FakeClock();
  let lease: Lease | undefined = there;
  const written: Partial<Lease>[] = [];
  let reads = 0;
  const write = async (changed: Partial<Lease>, { check }: WriteOptions) => {
    time.ms += time.beforeSend;
    check?.();
    time.ms += answerMs;
    const resourceVersion = String(Number(lease?.metadata.resourceVersion ?? 0) + 1);
    const annotations = { ...lease?.metadata.annotations, ...changed.metadata?.annotations };
    written.push(changed);
    lease = {
      ...lease,
      ...changed,
      metadata: { name: 'stowage', uid: 'lease', resourceVersion, annotations },
    } as Lease;
    return lease;
  };
  const client = {
    async get() {
      reads += 1;
      if (time.ms < refusedUntil) throw refusal(403, 'Forbidden');
      if (lease === undefined)
        throw new ApiError({ apiVersion: 'v1', kind: 'Status' } as never, 404, 'GET');
      return lease;
    },
    create: (_: unknown, object: Lease, options: WriteOptions) => write(object, options),
    patch: (_: unknown, __: string, patch: Partial<Lease>, options: WriteOptions) =>
      write(patch, options),
    list: async () => ({ items: [], metadata: { resourceVersion: '1' } }),
    async *watch(_: unknown, { signal }: { signal: AbortSignal }) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
  } as unknown as KubeClient;
  const election = startElection({
    ...{ client, namespace: 'default', name: 'stowage', identity: 'me', timing: TIMING },
    annotations: { leader: 'mine' },
    ...{ clock, monotonic: () => time.ms, random: () => 0, logger: memoryLogger() },
  });
  elections.push(election);
  const version = () => lease?.metadata.resourceVersion;
  return {
    election,
    time,
    clock,
    version,
    written,
    reads: () => reads,
    holder: () => lease?.spec?.holderIdentity,
  };
}

test('a process may act once it holds the Lease, not before', async () => {
  const { election } = stand();
  expect(() => election.check()).toThrow('does not hold the Lease');
  await election.won;
  expect(() => election.check()).not.toThrow();
});

test('leadership ends at the renew deadline, counted from the last renewal request', async () => {
  const { election, time } = stand({ answerMs: 1000 });
  await election.won;
  time.ms = TIMING.renewDeadlineMs - 1;
  expect(election.leads()).toBe(true);
  time.ms = TIMING.renewDeadlineMs;
  expect(election.leads()).toBe(false);
  expect(() => election.check()).toThrow('does not hold the Lease');
});

test.each([-7_200_000, TIMING.renewDeadlineMs - 1, TIMING.renewDeadlineMs, 86_400_000])(
  'a time of day that is set by %i ms is written, and does not prolong or lose leadership',
  async (step) => {
    const { election, time, clock, written } = stand();
    await election.won;
    clock.set(step);
    // Forward, the machine may have been asleep: nothing is done until the next renewal.
    expect(election.leads()).toBe(step < TIMING.renewDeadlineMs);
    time.ms += TIMING.retryPeriodMs;
    await clock.advance(TIMING.retryPeriodMs);
    expect(election.leads()).toBe(true);
    const renewed = Date.parse(written.at(-1)?.spec?.renewTime ?? '');
    expect(renewed).toBe(clock.timeOfDay());
    time.ms += TIMING.renewDeadlineMs;
    expect(election.leads()).toBe(false);
  },
);

test('resign() ends leadership at once, and only stop() releases the Lease', async () => {
  const { election, holder } = stand();
  await election.won;
  election.resign();
  expect(election.leads()).toBe(false);
  expect(holder()).toBe('me');
  await election.stop();
  expect(holder()).toBe('');
});

test('a renewal that waited for its connection past the deadline is not sent', async () => {
  const { election, time, clock, version } = stand();
  await election.won;
  time.beforeSend = TIMING.renewDeadlineMs;
  await clock.advance(TIMING.retryPeriodMs);
  expect((await election.lost).message).toContain('This process lost the Lease ');
  expect(version()).toBe('1');
});

test('stop() ends leadership at once, before the Lease is released', async () => {
  const { election } = stand();
  await election.won;
  const stopped = election.stop();
  expect(election.leads()).toBe(false);
  await stopped;
});

describe('an account without access to the Lease', () => {
  async function wait({ time, clock, reads }: ReturnType<typeof stand>, ms: number) {
    for (const end = time.ms + ms; time.ms < end; ) {
      const before = reads();
      time.ms += TIMING.retryPeriodMs;
      await clock.advance(TIMING.retryPeriodMs);
      if (time.ms < end) await until(() => reads() > before);
    }
  }

  test('leads if it gets access within 20 s', async () => {
    const world = stand({ refusedUntil: 20_000 });
    await wait(world, 20_000);
    await world.election.won;
  });

  test('fails after 30 s, with a hint to set the namespace', async () => {
    const world = stand({ refusedUntil: Infinity });
    await wait(world, 30_300);
    const { message, hint } = await world.election.lost;
    expect(message).toContain('This process cannot take the Lease default/stowage: ');
    expect(hint).toContain('Set the namespace of the installation with -n');
  });
});

describe('the annotations of a Lease', () => {
  const released: Lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      name: 'stowage',
      uid: 'lease',
      resourceVersion: '7',
      annotations: { leader: 'other' },
    },
    spec: { holderIdentity: '', leaseDurationSeconds: 1 },
  };

  test.each([
    ['a new Lease', undefined],
    ['a Lease of another process', released],
  ])('are set on acquiring %s, and not on renewals', async (_, there) => {
    const { election, clock, time, written } = stand(there === undefined ? {} : { there });
    await election.won;
    expect(written.map(({ metadata }) => metadata?.annotations)).toEqual([{ leader: 'mine' }]);
    time.ms += TIMING.retryPeriodMs;
    await clock.advance(TIMING.retryPeriodMs);
    await until(() => written.length > 1);
    expect(written.slice(1).map(({ metadata }) => metadata?.annotations)).toEqual([undefined]);
  });
});
