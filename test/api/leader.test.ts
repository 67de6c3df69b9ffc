import { expect, test } from '@jest/globals';
import { type Leader, leaderOf, leaderText } from '../../src/api/leader.ts';
import { LEADER, leadingLease } from '../support/leading-lease.ts';

const NOW = Date.parse('2030-01-01T00:00:00Z');
const GATE = 'CrossNamespaceVolumeDataSource';

test.each<[Partial<Leader>, string]>([
  [{}, `version 0.1.0, nodes over ssh, all controllers, without ${GATE}`],
  [
    { transport: 'salt', featureGates: { [GATE]: true } as Leader['featureGates'] },
    `version 0.1.0, nodes over salt, all controllers, with ${GATE}`,
  ],
  [
    { links: false },
    `version 0.1.0, nodes over ssh, all controllers, without ${GATE}, without VolumeSnapshotLinks`,
  ],
  [
    { transport: 'local', nodes: ['n1', 'n2'], controllers: ['volume'] },
    `version 0.1.0, nodes n1, n2, without the controllers leftover, attachment, claim, snapshot, backup, data-source-validator, populator, without ${GATE}`,
  ],
])('leaderOf reads %j from its Lease, and leaderText describes it', (leader, text) => {
  const found = leaderOf(leadingLease(NOW, leader));
  expect(found).toEqual({ ...LEADER, ...leader });
  expect(leaderText(found as Leader)).toBe(text);
});

test.each([
  [90_000, 90_000],
  [Infinity, Infinity],
])('leaderOf reads maxWaitForUnmountMs of %s ms from the Lease', (maxWaitForUnmountMs, read) => {
  expect(leaderOf(leadingLease(NOW, { maxWaitForUnmountMs }))?.maxWaitForUnmountMs).toBe(read);
});

test.each([0, -1, '90s', null])('leaderOf ignores an invalid maxWaitForUnmountMs of %j', (text) => {
  const lease = leadingLease(NOW);
  const annotations = {
    'stowage.dev/leader': JSON.stringify({ ...LEADER, maxWaitForUnmountMs: text }),
  };
  const found = leaderOf({ ...lease, metadata: { ...lease.metadata, annotations } });
  expect(found).toEqual(LEADER);
});

test('leaderOf returns undefined for a released Lease', () => {
  const lease = leadingLease(NOW);
  expect(leaderOf({ ...lease, spec: { ...lease.spec, holderIdentity: '' } })).toBeUndefined();
});

test.each([
  '',
  '{',
  '[]',
  'null',
  '{"version":1}',
  '{"version":"1","controllers":[],"transport":"x"}',
])('leaderOf returns undefined for the invalid annotation %j', (text) => {
  const lease = leadingLease(NOW);
  const annotations = { 'stowage.dev/leader': text };
  expect(leaderOf({ ...lease, metadata: { ...lease.metadata, annotations } })).toBeUndefined();
});

test('leaderOf assumes that a leader without the field links follows links', () => {
  const lease = leadingLease(NOW);
  const { links: _, ...earlier } = LEADER;
  const annotations = { 'stowage.dev/leader': JSON.stringify(earlier) };
  expect(leaderOf({ ...lease, metadata: { ...lease.metadata, annotations } })?.links).toBe(true);
});

test('leaderOf truncates a long version, and drops unknown controllers and feature gates', () => {
  const lease = leadingLease(NOW);
  const text = JSON.stringify({
    ...LEADER,
    ...{
      version: 'v'.repeat(999),
      controllers: ['claim', 'other', 7],
      featureGates: { [GATE]: 'true', X: true },
    },
  });
  const found = leaderOf({
    ...lease,
    metadata: { ...lease.metadata, annotations: { 'stowage.dev/leader': text } },
  });
  expect(found).toEqual({ ...LEADER, version: 'v'.repeat(40), controllers: ['claim'] });
});
