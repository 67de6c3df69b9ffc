import { describe, expect, test } from '@jest/globals';
import { explain } from '../../../../src/api/reasons.ts';
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

describe('the message of a failed detach', () => {
  const told = explain('JobForgotten');
  const toldOf = (change: ViewChange) =>
    nextOperation(view({ volume: onDemand(), entries: [entry('n1', told, 'a')], ...change }), NOW)
      .entries[0];

  const OVER = { message: undefined, detail: undefined };

  test.each<[string, ViewChange, object]>([
    ['is cleared if a pod needs the volume there', onN1, OVER],
    ['is cleared if the policy is Always', { volume: always(), wanted: [wanted('n1')] }, OVER],
    ['stays while nothing needs the volume', {}, told],
    [
      'stays while the volume is not safe to mount',
      { ...onN1, entries: [entry('n1', { ...told, safeToMount: false }, 'a')] },
      told,
    ],
    [
      'stays on the node to detach from, though its pods want the volume',
      {
        volume: shared(),
        ...onBoth,
        entries: [entry('n1', told, 'a'), entry('n2', { since: NOW - 20 * MINUTE }, 'b')],
      },
      told,
    ],
  ])('%s', (_, change, expected) => {
    expect(toldOf(change)).toMatchObject(expected);
  });
});
