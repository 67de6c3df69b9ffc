import { describe, expect, test } from '@jest/globals';
import type { PersistentVolume } from '../../src/api/core.ts';
import type { Phase } from '../../src/api/volume.ts';
import { stowage } from '../support/fake-io.ts';
import { pvOf, volumeNamed } from '../support/volumes.ts';

/** The Volume deletion decision tree of the specification, through the command. */

type PvPhase = NonNullable<NonNullable<PersistentVolume['status']>['phase']>;
type Row = [arrow: string, phase: Phase | undefined, pv: PvPhase | undefined, refusal: string];

async function deleteIt(phase: Phase | undefined, pv: PvPhase | undefined) {
  const volume = volumeNamed('a', phase && { phase });
  return stowage(['delete', 'volume', 'a'], {
    objects: { 'volumes/a': volume, ...(pv && { 'persistentvolumes/a': pvOf(volume, pv) }) },
  });
}

describe('CANNOT DELETE', () => {
  const rows: Row[] = [
    ['Unknown', undefined, undefined, 'its status is not known yet'],
    ['Pending', 'Pending', undefined, 'its storage is being made'],
    ['Pending, whatever its PersistentVolume', 'Pending', 'Available', 'its storage is being made'],
    ['Terminating', 'Terminating', undefined, 'it is being deleted already'],
    ...(['Failed', 'Available'] as const).flatMap((phase): Row[] => [
      [`${phase}, has PersistentVolume? YES, Pending`, phase, 'Pending', 'its PersistentVolume is Pending'],
      [
        `${phase}, has PersistentVolume? YES, Bound`,
        phase,
        'Bound',
        'its PersistentVolume is bound to the claim db/data-0',
      ],
    ]),
  ];
  test.each(rows)('DeletionTree: %s → CANNOT DELETE', async (_, phase, pv, refusal) => {
    const { code, out, err, requests } = await deleteIt(phase, pv);
    expect({ code, out }).toEqual({ code: 5, out: '' });
    expect(err).toContain(`error: Volume a cannot be deleted: ${refusal}`);
    expect(err).toMatch(/\nhint: .+\n$/);
    expect(requests.map(({ what }) => what)).not.toContain('delete volumes/a');
  });
});

describe('CAN DELETE', () => {
  const rows = (['Failed', 'Available'] as const).flatMap((phase): [string, Phase, PvPhase | undefined][] => [
    [`${phase}, has PersistentVolume? NO`, phase, undefined],
    ...(['Available', 'Released', 'Failed'] as const).map((pv): [string, Phase, PvPhase] => [
      `${phase}, has PersistentVolume? YES, ${pv}`,
      phase,
      pv,
    ]),
  ]);
  test.each(rows)('DeletionTree: %s → CAN DELETE', async (_, phase, pv) => {
    const { code, requests } = await deleteIt(phase, pv);
    expect(code).toBe(0);
    expect(requests.at(-1)?.what).toBe('delete volumes/a');
  });
});
