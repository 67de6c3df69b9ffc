import { expect, test } from '@jest/globals';
import type { PersistentVolumeClaim, Pod } from '../../../src/api/core.ts';
import type { KubeObject } from '../../../src/api/meta.ts';
import { createConsumers } from '../../../src/controllers/provisioner/consumers.ts';
import type { Informer } from '../../../src/kube/informer.ts';
import { type Change, ObjectStore } from '../../../src/kube/store.ts';
import { claim, UID } from './claim-input.ts';

/** Creates an informer whose objects the test sets. */
function informer<T extends KubeObject>() {
  const store = new ObjectStore<T>();
  const handlers: ((change: Change<T>) => void)[] = [];
  let version = 0;
  return {
    informer: {
      get: (name: string, namespace?: string) => store.get(name, namespace),
      onChange: (handler: (change: Change<T>) => void) => handlers.push(handler),
    } as unknown as Informer<T>,
    put(object: T) {
      version += 1;
      const metadata = { ...object.metadata, resourceVersion: String(version) };
      for (const change of store.put({ ...object, metadata }))
        for (const handler of handlers) handler(change);
    },
  };
}

const podOf = (name: string, claimName: string, more: Partial<Pod> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'prod', name, uid: name },
  spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }] },
  ...more,
});

function world() {
  const [pods, claims] = [informer<Pod>(), informer<PersistentVolumeClaim>()];
  const consumers = createConsumers({ pods: pods.informer, claims: claims.informer });
  const names = (of: PersistentVolumeClaim) =>
    consumers.of(of).map(({ metadata }) => metadata.name);
  return { pods, claims, consumers, names };
}

const dataSourceRef = { apiGroup: 'example.com', kind: 'Hello', name: 'h' };
const target = claim({ dataSourceRef }, { node: 'n1' });
const primeIn = (namespace: string, node: string): PersistentVolumeClaim => {
  const { metadata, ...rest } = claim({}, { node });
  return { ...rest, metadata: { ...metadata, namespace, name: `prime-${UID}`, uid: 'p' } };
};

test('the pods of a claim are those of its namespace that name it and have not ended', () => {
  const { pods, names } = world();
  pods.put(podOf('a', 'data'));
  pods.put(podOf('other', 'other'));
  pods.put(
    podOf('elsewhere', 'data', { metadata: { namespace: 'dev', name: 'elsewhere', uid: 'e' } }),
  );
  pods.put(podOf('done', 'data', { status: { phase: 'Succeeded' } }));
  pods.put(podOf('failed', 'data', { status: { phase: 'Failed' } }));
  const going = { namespace: 'prod', name: 'going', uid: 'g', deletionTimestamp: 'x' };
  pods.put(podOf('going', 'data', { metadata: going }));
  expect(names(target)).toEqual(['a']);
});

test('the claim of an ephemeral volume is used by its pod', () => {
  const { pods, names } = world();
  pods.put(podOf('db', '', { spec: { volumes: [{ name: 'x', ephemeral: {} }] } }));
  const { metadata } = target;
  expect(names({ ...target, metadata: { ...metadata, name: 'db-x' } })).toEqual(['db']);
});

test("a prime claim counts the pods of the claim that it is for, and not the populator's own", () => {
  const { pods, claims, names, consumers } = world();
  const prime = primeIn('stowage', 'n1');
  claims.put(target);
  claims.put(prime);
  const own = { namespace: 'stowage', name: 'populate', uid: 'o' };
  pods.put(podOf('populate', prime.metadata.name, { metadata: own }));
  expect(names(prime)).toEqual([]);
  pods.put(podOf('a', 'data'));
  expect(names(prime)).toEqual(['a']);
  // A claim with such a name in another namespace gets no other node.
  expect(names(primeIn('dev', 'n2'))).toEqual([]);
  expect(consumers.claimsOf(podOf('a', 'data'))).toEqual(['prod/data', `stowage/prime-${UID}`]);
});

test('a prime claim of a claim without a node counts its own pods', () => {
  const { pods, claims, names } = world();
  claims.put(claim());
  const own = { namespace: 'stowage', name: 'importer', uid: 'o' };
  pods.put(podOf('importer', `prime-${UID}`, { metadata: own }));
  expect(names(primeIn('stowage', 'n1'))).toEqual(['importer']);
});

test('a claim named like a prime claim of no claim counts its own pods', () => {
  const { pods, names } = world();
  pods.put(podOf('a', `prime-${UID}`));
  expect(names(primeIn('prod', 'n1'))).toEqual(['a']);
});

test('a pod triggers no claim that is bound or missing', () => {
  const { claims, consumers } = world();
  expect(consumers.claimsOf(podOf('a', 'data'))).toEqual([]);
  claims.put(claim({}, { status: { phase: 'Bound' } }));
  expect(consumers.claimsOf(podOf('a', 'data'))).toEqual([]);
});

test.each<[string, PersistentVolumeClaim]>([
  ['has no data source', claim({}, { node: 'n1' })],
  ['has its volume', claim({ dataSourceRef, volumeName: 'pv' }, { node: 'n1' })],
])('a forged prime claim of one that %s counts none of its pods', (_what, victim) => {
  const { pods, claims, names } = world();
  const forged = primeIn('tenant', 'n1');
  claims.put(victim);
  claims.put(forged);
  pods.put(podOf('a', 'data'));
  expect(names(forged)).toEqual([]);
});
