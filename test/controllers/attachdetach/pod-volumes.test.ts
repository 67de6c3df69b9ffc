import { expect, test } from '@jest/globals';
import type { Pod } from '../../../src/api/core.ts';
import {
  isCounted,
  isPodActive,
  usesOf,
} from '../../../src/controllers/attachdetach/pod-volumes.ts';
import {
  claimObject,
  DEVICE_PATH,
  lookups,
  podObject,
  pvObject,
  use,
  volumeObject,
} from '../../support/attachment-view.ts';

const running = [{ name: 'c', state: { running: {} } }];
const ended = [{ name: 'c', state: {} }];
const deleting = { deletionTimestamp: 'now' };

test.each<[string, Pod, boolean]>([
  ['pending', podObject(), true],
  ['running', podObject({}, { phase: 'Running', containerStatuses: running }), true],
  ['without a phase', podObject({}, { phase: undefined }), true],
  ['unknown', podObject({}, { phase: 'Unknown' }), true],
  ['not scheduled', podObject({ nodeName: undefined }), false],
  ['scheduled to an empty name', podObject({ nodeName: '' }), false],
  ['succeeded', podObject({}, { phase: 'Succeeded' }), false],
  ['failed', podObject({}, { phase: 'Failed', containerStatuses: running }), false],
  [
    'deleting, running',
    podObject({}, { phase: 'Running', containerStatuses: running }, deleting),
    true,
  ],
  ['deleting, init running', podObject({}, { initContainerStatuses: running }, deleting), true],
  [
    'deleting, ephemeral running',
    podObject({}, { ephemeralContainerStatuses: running }, deleting),
    true,
  ],
  [
    'deleting, ended',
    podObject({}, { phase: 'Running', containerStatuses: ended }, deleting),
    false,
  ],
  ['deleting, never started', podObject({}, {}, deleting), false],
])('only an active pod uses its volumes: a pod that is %s', (_, pod, counts) => {
  expect(isCounted(pod)).toBe(counts);
  const found = usesOf(pod, lookups());
  expect(found).toEqual(counts ? [{ volume: 'u1', use: use('p1', 'n1') }] : []);
});

const ephemeral = podObject({ volumes: [{ name: 'data', ephemeral: {} }] });
const inline = (path: string, type?: string) =>
  podObject({
    volumes: [{ name: 'data', hostPath: { path, ...(type === undefined ? {} : { type }) } }],
  });
const ofPod = (uid: string) =>
  claimObject('p1-data', { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p1', uid }] });
const mirror = { annotations: { 'kubernetes.io/config.mirror': 'hash' } };

test.each<[string, Pod, Parameters<typeof lookups>[0], string[]]>([
  ['a claim', podObject(), {}, ['u1']],
  ['a claim that is not there yet', podObject(), { claims: [] }, []],
  ['a claim of another namespace', podObject({}, {}, { namespace: 'other' }), {}, []],
  ['a claim that is not bound', podObject(), { claims: [{ ...claimObject(), spec: {} }] }, []],
  ['a PV that is gone', podObject(), { pvs: [] }, []],
  [
    'a PV bound to another claim of that name',
    podObject(),
    { claims: [claimObject('c1', { uid: 'new' })] },
    [],
  ],
  ['a PV without a claim', podObject(), { pvs: [pvObject({ claimRef: undefined })] }, []],
  [
    'a PV claimed by name alone',
    podObject(),
    { pvs: [pvObject({ claimRef: { namespace: 'app', name: 'c1' } })] },
    [],
  ],
  ['a Volume that is gone', podObject(), { volumes: [] }, ['u1']],
  ['a PV of no Volume', podObject(), { pvs: [pvObject({ local: { path: '/x' } }, noOwner())] }, []],
  ['a PV without its owner reference', podObject(), { pvs: [pvObject({}, noOwner())] }, ['u1']],
  [
    'a PV of another owner',
    podObject(),
    { pvs: [pvObject({ local: { path: '/x' } }, foreignOwner())] },
    [],
  ],
  ['an ephemeral volume', ephemeral, { claims: [ofPod('uid-p1')] }, ['u1']],
  [
    'an ephemeral volume whose claim has another owner',
    ephemeral,
    { claims: [ofPod('other')] },
    [],
  ],
  [
    'an ephemeral volume whose claim has no owner',
    ephemeral,
    { claims: [claimObject('p1-data')] },
    [],
  ],
  ['an ephemeral volume without a claim', ephemeral, {}, []],
  ['inline', inline(DEVICE_PATH, 'BlockDevice'), {}, ['u1']],
  ['inline, without a type', inline(DEVICE_PATH), {}, []],
  ['inline, as a file', inline(DEVICE_PATH, 'File'), {}, []],
  ['inline, another device', inline('/dev/sda', 'BlockDevice'), {}, []],
  ['a mirror pod', podObject(inline(DEVICE_PATH, 'BlockDevice').spec, {}, mirror), {}, ['u1']],
  ['no volumes', podObject({ volumes: undefined }), {}, []],
])('usesOf resolves the Volumes of a pod: %s', (_, pod, objects, uids) => {
  expect(usesOf(pod, lookups(objects)).map(({ volume }) => volume)).toEqual(uids);
});

test('a volume that a pod mounts twice is used once', () => {
  const { volumes: [one] = [] } = podObject().spec;
  const { volumes: [other] = [] } = inline(DEVICE_PATH, 'BlockDevice').spec;
  if (one === undefined || other === undefined) throw new Error('no volumes');
  expect(usesOf(podObject({ volumes: [one, other, one] }), lookups())).toHaveLength(1);
});

test('two Volumes at one path are both used', () => {
  const volumes = [volumeObject(), volumeObject({}, {}, { name: 'v2', uid: 'u2' })];
  const found = usesOf(inline(DEVICE_PATH, 'BlockDevice'), lookups({ volumes }));
  expect(found.map(({ volume }) => volume)).toEqual(['u1', 'u2']);
});

function noOwner() {
  return { ownerReferences: [] };
}

function foreignOwner() {
  return { ownerReferences: [{ apiVersion: 'v1', kind: 'Volume', name: 'v1', uid: 'u1' }] };
}

test.each<[string, Pod | undefined, boolean]>([
  ['present', podObject(), true],
  ['gone', undefined, false],
  ['recreated', podObject({}, {}, { uid: 'new' }), false],
  ['on another node', podObject({ nodeName: 'n2' }), false],
  ['terminated', podObject({}, { phase: 'Succeeded' }), false],
  ['without its volume', podObject({ volumes: [] }), true],
])('a recorded pod is active or not if it is %s', (_, pod, expected) => {
  expect(isPodActive(pod, use('p1', 'n1'))).toBe(expected);
});
