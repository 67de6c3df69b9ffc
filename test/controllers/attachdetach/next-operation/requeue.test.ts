import { describe, expect, test } from '@jest/globals';
import { nextOperation } from '../../../../src/controllers/attachdetach/next-operation.ts';
import {
  entry,
  held,
  MINUTE,
  NOW,
  notReady,
  onBoth,
  onDemand,
  onN1,
  read,
  readers,
  startOf,
  uncertain,
  type ViewChange,
  view,
} from '../../../support/attachment-view.ts';

describe('a requeue is due', () => {
  test.each<[string, ViewChange, number | undefined]>([
    ['not without a pending operation', { ...onN1, entries: [entry('n1', {}, 'a')] }, undefined],
    [
      'when an operation may be tried again',
      { ...onN1, notBefore: { 'attach n1': NOW + 7 } },
      NOW + 7,
    ],
    [
      'at the earliest retry',
      {
        volume: readers,
        ...onBoth,
        entries: [entry('n3', { ...uncertain, ...read })],
        notBefore: { 'attach n1': NOW + 9, 'attach n2': NOW + 8, 'verify n3': NOW + 10 },
      },
      NOW + 8,
    ],
    [
      'when a verification may be retried',
      { ...onN1, unverified: ['n2'], notBefore: { 'verify n2': NOW + 5 } },
      NOW + 5,
    ],
    [
      'not for a node that is never force-detached',
      {
        volume: onDemand({ maxWaitForUnmountMs: Infinity }),
        ...held,
        nodes: { n1: notReady(NOW - MINUTE) },
        notBefore: { 'detach n1': Infinity },
      },
      undefined,
    ],
    [
      'at the force-detach deadline, before a later retry',
      {
        volume: onDemand(),
        ...held,
        nodes: { n1: notReady(NOW - MINUTE) },
        notBefore: { 'detach n1': NOW + 6 * MINUTE },
      },
      NOW + 5 * MINUTE,
    ],
    [
      'not for an operation never retried',
      { ...onN1, notBefore: { 'attach n1': Infinity } },
      undefined,
    ],
  ])('%s', (_, change, again) => {
    expect(nextOperation(view(change), NOW).again).toBe(again);
  });

  test('an operation that may be retried now starts', () => {
    expect(startOf({ ...onN1, notBefore: { 'attach n1': NOW } })).toBe('attach n1');
  });
});
