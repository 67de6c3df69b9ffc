import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { VOLUMES } from '../../../src/api/resources.ts';
import {
  type AttachmentCluster,
  startAttachmentCluster,
} from '../../support/attachment-cluster.ts';
import { until } from '../../support/until.ts';
import { expectDiagnosis, type Person, person } from '../../support/why.ts';

/**
 * Problems of attachments, of their nodes and of the cluster. Each is caused, then fixed by the
 * commands that `why` prints.
 */

const retry = { startMs: 200, maxMs: 1000 };
let at: AttachmentCluster;
let someone: Person;

beforeEach(async () => {
  at = await startAttachmentCluster();
  someone = await person(at.kubeconfig);
});
afterEach(async () => {
  await at?.end();
  await someone?.leave();
});

const start = () => at.start({ executor: at.nodes, retry });

test('why reports MultiAttach if a pod on another node uses the Volume', async () => {
  await at.createNode('n2');
  const { path, file } = await at.createShared('a', ['default/p1']);
  const { metadata } = await at.volume('a');
  const disk = at.nodes.disk('n1');
  disk.files.set(file, { sizeBytes: 32n << 20n, inode: 7, uuid: metadata.uid ?? '' });
  disk.loops.set(2, { file, inode: 7 });
  disk.links.set(path, 2);
  await at.createPodWith('p1', 'n1', { hostPath: { path, type: 'BlockDevice' } });
  await at.createPodWith('p2', 'n2', { hostPath: { path, type: 'BlockDevice' } });
  await start();
  await at.event('p2', 'FailedAttachVolume');
  const said = await someone.untilCause('pod p2', 'MultiAttach');
  expectDiagnosis(said, 'MultiAttach', 'Pod default/p2', 'Volume a', 'Node n1');
  expect(said.holdup).toContain('where these pods need it: default/p1');
  expect(said.fix?.run).toEqual(['kubectl delete pod -n default p1']);
  await someone.follow(said);
  await someone.untilNot('pod p2', 'MultiAttach');
  expect(disk.loops.size).toBe(0);
});

test('why reports NodeNotReady with the force-detach time, then NodeOutOfService', async () => {
  await start();
  await at.createOnDemand('a');
  await at.createPod('p', 'a');
  await at.isAttached('a');
  at.nodes.away.add('n1');
  const since = new Date(Date.now() - 240_000);
  await at.setReady('n1', 'False', since);
  await at.deletePod('p');
  const said = await someone.untilCause('volume/a', 'NodeNotReady');
  expectDiagnosis(said, 'NodeNotReady', 'Volume a', 'Node n1');
  // 6 minutes after the node was last Ready.
  const due = new Date(Math.floor(since.getTime() / 1000) * 1000 + 360_000).toISOString();
  expect(said.nextTry).toContain(due);
  const ofNode = await someone.why('node n1');
  expect(ofNode.cause).toBe('NodeNotReady');
  await someone.follow(said);
  await at.isDetached('a');
  const off = await someone.why('node n1');
  expectDiagnosis(off, 'NodeOutOfService', 'Node n1');
  at.nodes.away.delete('n1');
  await at.setReady('n1', 'True');
  await someone.follow(off);
  await until('nothing holds the node up', async () =>
    (await someone.why('node n1')).nothing === undefined ? undefined : true,
  );
});

test('why reports NodeOutOfService for a Volume on a tainted node that answers', async () => {
  await start();
  await at.createVolume('a');
  await at.isAvailable('a');
  await at.isAttached('a');
  await at.stop();
  // The node has restarted, but its kubelet does not run yet.
  at.nodes.detachAll('n1');
  await at.setReady('n1', 'False');
  await at.taint('n1', true);
  await start();
  const said = await someone.untilCause('volume/a', 'NodeOutOfService');
  expectDiagnosis(said, 'NodeOutOfService', 'Volume a', 'Node n1');
  expect(said.holdup).toContain('it is attached once the taint');
  expect(at.nodes.disk('n1').loops.size).toBe(0);
  await someone.follow(said);
  await at.isAttached('a');
  expect(at.nodes.disk('n1').loops.size).toBe(1);
});

test('why reports Paused for a paused node and its Volumes', async () => {
  await start();
  await someone.shell('stowage pause node n1');
  await at.createVolume('a');
  const said = await someone.untilCause('volume a', 'Paused');
  expectDiagnosis(said, 'Paused', 'Volume a', 'Node n1');
  expectDiagnosis(await someone.why('node/n1'), 'Paused', 'Node n1');
  await someone.follow(said);
  await at.isAvailable('a');
});

test('why reports AddressInvalid for a Node, and NodeMissing once it is deleted', async () => {
  await start();
  await at.createVolume('a');
  await at.isAvailable('a');
  await someone.shell("kubectl annotate node n1 stowage.dev/address='n1; reboot'");
  const said = await someone.why('node n1');
  expectDiagnosis(said, 'AddressInvalid', 'Node n1');
  await someone.follow(said);
  expect((await someone.why('node n1')).nothing).toContain('1 Volume is on it');
  at.nodes.away.add('n1');
  await someone.shell('kubectl delete node n1');
  const gone = await someone.why('node n1');
  expectDiagnosis(gone, 'NodeMissing', 'Node n1');
  await someone.follow({
    ...gone,
    fix: { say: '', run: (gone.fix?.run ?? []).map((line) => `${line} --yes`) },
  });
  await until('the Volume is gone', async () =>
    (await at.client.list(VOLUMES, {})).items.length === 0 ? true : undefined,
  );
  await expect(someone.why('node n1')).rejects.toMatchObject({ exitCode: 3 });
});
