import { afterEach, expect, test } from '@jest/globals';
import type { Lease } from '../../src/api/core.ts';
import { DEFAULT_GATES } from '../../src/api/feature-gates.ts';
import { reason } from '../../src/api/reasons.ts';
import type { Connection } from '../../src/kube/connect.ts';
import { ApiError } from '../../src/kube/errors.ts';
import { type RightToAct, standForElection } from '../../src/manager/leader-guard.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { memoryLogger } from '../support/logger.ts';

let right: RightToAct | undefined;
afterEach(() => right?.election?.stop());

/** Starts with leader election and an unheld Lease, or without leader election. */
function stand({ elects }: { elects: boolean }): RightToAct {
  let lease: Lease | undefined;
  const client = {
    async get() {
      if (lease === undefined)
        throw new ApiError({ apiVersion: 'v1', kind: 'Status' } as never, 404, 'GET');
      return lease;
    },
    async create(_: unknown, object: Lease) {
      lease = { ...object, metadata: { ...object.metadata, uid: 'lease', resourceVersion: '1' } };
      return lease;
    },
  };
  const timing = { leaseDurationMs: 4000, renewDeadlineMs: 3000, retryPeriodMs: 300 };
  right = standForElection({
    connection: { client, transport: {} } as unknown as Connection,
    election: elects ? { namespace: 'default', ...timing } : undefined,
    leader: {
      version: '0',
      featureGates: DEFAULT_GATES,
      links: true,
      controllers: ['volume'],
      transport: 'ssh',
    },
    ...{
      localNodes: [],
      host: 'h1',
      clock: new FakeClock(),
      random: () => 0,
      logger: memoryLogger(),
    },
  });
  return right;
}

test('a process with leader election may act on nodes only once it leads', async () => {
  const { election, checkNode } = stand({ elects: true });
  expect(() => checkNode('n1')).toThrow(
    expect.objectContaining({
      message: 'no request is sent to node n1: this process is not the leader',
      reason: reason('NotLeading', { node: 'n1' }),
    }),
  );
  await election?.won;
  expect(() => checkNode('n1')).not.toThrow();
});

test('a process without leader election may act on nodes at once', () => {
  expect(() => stand({ elects: false }).checkNode('n1')).not.toThrow();
});
