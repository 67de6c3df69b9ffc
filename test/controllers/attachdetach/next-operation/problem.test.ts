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
    ['no pod left', held],
    ['an unverified node', { unverified: ['n1'] }],
    ['an uncertain entry', { entries: [entry('n1', uncertain)] }],
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
    ['if the volume is not attached', {}, 1],
    ['if the attachment is uncertain', { entries: [entry('n1', uncertain)] }, 1],
    ['unless the volume is attached', held, 0],
  ])('reports the problem to a waiting pod, %s', (_, change, times) => {
    const { blocked } = nextOperation(view({ ...onN1, ...change, problem }), NOW);
    const message = `Volume v1: ${problem}. No work is done on any node until the status is corrected`;
    const told = { node: 'n1', pods: [use('a', 'n1')], reason: 'problem', message };
    expect(blocked).toEqual(Array.from({ length: times }, () => told));
  });
});
