import { describe, expect, test } from '@jest/globals';
import type { Volume, VolumeStatus } from '../../../../src/api/volume.ts';
import { decide } from '../../../../src/controllers/volume/decide.ts';
import {
  createVolumeReconciler,
  type VolumeReconcilerDeps,
} from '../../../../src/controllers/volume/reconciler.ts';
import type { Input } from '../../../../src/controllers/volume/types.ts';
import {
  available,
  creationFailed,
  deleted,
  deleting,
  given,
  isAvailable,
  outcome,
  pending,
  prepared,
  preparing,
  type Row,
  removing,
  status,
  summary,
  unavailable,
} from '../../../support/decisions.ts';
import { input, NOW, pv, readyNode, volume } from '../../../support/volume-input.ts';

/** Returns the decision after the first decision's status is written. */
function afterIts(parts: Partial<Input>): unknown {
  const first = decide(input(parts), NOW);
  if (first.action?.do !== 'set-status') throw new Error(`not a status: ${JSON.stringify(first)}`);
  const { metadata, spec, ...rest } = parts.volume ?? volume();
  const written = { ...rest, metadata, spec, status: first.action.status as VolumeStatus };
  return summary(decide(input({ ...parts, volume: written }), NOW));
}

const unhealthy = given(available(), {
  pv: { ...pv('Failed'), status: { phase: 'Failed' as const, message: 'it is broken' } },
});
const invalid = { volume: { ...volume(), spec: { nodeName: 'n1', storageClassName: 'local' } } };

describe('Reconciliation loop (top level)', () => {
  test("Reconcile: Volume exists? no → don't reschedule", async () => {
    const reconcile = createVolumeReconciler({
      volumes: { get: () => undefined },
    } as unknown as VolumeReconcilerDeps);
    expect(await reconcile('data1', new AbortController().signal)).toBeUndefined();
  });

  const rows: Row[] = [
    [
      'Reconcile: Volume is valid? no → Failed',
      invalid,
      ['Failed', undefined, 'False', 'InternalError', 'volume type not found in Volume Spec'],
    ],
    [
      'Reconcile: Volume is marked for deletion? yes → Finalize',
      deleting(available(), { pv: pv('Available') }),
      'delete-pv',
    ],
    [
      'Reconcile: Volume is marked for deletion? yes → Finalize, even if invalid and Failed',
      {
        volume: {
          ...volume(
            status('Failed', 'PrepareVolume/1', ['False', 'InternalError'], { prepared }),
            deleted,
          ),
          spec: { nodeName: 'n1', storageClassName: 'local' },
        },
        job: { known: { state: 'died' } },
      },
      removing(1),
    ],
    ...(['InternalError', 'CreationError', 'DestructionError'] as const).map(
      (reason): Row => [
        `Reconcile: Volume is Failed? yes (${reason}) → don't reschedule`,
        given(status('Failed', undefined, ['False', reason])),
        {},
      ],
    ),
    [
      'Reconcile: Volume is Failed? yes (UnavailableError) → observes it again, to recover',
      given(
        status('Failed', 'PrepareVolume/DONE', ['False', 'UnavailableError', 'gone'], { prepared }),
        {
          pv: pv('Bound'),
        },
      ),
      'observe',
    ],
    [
      "Reconcile: PersistentVolume is healthy? yes → don't reschedule, but to observe its device",
      given(available(), { pv: pv('Bound'), node: readyNode }),
      { requeueAfter: 30_000 },
    ],
    [
      'Reconcile: PersistentVolume is healthy? no → Failed',
      unhealthy,
      unavailable('the PersistentVolume is Failed: it is broken'),
    ],
    [
      'an unhealthy PersistentVolume that is healthy again',
      given(
        status('Failed', 'PrepareVolume/DONE', ['False', 'UnavailableError', 'broken'], {
          prepared,
        }),
        {
          pv: pv('Available'),
          node: readyNode,
        },
      ),
      isAvailable(),
    ],
    [
      'Reconcile: Volume is backed by PersistentVolume? no → Deploy',
      given(undefined),
      preparing(1),
    ],
    [
      'Reconcile: Volume is backed by PersistentVolume? only a foreign one of its name → Deploy',
      given(pending('PrepareVolume/DONE', { prepared }), {
        pv: pv('Available', { ownerReferences: [] }),
        livePv: { found: pv('Available', { ownerReferences: [] }) },
      }),
      creationFailed('DONE', /does not belong/),
    ],
  ];
  test.each<[field: string, spec: Partial<Volume['spec']>]>([
    ['attachPolicy', { attachPolicy: 'Never' as never }],
    ['attachableNodes', { attachableNodes: ['n1', 'n2'] }],
    ['source', { source: { other: 'data0' } as never }],
    [
      'lvmLogicalVolume',
      { sparseLoopDevice: undefined as never, lvmLogicalVolume: { vgName: '../vg', size: '1Gi' } },
    ],
  ])('Reconcile: Volume is valid? no, %s is refused and not ignored → Failed', (field, spec) => {
    const asked = { ...volume(), spec: { ...volume().spec, ...spec } };
    expect(outcome({ volume: asked })).toEqual([
      'Failed',
      undefined,
      'False',
      'InternalError',
      expect.stringContaining(`spec.${field}`),
    ]);
  });

  test.each(rows)('%s', (...[, parts, expected, now]) => {
    expect(outcome(parts, now)).toEqual(expected);
  });

  test('Reconcile: Volume is valid? no → reschedule now: nothing more is written', () => {
    expect(afterIts(invalid)).toEqual({});
  });

  test('Reconcile: PersistentVolume is healthy? no → reschedule now: nothing is written', () => {
    expect(afterIts(unhealthy)).toEqual({ requeueAfter: 30_000 });
  });
});
