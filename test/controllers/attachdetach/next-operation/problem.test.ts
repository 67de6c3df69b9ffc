import { describe, expect, test } from '@jest/globals';
import { nextOperation } from '../../../../src/controllers/attachdetach/next-operation.ts';
import {
  always,
  entry,
  held,
  NOW,
  OFF,
  onN1,
  uncertain,
  use,
  type ViewChange,
  view,
  wanted,
} from '../../../support/attachment-view.ts';

describe('a Volume whose status Stowage never wrote', () => {
  const problem = 'status.prepared names ["/etc/shadow"]';
  test.each<[string, ViewChange]>([
    ['a pod', onN1],
    ['Always, without pods', { volume: always(), wanted: [wanted('n1')] }],
    ['nobody left', held],
    ['a node that was never looked at', { unverified: ['n1'] }],
    ['an entry of which nothing is known', { entries: [entry('n1', uncertain)] }],
    ['a Volume that is gone', { volume: undefined, ...held }],
    ['a node that is off', { ...held, nodes: { n1: OFF } }],
  ])('starts no operation and no force-detach: %s', (_, change) => {
    const { start, forced, entries, again } = nextOperation(view({ ...change, problem }), NOW);
    expect([start, forced, entries, again]).toEqual([
      undefined,
      [],
      change.entries ?? [],
      undefined,
    ]);
  });

  test.each<[string, ViewChange, number]>([
    ['where it is not', {}, 1],
    ['where it may be', { entries: [entry('n1', uncertain)] }, 1],
    ['where it is', held, 0],
  ])('reports the problem to a waiting pod, %s', (_, change, times) => {
    const { blocked } = nextOperation(view({ ...onN1, ...change, problem }), NOW);
    const message = `Volume v1: ${problem}. No work is done on any node until the status is corrected`;
    const told = { node: 'n1', pods: [use('a', 'n1')], reason: 'problem', message };
    expect(blocked).toEqual(Array.from({ length: times }, () => told));
  });
});
