import { expect, test } from '@jest/globals';
import type { KubeObject, Resource } from '../../src/api/meta.ts';
import type { Informer } from '../../src/kube/informer.ts';
import type { Change } from '../../src/kube/store.ts';
import {
  type StandardController,
  watchStandardController,
} from '../../src/manager/standard-controller-detection.ts';
import { FakeClock } from '../support/fake-clock.ts';

/** Creates an informer of a kind with changeable objects. */
function fakeKind() {
  const objects = new Map<string, KubeObject>();
  let tell: (change: Change<KubeObject>) => void = () => {};
  const put = (uid: string, more: object) => {
    const object = { apiVersion: 'v1', kind: 'X', metadata: { name: 'x', uid }, ...more };
    objects.set(uid, object);
    tell({ type: 'added', object });
  };
  const drop = (uid: string) => {
    const object = objects.get(uid) as KubeObject;
    objects.delete(uid);
    tell({ type: 'deleted', object });
  };
  const informer = {
    list: () => [...objects.values()],
    onChange(handler: typeof tell) {
      tell = handler;
    },
    start() {},
    stop: async () => {},
    synced: Promise.resolve(),
  };
  return { put, drop, informer: informer as unknown as Informer<never> };
}

const SNAPSHOTS = { lease: 'snapshot-controller-leader', deployment: 'snapshot-controller' };

function watch(standard: StandardController = SNAPSHOTS) {
  const clock = new FakeClock();
  const [leases, deployments] = [fakeKind(), fakeKind()];
  const asked: string[] = [];
  const changes: string[] = [];
  const mode = watchStandardController({
    flag: 'auto',
    standard,
    inform: <T extends KubeObject>(
      { plural }: Resource,
      _: unknown,
      select: { namespace?: string; labelSelector?: string; fieldSelector?: string } = {},
    ) => {
      const { namespace, fieldSelector, labelSelector } = select;
      const where = namespace === undefined ? '' : ` in ${namespace}`;
      asked.push(`${plural}${where} ${fieldSelector ?? labelSelector}`);
      return (plural === 'leases' ? leases : deployments).informer as unknown as Informer<T>;
    },
    clock,
    onChange: (now) => changes.push(now),
  });
  return { clock, leases, deployments, asked, changes, mode };
}

const held = (by: string, renewTime = '') => ({
  spec: { holderIdentity: by, leaseDurationSeconds: 15, renewTime },
});

test('watches only the Lease and the workload of the standard controller', () => {
  expect(watch().asked).toEqual([
    'leases metadata.name=snapshot-controller-leader',
    'deployments metadata.name=snapshot-controller',
  ]);
  expect(watch({ lease: 'l', pods: 'app=p' }).asked).toEqual([
    'leases metadata.name=l',
    'pods app=p',
  ]);
});

test('watches only the namespaces in which tenants may create no objects, each once', () => {
  const { asked } = watch({ lease: 'l', pods: 'app=p', namespaces: ['a', 'b', 'a'] });
  expect(asked).toEqual([
    ...['leases in a metadata.name=l', 'leases in b metadata.name=l'],
    ...['pods in a app=p', 'pods in b app=p'],
  ]);
});

test('the mode is external while a snapshot controller renews its Lease', async () => {
  const { clock, leases, changes, mode } = watch();
  expect(mode.now()).toBe('builtin');
  leases.put('1', held('a'));
  expect(changes).toEqual(['external']);
  await clock.advance(40_000);
  leases.put('1', held('a', 'later'));
  await clock.advance(40_000);
  expect(mode.now()).toBe('external');
  await clock.advance(5000);
  // The change is reported without a call of now().
  expect(changes).toEqual(['external', 'builtin']);
  leases.put('1', held('b'));
  await clock.advance(46_000);
  expect(changes).toEqual(['external', 'builtin', 'external', 'builtin']);
});

test('the mode is builtin after the Lease is deleted', () => {
  const { leases, changes, mode } = watch();
  leases.put('1', held('a'));
  leases.drop('1');
  expect(mode.now()).toBe('builtin');
  expect(changes).toEqual(['builtin']);
});

test('the mode is external while the Deployment has a ready pod', () => {
  const { deployments, changes, mode } = watch();
  expect(mode.now()).toBe('builtin');
  deployments.put('1', { status: { readyReplicas: 1 } });
  deployments.put('1', { status: { readyReplicas: 0 } });
  expect(changes).toEqual(['external', 'builtin']);
});

test('a mode that is set by flag needs no detection', () => {
  const inform = () => {
    throw new Error('asked');
  };
  for (const flag of ['builtin', 'external'] as const) {
    expect(
      watchStandardController({
        flag,
        standard: SNAPSHOTS,
        inform,
        clock: new FakeClock(),
        onChange() {},
      }).now(),
    ).toBe(flag);
  }
});

test('the mode is external while a pod of a controller without a Deployment is ready', () => {
  const { deployments: pods, mode } = watch({ lease: 'l', pods: 'app=p' });
  const ready = (status: string) => ({ status: { conditions: [{ type: 'Ready', status }] } });
  pods.put('1', ready('False'));
  expect(mode.now()).toBe('builtin');
  pods.put('1', ready('True'));
  expect(mode.now()).toBe('external');
  pods.drop('1');
  expect(mode.now()).toBe('builtin');
});
