import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { KubeNode } from '../../../src/api/core.ts';
import {
  LEASES,
  NODES,
  REFERENCE_GRANTS,
  VOLUME_POPULATORS,
  VOLUME_SNAPSHOTS,
} from '../../../src/api/resources.ts';
import {
  type ClaimWorld,
  type Key,
  startClaimWorld,
  toSnapshot,
} from '../../support/claim-world.ts';
import { startController, type TestController } from '../../support/controller.ts';
import { leadingLease } from '../../support/leading-lease.ts';
import { LINK_POPULATOR } from '../../support/snapshots.ts';
import { type Person, person } from '../../support/why.ts';

/**
 * `why pvc` and `why pod` for each state that can block a restore into another namespace. The nodes
 * are in memory.
 */

let world: ClaimWorld;
let daemon: TestController | undefined;
let someone: Person;

const start = async (crossNamespace = true) => {
  await daemon?.stop();
  daemon = await startController(world.client, {
    executor: world.nodes,
    provisioning: { crossNamespace, snapshotController: 'builtin' },
    retry: { startMs: 200, maxMs: 1000 },
  });
};

beforeAll(async () => {
  world = await startClaimWorld({ scheduler: true });
  someone = await person(world.cluster.kubeconfig);
  world.nodes.disk('n1').spaceBytes = 100n * 2n ** 30n;
  await start();
  await world.createClass('fast');
  await world.createClass('waits', { volumeBindingMode: 'WaitForFirstConsumer' });
  await world.createSnapshotClass('fast');
  await world.createClaim('prod/foo');
  await world.isBound('prod/foo');
  await world.createSnapshot('prod/foo-backup', 'foo');
  await world.isReady('prod/foo-backup');
});
afterAll(async () => {
  await daemon?.stop();
  await world?.stop();
  await someone?.leave();
});

const SOURCE = toSnapshot('prod/foo-backup');
const LINK = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshotLink', name: 'link' };
type Spec = Parameters<ClaimWorld['createClaim']>[1];

/**
 * Creates a claim and a pod that uses it.
 * @returns the output of `why` for both, once the claim has that cause
 */
async function restored(name: string, cause: string | readonly string[], spec: Spec = {}) {
  const key: Key = `test/${name}`;
  await world.createClaim(key, { dataSourceRef: SOURCE, ...spec });
  await world.createPod(key, name);
  return said(name, cause);
}

async function said(name: string, cause: string | readonly string[]) {
  const ofClaim = await someone.untilCause(`pvc test/${name}`, cause);
  const ofPod = await someone.untilCause(`pod test/${name}`, cause);
  expect(ofPod.holdup).toContain(ofClaim.holdup ?? '');
  return ofClaim;
}

test('why reports a missing, mismatched or revoked ReferenceGrant', async () => {
  expect((await restored('grant', 'GrantMissing')).holdup).toContain("isn't allowed");
  await world.createGrant('prod/nearly', 'tets');
  await world.createGrant('test/mistaken', 'test');
  const nearly = await said('grant', 'GrantMissing');
  expect(nearly.holdup).toContain('ReferenceGrant prod/nearly nearly allows it');
  await world.createGrant('prod/to-test', 'test');
  await world.isBound('test/grant');

  await world.createClaim('test/revoked', { dataSourceRef: SOURCE, storageClassName: 'waits' });
  await someone.untilCause('pvc test/revoked', 'NoConsumer');
  await world.remove(REFERENCE_GRANTS, 'prod/to-test');
  await world.createPod('test/revoked', 'revoked');
  await said('revoked', 'GrantMissing');
  await world.createGrant('prod/to-test', 'test');
});

test('why reports that the feature gate is off at the daemon', async () => {
  await start(false);
  const { fix } = await restored('gate', 'GateOff');
  expect(fix?.run).toEqual(["stowage watch --feature-gates 'CrossNamespaceVolumeDataSource=true'"]);
  await start();
  await world.isBound('test/gate');
});

