import { afterEach, expect, test } from '@jest/globals';
import { VOLUMES } from '../../../src/api/resources.ts';
import type { Volume } from '../../../src/api/volume.ts';
import { DEFAULT_ATTACHMENT } from '../../../src/manager/attachment-controller.ts';
import { sparseVolume, startCluster, type TestCluster } from '../../support/cluster.ts';
import { startController, type TestController } from '../../support/controller.ts';
import { until } from '../../support/until.ts';
import { workingNodes } from '../../support/working-nodes.ts';

let cluster: TestCluster;
let controller: TestController;

afterEach(async () => {
  await controller?.stop();
  await cluster?.stop();
});

/**
 * Returns the requests to nodes about the kubelet's directories, from before a Volume's creation
 * until after its deletion.
 */
async function lookedFor(attachment: boolean): Promise<string[]> {
  cluster = await startCluster({ nodes: ['n1'] });
  const { client } = cluster;
  const asked: string[] = [];
  const nodes = workingNodes();
  const executor = {
    ...nodes,
    observe: (...[node, probes]: Parameters<typeof nodes.observe>) => {
      asked.push(...probes.map(({ argv }) => argv.join(' ')));
      return nodes.observe(node, probes);
    },
    submit: (...[node, job, wait]: Parameters<typeof nodes.submit>) => {
      asked.push(...(job.finalProbes ?? []).map(({ argv }) => argv.join(' ')));
      asked.push(
        ...job.steps.flatMap(({ preconditions }) =>
          preconditions.map(({ argv }) => argv.join(' ')),
        ),
      );
      return nodes.submit(node, job, wait);
    },
  };
  controller = await startController(client, {
    executor,
    attachment: attachment && { ...DEFAULT_ATTACHMENT, kubeletRoot: '/data/kubelet' },
    kubeletRoot: '/data/kubelet',
  });
  await client.create(VOLUMES, sparseVolume('data1', 'n1', '64Mi'));
  const phase = async () => (await client.get<Volume>(VOLUMES, 'data1')).status?.phase;
  await until('data1 Available', async () => ((await phase()) === 'Available' ? true : undefined));
  await client.delete(VOLUMES, 'data1');
  await until('data1 gone', async () =>
    (await client.list(VOLUMES)).items.length === 0 ? true : undefined,
  );
  return asked.filter((line) => line.includes('kubelet'));
}

// The rules for sudo, and the allowlists of Salt and the forced command, name one root directory,
// and refuse access to others.
test.each([
  ['attaches', true],
  ['does not attach', false],
])('a daemon that %s uses only the configured kubelet root directory', async (_, attachment) => {
  const lines = await lookedFor(attachment);
  expect(lines).not.toEqual([]);
  expect(lines.filter((line) => !line.includes('/data/kubelet'))).toEqual([]);
});
