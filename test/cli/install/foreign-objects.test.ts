import { expect, test } from '@jest/globals';
import type { KubeObject, Resource } from '../../../src/api/meta.ts';
import { PODS } from '../../../src/api/resources.ts';
import { othersOf } from '../../../src/cli/install/foreign-objects.ts';

const one = (name: string, owners: string[] = [], resource: Resource = PODS) => {
  const ownerReferences = owners.map((uid) => ({ apiVersion: 'v1', kind: 'X', name: uid, uid }));
  const object: KubeObject = {
    apiVersion: 'v1',
    kind: resource.kind,
    metadata: { name, uid: name, ownerReferences },
  };
  return { resource, object };
};
const of = (kind: string): Resource => ({ ...PODS, kind });

test.each([
  ['an object of Stowage', [one('deployment')], []],
  [
    'dependents of an object of Stowage, in any order',
    [one('pod', ['set']), one('set', ['deployment'])],
    [],
  ],
  ['an object with a foreign owner', [one('pod', ['theirs'])], ['pod']],
  ['an object with a second, foreign owner', [one('both', ['deployment', 'theirs'])], ['both']],
  ['an object without an owner', [one('alone')], ['alone']],
  ['the ConfigMap kube-root-ca.crt', [one('kube-root-ca.crt', [], of('ConfigMap'))], []],
  ['a Secret of that name', [one('kube-root-ca.crt', [], of('Secret'))], ['kube-root-ca.crt']],
  [
    'the default ServiceAccount and another one',
    [one('default', [], of('ServiceAccount')), one('x', [], of('ServiceAccount'))],
    ['x'],
  ],
  ['events', [one('e', [], of('Event'))], []],
  ['leases', [one('stowage', [], of('Lease')), one('x', [], of('Lease'))], ['x']],
])('uninstall classifies %s as foreign or not', (_, found, others) => {
  expect(
    othersOf(found, new Set(['deployment'])).map(({ object }) => object.metadata.name),
  ).toEqual(others);
});

test('uninstall does not count an object that is being deleted as foreign', () => {
  const pod = one('pod', ['set']);
  pod.object.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
  expect(othersOf([pod], new Set())).toEqual([]);
});

test('uninstall recognizes pods of Stowage after their owner is gone', () => {
  const mine = new Set(['deployment']);
  othersOf([one('set', ['deployment']), one('pod', ['set'])], mine);
  expect(othersOf([one('pod', ['set'])], mine)).toEqual([]);
});
