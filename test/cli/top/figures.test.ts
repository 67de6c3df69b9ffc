import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readSummary } from '../../../src/cli/top/stats-summary.ts';
import { createGrowthTracker } from '../../../src/cli/top/volumes/growth.ts';
import { usedOf } from '../../../src/cli/top/volumes/row.ts';
import { podStats, summaryOf } from '../../support/stats-summary.ts';
import { CLAIM } from './top-scene.ts';

const read = (figures: object) => readSummary(summaryOf(podStats('u', CLAIM, figures)));

describe('a summary that a node wrote', () => {
  test('yields the figures of claims', () => {
    // The first volume has no claim.
    expect(readSummary(summaryOf(podStats('u', CLAIM)))).toHaveLength(2);
    expect(readSummary(summaryOf(podStats('u', CLAIM)))[1]).toMatchObject({
      pod: { uid: 'u', namespace: 'db' },
      volume: 'data',
      claim: CLAIM,
      usedBytes: 250,
      availableBytes: 700,
      capacityBytes: 1000,
      inodes: { used: 10, total: 100 },
    });
  });

  test.each<[string, object]>([
    ['negative', { usedBytes: -1 }],
    ['beyond what a number holds exactly', { usedBytes: 2 ** 53, capacityBytes: 2 ** 54 }],
    ['a fraction', { usedBytes: 0.5 }],
    ['infinite', { capacityBytes: Number.POSITIVE_INFINITY }],
    ['a text', { usedBytes: '250' }],
    ['missing', { capacityBytes: undefined }],
    ['above the capacity', { usedBytes: 1001 }],
  ])('yields nothing for a size that is %s', (_name, figures) => {
    expect(read(figures).filter(({ volume }) => volume === 'data')).toEqual([]);
  });

  test.each<[string, object]>([
    ['more inodes used than there are', { inodesUsed: 101 }],
    ['a negative number of inodes', { inodes: -1 }],
    ['a time that is none', { time: 'yesterday' }],
    ['more space available than there is', { availableBytes: 1001 }],
  ])('yields the rest in spite of %s', (_name, figures) => {
    const [, stats] = read(figures);
    const used = stats && usedOf(stats);
    expect(used).toMatchObject({ bytes: 250, capacityBytes: 1000 });
    expect(used?.percent).toBeLessThanOrEqual(100);
  });

  test('never fails to be read, whatever it is', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (value, inner) => {
        const all = [
          ...readSummary(value),
          ...readSummary({ pods: value }),
          ...readSummary({ pods: [{ podRef: inner, volume: value }] }),
          ...readSummary({
            pods: [{ volume: [{ pvcRef: inner, usedBytes: value, capacityBytes: 9 }] }],
          }),
        ];
        for (const each of all) {
          const { bytes, percent } = usedOf(each);
          if (!(Number.isSafeInteger(bytes) && percent >= 0 && percent <= 100)) throw new Error();
        }
      }),
      { seed: 7, numRuns: 500 },
    );
  });
});

describe('growth', () => {
  const MINUTE = 60_000;
  const grow = (...samples: [minute: number | undefined, usedBytes: number][]) => {
    const tracker = createGrowthTracker();
    return samples
      .map(([minute, usedBytes]) =>
        tracker.add('u', {
          ...{ usedBytes, availableBytes: 1000 - usedBytes },
          ...(minute !== undefined && { at: minute * MINUTE }),
        }),
      )
      .at(-1);
  };
  test.each<[string, Parameters<typeof grow>, ReturnType<typeof grow>]>([
    ['is unknown after one measurement', [[0, 100]], undefined],
    [
      'is unknown for less than 5 min',
      [
        [0, 100],
        [4.9, 500],
      ],
      undefined,
    ],
    [
      'is unknown without times',
      [
        [undefined, 100],
        [undefined, 500],
      ],
      undefined,
    ],
    [
      'is the mean since the first measurement',
      [
        [0, 100],
        [5, 100],
        [10, 200],
      ],
      { bytesPerDay: 14_400, overSeconds: 600, fullInSeconds: 4800 },
    ],
    [
      'has no end for a volume that stays',
      [
        [0, 100],
        [5, 100],
      ],
      { bytesPerDay: 0, overSeconds: 300 },
    ],
    [
      'has no end for a volume that becomes emptier',
      [
        [0, 200],
        [10, 100],
      ],
      { bytesPerDay: -14_400, overSeconds: 600 },
    ],
    [
      'starts again when the clock was set back',
      [
        [60, 100],
        [0, 200],
        [10, 300],
      ],
      { bytesPerDay: 14_400, overSeconds: 600, fullInSeconds: 4200 },
    ],
  ])('%s', (_name, samples, expected) => {
    expect(grow(...samples)).toEqual(expected);
  });

  test('is kept by Volume', () => {
    const tracker = createGrowthTracker();
    tracker.add('a', { usedBytes: 1, availableBytes: 1, at: 0 });
    expect(tracker.add('b', { usedBytes: 9, availableBytes: 1, at: 10 * MINUTE })).toBeUndefined();
  });
});
