import { describe, expect, test } from '@jest/globals';
import { nextOperation } from '../../../../src/controllers/attachdetach/next-operation.ts';
import {
  always,
  entry,
  MINUTE,
  NOW,
  onBoth,
  onDemand,
  onN1,
  shared,
  type ViewChange,
  view,
  wanted,
} from '../../../support/attachment-view.ts';

describe('why it could not be detached', () => {
  const told = { message: 'mounted' };
  const messageOf = (change: ViewChange) =>
    nextOperation(view({ volume: onDemand(), entries: [entry('n1', told, 'a')], ...change }), NOW)
      .entries[0]?.message;

  test.each<[string, ViewChange, string | undefined]>([
    ['is over when a pod needs it there', onN1, undefined],
    ['is over with Always', { volume: always(), wanted: [wanted('n1')] }, undefined],
    ['stays while nothing needs it', {}, 'mounted'],
    [
      'stays where it cannot be mounted',
      { ...onN1, entries: [entry('n1', { ...told, safeToMount: false }, 'a')] },
      'mounted',
    ],
    [
      'stays on the node that is not to have it, though pods want it there',
      {
        volume: shared(),
        ...onBoth,
        entries: [entry('n1', told, 'a'), entry('n2', { since: NOW - 20 * MINUTE }, 'b')],
      },
      'mounted',
    ],
  ])('%s', (_, change, message) => {
    expect(messageOf(change)).toBe(message);
  });
});
