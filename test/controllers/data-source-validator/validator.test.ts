import { describe, expect, test } from '@jest/globals';
import type { PersistentVolumeClaim } from '../../../src/api/core.ts';
import {
  classifyDataSource,
  type DataSourceClass,
  eventFor,
} from '../../../src/controllers/data-source-validator/decide.ts';
import {
  createValidator,
  type ValidatorDeps,
} from '../../../src/controllers/data-source-validator/reconciler.ts';
import { EMIT_AGAIN_AFTER } from '../../../src/workqueue/emit-again.ts';

const REGISTERED = [{ group: 'hello.example.com', kind: 'Hello' }];

const claim = (
  dataSourceRef?: PersistentVolumeClaim['spec']['dataSourceRef'],
  more: { spec?: object; metadata?: object } = {},
) =>
  ({
    metadata: { name: 'data', namespace: 'default', uid: 'u', ...more.metadata },
    spec: { ...(dataSourceRef && { dataSourceRef }), ...more.spec },
  }) as PersistentVolumeClaim;

/** The four classes of KEP-1495, and similar cases. */
test.each<[string, PersistentVolumeClaim, DataSourceClass]>([
  ['nothing', claim(), 'empty'],
  ['a claim', claim({ kind: 'PersistentVolumeClaim', name: 'a' }), 'pvc'],
  [
    'a claim, its group null',
    claim({ apiGroup: null, kind: 'PersistentVolumeClaim', name: 'a' }),
    'pvc',
  ],
  [
    'a snapshot',
    claim({ apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 'a' }),
    'snapshot',
  ],
  [
    'a kind that is registered',
    claim({ apiGroup: 'hello.example.com', kind: 'Hello', name: 'a' }),
    'populator',
  ],
  [
    'a kind that is not registered',
    claim({ apiGroup: 'hello.example.com', kind: 'Other', name: 'a' }),
    'invalid',
  ],
  ['another group', claim({ apiGroup: 'other.example.com', kind: 'Hello', name: 'a' }), 'invalid'],
  [
    'a group with a version',
    claim({ apiGroup: 'hello.example.com/v1', kind: 'Hello', name: 'a' }),
    'invalid',
  ],
  [
    'a lowercase kind',
    claim({ apiGroup: 'hello.example.com', kind: 'hello', name: 'a' }),
    'invalid',
  ],
  [
    'a registered kind in dataSource only',
    claim(undefined, {
      spec: { dataSource: { apiGroup: 'hello.example.com', kind: 'Hello', name: 'a' } },
    }),
    'populator',
  ],
])('classifies a data source: %s', (_, it, verdict) => {
  expect(classifyDataSource(it, REGISTERED)).toBe(verdict);
});

describe('an event', () => {
  const unknown = { apiGroup: 'x.example.com', kind: 'X', name: 'a' };

  test.each<DataSourceClass>(['empty', 'pvc', 'snapshot', 'populator'])(
    'is not emitted for %s',
    (verdict) => {
      expect(eventFor(claim(), verdict)).toBeUndefined();
    },
  );

  test('is emitted for an unknown kind, with the upstream message', () => {
    expect(eventFor(claim(unknown), 'invalid')).toEqual({
      reason: 'UnrecognizedDataSourceKind',
      message: 'The datasource for this PVC does not match any registered VolumePopulator',
      detail: { code: 'DataSourceUnrecognized', parameters: {} },
    });
  });

  test.each([
    ['has its volume', { spec: { volumeName: 'pv' } }],
    ['is being deleted', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }],
  ])('is not emitted for a claim that %s', (_, more) => {
    expect(eventFor(claim(unknown, more), 'invalid')).toBeUndefined();
  });
});

test('an unknown kind is reported again after its event expires, and counted once', async () => {
  const told: string[] = [];
  const verdicts: string[] = [];
  const time = { ms: 0 };
  let registered: object[] = [];
  const it = claim({ apiGroup: 'x.example.com', kind: 'X', name: 'a' });
  const validate = createValidator({
    claims: { get: () => it } as unknown as ValidatorDeps['claims'],
    populators: { list: () => registered } as unknown as ValidatorDeps['populators'],
    clock: { now: () => time.ms },
    isExternal: () => false,
    once: async (_object, _type, reason, _message, detail) =>
      void told.push(`${reason} ${detail?.code}`),
    onVerdict: (verdict) => verdicts.push(verdict),
  });
  expect(await validate('default/data')).toEqual({ requeueAfterMs: EMIT_AGAIN_AFTER });
  time.ms = EMIT_AGAIN_AFTER - 1;
  expect(await validate('default/data')).toEqual({ requeueAfterMs: 1 });
  expect(told).toEqual(['UnrecognizedDataSourceKind DataSourceUnrecognized']);
  time.ms = EMIT_AGAIN_AFTER;
  expect(await validate('default/data')).toEqual({ requeueAfterMs: EMIT_AGAIN_AFTER });
  expect(told).toHaveLength(2);
  expect(verdicts).toEqual(['invalid']);
  registered = [{ metadata: {}, sourceKind: { group: 'x.example.com', kind: 'X' } }];
  time.ms = 9 * EMIT_AGAIN_AFTER;
  expect(await validate('default/data')).toBeUndefined();
  expect(told).toHaveLength(2);
});

test('the event is left to the standard validator while it runs, and emitted once it is gone', async () => {
  let emitted = 0;
  let isExternal = true;
  const verdicts: string[] = [];
  const validate = createValidator({
    claims: {
      get: () => claim({ apiGroup: 'x.example.com', kind: 'X', name: 'a' }),
    } as unknown as ValidatorDeps['claims'],
    populators: { list: () => [] } as unknown as ValidatorDeps['populators'],
    clock: { now: () => 0 },
    isExternal: () => isExternal,
    once: async () => void emitted++,
    onVerdict: (verdict) => verdicts.push(verdict),
  });
  expect(await validate('default/data')).toBeUndefined();
  expect(await validate('default/data')).toBeUndefined();
  expect([emitted, verdicts]).toEqual([0, ['invalid']]);
  isExternal = false;
  expect(await validate('default/data')).toEqual({ requeueAfterMs: EMIT_AGAIN_AFTER });
  await validate('default/data');
  expect([emitted, verdicts]).toEqual([1, ['invalid']]);
});
