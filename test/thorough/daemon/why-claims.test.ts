import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { PERSISTENT_VOLUME_CLAIMS, STORAGE_CLASSES, VOLUMES } from '../../../src/api/resources.ts';
import { type ClaimWorld, startClaimWorld, toSnapshot } from '../../support/claim-world.ts';
import { startController, type TestController } from '../../support/controller.ts';
import { HELLO_CRD } from '../../support/hello.ts';
import { fromImage } from '../../support/images.ts';
import { until } from '../../support/until.ts';
import { expectDiagnosis, type Person, person } from '../../support/why.ts';

/**
 * Problems of claims and snapshots. Each is caused, then fixed by the commands that `why` prints.
 * The daemon is in this process, and its nodes are in memory.
 */

let world: ClaimWorld;
let daemon: TestController | undefined;
let someone: Person;

const start = async (crossNamespace: boolean) => {
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
  await start(true);
  await world.createClass('fast');
  await world.createClass('waits', { volumeBindingMode: 'WaitForFirstConsumer' });
  await world.createSnapshotClass('fast');
  await someone.shell(
    'kubectl annotate volumesnapshotclass fast snapshot.storage.kubernetes.io/is-default-class=true',
  );
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

test('why reports NoConsumer for a claim without a pod', async () => {
  await world.createClaim('test/first', { storageClassName: 'waits' });
  const said = await someone.untilCause('pvc test/first', 'NoConsumer');
  expectDiagnosis(said, 'NoConsumer', 'PersistentVolumeClaim test/first');
  await someone.follow(said);
  await world.isBound('test/first');
  expect((await someone.why('pvc test/first')).nothing).toContain('nothing holds it up');
});

test('why reports StorageClassMissing for a claim whose class does not exist', async () => {
  await world.createClaim('test/classless', { storageClassName: 'other' });
  const said = await someone.untilCause('pvc/test/classless', 'StorageClassMissing');
  expectDiagnosis(said, 'StorageClassMissing', 'PersistentVolumeClaim test/classless');
  await someone.follow(said);
  await someone.untilNot('pvc test/classless', 'StorageClassMissing');
  expect(await world.find(STORAGE_CLASSES, '/other')).toMatchObject({
    provisioner: 'volume.stowage.dev',
  });
});

test('why reports GrantMissing for a source in a namespace without a ReferenceGrant', async () => {
  await world.createClaim('test/copy', { dataSourceRef: toSnapshot('prod/foo-backup') });
  const said = await someone.untilCause('pvc test/copy', 'GrantMissing');
  expectDiagnosis(
    said,
    'GrantMissing',
    'PersistentVolumeClaim test/copy',
    'VolumeSnapshot prod/foo-backup',
  );
  await someone.follow(said);
  await world.isBound('test/copy');
});

test('why reports GateOff if the daemon ignores sources in other namespaces', async () => {
  await world.createGrant('prod/to-other', 'other');
  await start(false);
  await world.createClaim('other/copy', { dataSourceRef: toSnapshot('prod/foo-backup') });
  const said = await someone.untilCause('pvc other/copy', 'GateOff');
  expectDiagnosis(said, 'GateOff', 'PersistentVolumeClaim other/copy');
  expect(said.fix?.run).toEqual([
    "stowage watch --feature-gates 'CrossNamespaceVolumeDataSource=true'",
  ]);
  // Runs the daemon of the printed command in place of this one. Only the claim controller, so that
  // nothing is provisioned on this machine.
  await daemon?.stop();
  const env = 'STOWAGE_CONTROLLERS=claim STOWAGE_TRANSPORT=local STOWAGE_LOCAL_NODE=n1';
  const volume = `pvc-${(await world.claim('other/copy'))?.metadata.uid}`;
  await someone.shell(`${env} ${said.fix?.command} 2>${someone.folder}/log & watch=$!
      until kubectl get volume ${volume}; do sleep 0.2; done
      kill $watch; wait $watch`);
  // Only its Lease remains, and shows that the daemon has ended.
  expectDiagnosis(
    await someone.why('pvc other/copy'),
    'DaemonAbsent',
    'PersistentVolumeClaim other/copy',
    'Lease default/stowage-n1',
  );
  await someone.shell('kubectl delete lease stowage-n1');
  // The other daemon published the capacity of this machine. The daemon in this process publishes
  // none for its nodes in memory.
  await someone.shell(
    'kubectl delete csistoragecapacities --all && kubectl delete csidrivers --all',
  );
  await start(true);
  await world.isBound('other/copy');
});

test('why reports SourceMissing for a snapshot that does not exist', async () => {
  await world.createClaim('prod/late', { dataSourceRef: toSnapshot('prod/none') });
  const said = await someone.untilCause('pvc prod/late', 'SourceMissing');
  expectDiagnosis(
    said,
    'SourceMissing',
    'PersistentVolumeClaim prod/late',
    'VolumeSnapshot prod/none',
  );
  await someone.follow(said, { fill: { CLAIM: 'foo' } });
  await world.isBound('prod/late');
});

test('why reports SnapshotNotReady for a claim, SnapshotClassMissing for a snapshot', async () => {
  await world.createSnapshot('prod/slow', 'foo', 'rare');
  await world.createClaim('prod/waiting', { dataSourceRef: toSnapshot('prod/slow') });
  const said = await someone.untilCause('pvc prod/waiting', 'SnapshotNotReady');
  expectDiagnosis(
    said,
    'SnapshotNotReady',
    'PersistentVolumeClaim prod/waiting',
    'VolumeSnapshot prod/slow',
  );
  expect(said.fix?.run).toEqual(['stowage why snapshot prod/slow']);
  const next = await someone.why('snapshot prod/slow');
  expectDiagnosis(next, 'SnapshotClassMissing', 'VolumeSnapshot prod/slow');
  await someone.follow(next);
  await world.isReady('prod/slow');
  await world.isBound('prod/waiting');
  expect((await someone.why('snapshot prod/slow')).nothing).toContain('is ready');
});

test('why reports ClaimTooSmall for a claim smaller than its snapshot', async () => {
  await world.createClaim('prod/tight', {
    dataSourceRef: toSnapshot('prod/foo-backup'),
    resources: { requests: { storage: '1Mi' } },
  });
  const said = await someone.untilCause('pvc prod/tight', 'ClaimTooSmall');
  expectDiagnosis(
    said,
    'ClaimTooSmall',
    'PersistentVolumeClaim prod/tight',
    'VolumeSnapshot prod/foo-backup',
  );
  await someone.follow(said);
  expect((await world.isBound('prod/tight')).spec.resources?.requests?.storage).toBe('1Gi');
});

test('why reports ClaimMissing, then ClaimUnbound for the claim of a snapshot', async () => {
  await world.createSnapshot('prod/early', 'absent');
  const said = await someone.untilCause('snapshot prod/early', 'ClaimMissing');
  expectDiagnosis(said, 'ClaimMissing', 'VolumeSnapshot prod/early');
  await someone.follow(said);
  await world.createClaim('prod/absent', { storageClassName: 'waits' });
  const next = await someone.untilCause('snapshot prod/early', 'ClaimUnbound');
  expectDiagnosis(
    next,
    'ClaimUnbound',
    'VolumeSnapshot prod/early',
    'PersistentVolumeClaim prod/absent',
  );
  expect(next.fix?.run).toEqual(['stowage why pvc prod/absent']);
  await someone.follow(await someone.untilCause('pvc prod/absent', 'NoConsumer'));
  await world.isReady('prod/early');
});

test('why reports NoRoom if the selected node has too little space', async () => {
  const large = { storageClassName: 'waits', resources: { requests: { storage: '60Gi' } } };
  await world.createClaim('test/hoard', large);
  await world.createPod('test/hoarder', 'hoard');
  await world.isBound('test/hoard');
  await world.createClaim('test/large', large);
  await world.createPod('test/waiter', 'large');
  const said = await someone.untilCause('pvc test/large', 'NoRoom');
  expectDiagnosis(said, 'NoRoom', 'PersistentVolumeClaim test/large', 'Pod test/waiter');
  expect(said.holdup).toMatch(/node n1 has \S+( bytes)? available in .*, and the claim needs 60Gi/);
  expect((await someone.why('pod test/waiter')).cause).toBe('NoRoom');
  // The user selects unneeded volumes from the output.
  await someone.follow(said, { only: /get volumes/ });
  await someone.shell('kubectl delete pod hoarder -n test && kubectl delete pvc hoard -n test');
  // A scheduler retries after a while. The sandbox's scheduler only retries after changes of
  // related objects.
  await until('test/large is bound', async () => {
    await someone.shell(`kubectl label node n1 --overwrite at=${Date.now()}`);
    return (await world.claim('test/large'))?.status?.phase === 'Bound' || undefined;
  });
});

test('why reports KindNotRegistered for a source kind without a populator', async () => {
  await world.createClaim('test/hello', {
    dataSourceRef: { apiGroup: 'hello.example.com', kind: 'Hello', name: 'example' },
  });
  const said = await someone.untilCause('pvc test/hello', 'KindNotRegistered');
  expectDiagnosis(said, 'KindNotRegistered', 'PersistentVolumeClaim test/hello');
  // The populator's developer installs the kind.
  await someone.shell('kubectl apply -f -', JSON.stringify(HELLO_CRD));
  await someone.follow(said, { fill: { IMAGE: 'busybox', PATH: '/target' } });
  await someone.untilNot('pvc test/hello', 'KindNotRegistered');
});

test('why reports SourceMissing, SourceRefused and GrantMissing without events', async () => {
  await someone.shell(
    'stowage register populator image --node Image && stowage register populator backup --node Backup',
  );
  const withoutEvents = async (claim: string) => {
    const [namespace, name] = claim.split('/');
    await someone.shell(
      `kubectl delete events -n ${namespace} --field-selector involvedObject.name=${name}`,
    );
    return someone.why(`pvc ${claim}`);
  };
  await world.createClaim('test/root', { dataSourceRef: fromImage('debian') });
  await someone.untilCause('pvc test/root', 'SourceMissing');
  const missing = await withoutEvents('test/root');
  expectDiagnosis(missing, 'SourceMissing', 'PersistentVolumeClaim test/root', 'Image test/debian');
  expect(missing.next).toEqual({
    when: 'at once, when a PopulatorDefinition, or Image test/debian changes',
  });
  expect(missing.fix?.say).toContain('Create Image debian in namespace test');

  await world.createClaim('test/theirs', { dataSourceRef: fromImage('debian', 'other') });
  await someone.untilCause('pvc test/theirs', 'GrantMissing');
  expect((await withoutEvents('test/theirs')).fix?.say).toContain(
    'Create a ReferenceGrant in namespace other',
  );

  const unmade = { apiGroup: 'stowage.dev', kind: 'Backup', name: 'monday' };
  await someone.shell(
    'stowage create backup test/monday --pvc nothing --to https://a.example.com/b',
  );
  await world.createClaim('test/monday', { dataSourceRef: unmade });
  await someone.untilCause('pvc test/monday', 'SourceRefused');
  expect((await withoutEvents('test/monday')).holdup).toContain('it is not complete');
});

test('why reports ClaimHoldsDeletion, PodsHoldDeletion, then ForeignFinalizer', async () => {
  await world.createClaim('test/kept');
  const { metadata } = await world.isBound('test/kept');
  const name = `pvc-${metadata.uid}`;
  await world.createPod('test/user', 'kept');
  await world.client.patch(
    PERSISTENT_VOLUME_CLAIMS,
    'kept',
    { metadata: { finalizers: ['kubernetes.io/pvc-protection', 'example.com/backup'] } },
    { namespace: 'test' },
  );
  await world.client.patch(VOLUMES, name, {
    metadata: {
      finalizers: [
        ...((await world.find(VOLUMES, `/${name}`))?.metadata.finalizers ?? []),
        'example.com/audit',
      ],
    },
  });
  await world.remove(VOLUMES, `/${name}`);
  const claim = await someone.untilCause(`volume/${name}`, 'ClaimHoldsDeletion');
  expectDiagnosis(claim, 'ClaimHoldsDeletion', `Volume ${name}`, 'PersistentVolumeClaim test/kept');
  await someone.follow({
    ...claim,
    fix: { say: '', run: claim.fix?.run?.map((line) => `${line} --wait=false`) ?? [] },
  });
  const pods = await someone.untilCause(`volume/${name}`, 'PodsHoldDeletion');
  expectDiagnosis(pods, 'PodsHoldDeletion', `Volume ${name}`, 'PersistentVolumeClaim test/kept');
  await someone.follow(pods);
  const theirs = await someone.untilCause(`pvc test/kept`, 'ForeignFinalizer');
  expectDiagnosis(theirs, 'ForeignFinalizer', 'PersistentVolumeClaim test/kept');
  await someone.follow(theirs);
  const last = await someone.untilCause(`volume/${name}`, 'ForeignFinalizer');
  expectDiagnosis(last, 'ForeignFinalizer', `Volume ${name}`);
  expect(last.holdup).toContain('example.com/audit');
  await someone.follow(last);
  expect(await world.find(VOLUMES, `/${name}`)).toBeUndefined();
});
