import { expect, test } from '@jest/globals';
import type { Pod } from '../../src/api/core.ts';
import { transformOf } from '../../src/manager/field-paths.ts';
import {
  atMost,
  cutName,
  unlessEmpty,
  untilScheduled,
  where,
} from '../../src/manager/field-rules.ts';

const pod = (rest: Pick<Pod, 'spec' | 'status'>): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', labels: { a: 'b' } },
  ...rest,
});
const IDENTITY = ['apiVersion', 'kind', 'metadata.name'] as const;
const identity = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } };

test('keeps the listed fields, and each parent that the object has', () => {
  const transform = transformOf<Pod>()([...IDENTITY, 'spec.nodeName', 'status.phase']);
  const whole = pod({ spec: { volumes: [] }, status: { phase: 'Running', reason: 'r' } });
  const before = structuredClone(whole);
  expect(transform(whole)).toEqual({ ...identity, spec: {}, status: { phase: 'Running' } });
  expect(whole).toEqual(before);
  expect(transform(pod({ spec: {} }))).toEqual({ ...identity, spec: {} });
});

test('keeps the listed fields of list elements, and applies the rules of each path', () => {
  const transform = transformOf<Pod>()([
    ...IDENTITY,
    [
      'spec.tolerations',
      untilScheduled,
      where(({ key }: { key?: string }) => key !== 'x'),
      atMost(2),
    ],
    ['spec.tolerations[].key', cutName],
    ['status', unlessEmpty],
    'status.phase',
  ]);
  const tolerations = ['x', 'a', 'k'.repeat(300), 'b'].map((key) => ({ key, value: 'v' }));
  expect(transform(pod({ spec: { tolerations }, status: { reason: 'r' } }))).toEqual({
    ...identity,
    spec: { tolerations: [{ key: 'a' }, { key: 'k'.repeat(254) }] },
  });
  expect(transform(pod({ spec: { tolerations, nodeName: 'n1' } }))).toEqual({
    ...identity,
    spec: {},
  });
});

test('the type checker accepts only fields of the kind, and knows which are dropped', () => {
  // @ts-expect-error: Pods have no such field.
  transformOf<Pod>()([...IDENTITY, 'spec.nodename']);
  const { spec } = transformOf<Pod>()([...IDENTITY, 'spec.volumes[].name'])(pod({ spec: {} }));
  // @ts-expect-error: it was dropped.
  expect(spec.nodeName).toBeUndefined();
  // @ts-expect-error: it was dropped.
  expect(spec.volumes?.[0]?.hostPath).toBeUndefined();
  // @ts-expect-error: a Pod has a spec.
  const transform: (object: Pod) => Pod = transformOf<Pod>()(IDENTITY);
  expect(transform(pod({ spec: {} }))).toEqual(identity);
});