test('why reports that the feature gate is off at the API server', async () => {
  const off = await startClaimWorld({ crossNamespace: false });
  const them = await person(off.cluster.kubeconfig);
  try {
    await off.createClass('fast');
    const claim = {
      ...{
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'dropped', namespace: 'test' },
      },
      spec: {
        ...{ accessModes: ['ReadWriteOnce'], storageClassName: 'fast', dataSourceRef: SOURCE },
        resources: { requests: { storage: '1Gi' } },
      },
    };
    await them.shell('kubectl apply -f -', JSON.stringify(claim));
    await off.createPod('test/dropped', 'dropped');
    for (const what of ['pvc test/dropped', 'pod test/dropped']) {
      const { fix } = await them.untilCause(what, 'SourceDropped');
      expect(fix?.say).toContain('feature gate CrossNamespaceVolumeDataSource of kube-apiserver');
    }
  } finally {
    await them.leave();
    await off.stop();
  }
});

test('why reports that the snapshot is not ready', async () => {
  await world.createSnapshot('prod/slow', 'foo', 'rare');
  const { holdup } = await restored('slow', 'SnapshotNotReady', {
    dataSourceRef: toSnapshot('prod/slow'),
  });
  expect(holdup).toContain('prod/slow');
  await world.remove(VOLUME_SNAPSHOTS, 'prod/slow');
  await said('slow', 'SourceMissing');
});

test('why reports a VolumeSnapshotLink without its VolumePopulator', async () => {
  await world.createLink('test/link', { namespace: 'prod', name: 'foo-backup' });
  await world.remove(VOLUME_POPULATORS, `/${LINK_POPULATOR.metadata.name}`);
  const found = await restored('linked', 'KindNotRegistered', { dataSourceRef: LINK });
  expect(found.fix?.run).toEqual(['stowage install --components populator-crds']);
  await world.client.create(VOLUME_POPULATORS, LINK_POPULATOR);
  await world.isBound('test/linked');
});

test('why reports a claim smaller than its snapshot', async () => {
  const spec = { resources: { requests: { storage: '1Mi' } } };
  expect((await restored('tight', 'ClaimTooSmall', spec)).next).toEqual({
    when: 'never: the claim must be created again',
  });
});

test('why reports a missing storage class', async () => {
  await restored('classless', 'StorageClassMissing', { storageClassName: 'absent' });
});

test('why reports a node without enough space', async () => {
  const { holdup } = await restored('roomless', 'NoRoom', {
    resources: { requests: { storage: '200Gi' } },
  });
  expect(holdup).toMatch(/node n1 has \S+( bytes)? available in/);
});

test('why reports an unreachable or NotReady node', async () => {
  const ready = (status: string) => ({ status: { conditions: [{ type: 'Ready', status }] } });
  const patch = (body: object) =>
    world.client.patch<KubeNode>(NODES, 'n1', body, { subresource: 'status' });
  world.nodes.away.add('n1');
  // Its Volume waits for the node. No Volume exists if the node's capacity was requested meanwhile.
  const unanswered = await restored('unanswered', ['NodeUnreachable', 'RoomUnknown']);
  expect(unanswered.holdup).toMatch(/node n1 is (not reached|not known: node n1 is away)/);
  await patch(ready('Unknown'));
  const lost = await restored('lost', 'NodeNotReady');
  expect([lost.holdup, lost.fix?.run]).toEqual([
    expect.stringContaining('node n1 is not Ready'),
    ['stowage why node n1'],
  ]);
  // Also before its pod has a node: the scheduler finds none.
  const waiting = await restored('waiting', 'NodeNotReady', { storageClassName: 'waits' });
  expect(waiting.holdup).toContain('its source is only on node n1: node n1 is not Ready');
  world.nodes.away.delete('n1');
  await patch(ready('True'));
  await world.isBound('test/unanswered');
  await world.isBound('test/lost');
});

test('why reports that no daemon leads', async () => {
  await daemon?.stop();
  daemon = undefined;
  await world.client.create(LEASES, leadingLease(Date.now() - 3_600_000));
  await world.createClaim('test/leaderless', { dataSourceRef: SOURCE });
  await world.createPod('test/leaderless', 'leaderless');
  for (const what of ['pvc test/leaderless', 'pod test/leaderless']) {
    expect((await someone.untilCause(what, 'DaemonAbsent')).holdup).toContain('no daemon leads');
  }
});
