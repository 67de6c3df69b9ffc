import { afterEach, expect, test } from '@jest/globals';
import type { KubeNode } from '../../src/api/core.ts';
import { NODES, VOLUMES } from '../../src/api/resources.ts';
import type { Attachment, Volume } from '../../src/api/volume.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import type { Executor } from '../../src/nodes/job.ts';
import { createLoopNumbers } from '../../src/storage/loop-numbers.ts';
import { sparseVolume, startCluster, type TestCluster } from '../support/cluster.ts';
import { startController, type TestController, type TestControllerOptions } from '../support/controller.ts';
import { missing, result } from '../support/fake-executor.ts';
import { until } from '../support/until.ts';
import { workingNodes } from '../support/working-nodes.ts';

/** What passes between the Volume controller and who attaches: the status alone. */

let cluster: TestCluster;
let client: KubeClient;
let controller: TestController;

async function start(options: TestControllerOptions): Promise<void> {
  cluster = await startCluster();
  ({ client } = cluster);
  controller = await startController(client, options);
}

afterEach(async () => {
  await controller.stop();
  await cluster.stop();
});

const readyOf = async (name: string) =>
  (await client.get<Volume>(VOLUMES, name)).status?.conditions?.find(({ type }) => type === 'Ready');
const hasReason = (name: string, reason: string) =>
  until(`${name} has reason ${reason}`, 10_000, async () =>
    (await readyOf(name))?.reason === reason ? true : undefined,
  );
const attach = (name: string, attachments: Attachment[]) =>
  client.patch(VOLUMES, name, { status: { attachments } }, { subresource: 'status' });
const entry: Attachment = {
  node: 'n1',
  state: 'Attached',
  safeToMount: true,
  safeToDetach: false,
  pods: [],
  since: '2026-01-02T03:04:05Z',
};
const shared = (name: string, attachableNodes: string[]): Volume => {
  const volume = sparseVolume(name, 'n1', '32Mi');
  const { size = '' } = volume.spec.sparseLoopDevice ?? {};
  return {
    ...volume,
    spec: {
      ...volume.spec,
      attachPolicy: 'OnDemand',
      attachableNodes,
      sparseLoopDevice: { size, directory: '/srv/shared' },
    },
  };
};

test('what is attached is not removed, nor is that forgotten, and it is removed at once when it is detached', async () => {
  await start({ executor: workingNodes() });
  await client.create(VOLUMES, sparseVolume('a', 'n1', '32Mi'));
  await hasReason('a', 'Available');
  await attach('a', [entry]);
  await client.delete(VOLUMES, 'a');
  await until('it waits', 10_000, async () =>
    (await readyOf('a'))?.message === 'is still attached on n1' ? true : undefined,
  );
  expect((await client.get<Volume>(VOLUMES, 'a')).status?.attachments).toEqual([entry]);
  await attach('a', []);
  // It would look again by itself in ten seconds.
  await until('it is gone', 5000, async () =>
    (await client.list(VOLUMES)).items.length === 0 ? true : undefined,
  );
}, 40_000);

test.each([
  [true, 'Attaching', 'it is being attached'],
  [false, 'AttachmentDisabled', 'start stowage watch with it'],
])(
  'a device that went away is not attached by Volumes (attachment runs: %s): they say %s, and are Available when it is back',
  async (attachment, reason, message) => {
    let isAway = false;
    const nodes = workingNodes();
    const executor: Executor = {
      ...nodes,
      async observe(node, probes) {
        const seen = new Map(await nodes.observe(node, probes));
        if (isAway) seen.set('loops', result(0, '{"loopdevices": []}')).set('link', missing);
        return seen;
      },
    };
    await start({ executor, attachment });
    await client.create(VOLUMES, sparseVolume('a', 'n1', '32Mi'));
    await hasReason('a', 'Available');
    expect((await client.get<Volume>(VOLUMES, 'a')).status?.deviceName).toBe('loop0');
    const before = nodes.started;
    isAway = true;
    await client.patch(VOLUMES, 'a', { spec: { onDelete: 'Delete' } });
    await hasReason('a', reason);
    expect((await readyOf('a'))?.message).toContain(message);
    expect((await client.get<Volume>(VOLUMES, 'a')).status).not.toHaveProperty('deviceName');
    expect(nodes.started).toBe(before);
    isAway = false;
    // By itself it would look again in half a minute.
    await attach('a', [entry]);
    await hasReason('a', 'Available');
    expect((await client.get<Volume>(VOLUMES, 'a')).status?.deviceName).toBe('loop0');
  },
  40_000,
);

test('numbers that others promised on a node are not taken for another loop', async () => {
  const loopNumbers = createLoopNumbers();
  loopNumbers.promise('n1', 'another', 0);
  await start({ executor: workingNodes(), loopNumbers });
  await client.create(VOLUMES, sparseVolume('a', 'n1', '32Mi'));
  await hasReason('a', 'Available');
  expect((await client.get<Volume>(VOLUMES, 'a')).status?.deviceName).toBe('loop1');
}, 40_000);

test('a Volume of nodes that share it is left alone by who does not reach all of them', async () => {
  await start({});
  await client.create(VOLUMES, shared('theirs', ['n1', 'foreign']));
  await client.create(VOLUMES, shared('ours', ['n1', 'n2']));
  await hasReason('ours', 'NodeUnreachable');
  expect((await client.get<Volume>(VOLUMES, 'theirs')).status).toBeUndefined();
  expect((await client.get<Volume>(VOLUMES, 'theirs')).metadata.finalizers).toBeUndefined();
}, 40_000);

test('a job of a Volume of nodes that share it begins where a node answers, and stays there', async () => {
  await start({});
  const setReady = (name: string, status: string) =>
    client.patch(
      NODES,
      name,
      { status: { conditions: [{ type: 'Ready', status }] } },
      { subresource: 'status' },
    );
  for (const [name, status] of [
    ['n1', 'Unknown'],
    ['n2', 'True'],
  ] as const) {
    await client.create<KubeNode>(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name } });
    await setReady(name, status);
    await until(`the daemon knows of ${name}`, 10_000, async () =>
      controller.nodes.get(name)?.status?.conditions?.[0]?.status === status ? true : undefined,
    );
  }
  await client.create(VOLUMES, shared('a', ['n1', 'n2']));
  await hasReason('a', 'NodeUnreachable');
  expect((await client.get<Volume>(VOLUMES, 'a')).status).toMatchObject({
    job: 'PrepareVolume/1',
    jobNode: 'n2',
  });
  controller.asked.length = 0;
  await setReady('n1', 'True');
  await until('it is asked again', 10_000, async () => (controller.asked.length > 0 ? true : undefined));
  expect(controller.asked.filter((call) => !call.endsWith(' n2'))).toEqual([]);

  // Somebody vouches that the machine is off: the job does not run there any more.
  await setReady('n2', 'Unknown');
  const taints = [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }];
  await client.patch(NODES, 'n2', { spec: { taints } });
  await until('another node is asked', 10_000, async () =>
    controller.asked.some((call) => call.endsWith(' n1')) ? true : undefined,
  );
}, 40_000);
