import { describe, expect, test } from '@jest/globals';
import type { KubeNode } from '../../../src/api/core.ts';
import type { KubeObject } from '../../../src/api/meta.ts';
import { explain as explained } from '../../../src/api/reasons.ts';
import type { Volume } from '../../../src/api/volume.ts';
import type { ReadClient } from '../../../src/cli/lib/objects/related.ts';
import { selectedHostnames } from '../../../src/cli/why/placement.ts';
import { readFacts } from '../../../src/cli/why/read.ts';
import { ApiError } from '../../../src/kube/errors.ts';
import { ago, nodeNamed } from '../../support/cluster-objects.ts';
import { onNode } from '../../support/volumes.ts';
import { ABSENT, available, explain, found, pv, ready, volume } from './volume-diagnosis.ts';

const NAME = 'n1.example.com';

const labeled = (name: string, hostname?: string): KubeNode => ({
  ...nodeNamed(name, { ready: 'True', since: ago(900) }),
  metadata: { name, ...(hostname && { labels: { 'kubernetes.io/hostname': hostname } }) },
});
const selecting = (nodeAffinity: unknown) => {
  const object = pv('Available').found;
  return { ...object, spec: { ...object.spec, nodeAffinity } };
};
const several = {
  required: {
    nodeSelectorTerms: [
      {
        matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['h1', 'h2'] }],
      },
    ],
  },
};

const refusal = (code: number, reason: string) =>
  new ApiError({ apiVersion: 'v1', kind: 'Status', status: 'Failure', reason }, code, 'GET');

/** Returns a client of a cluster with these Nodes. `asked` gets the selectors of its lists. */
function client(nodes: KubeNode[], own: KubeObject, mayList: boolean, asked: string[]): ReadClient {
  return {
    get: async ({ kind }: { kind: string }, name: string) => {
      const objects: KubeObject[] =
        kind === 'Node' ? nodes : kind === 'PersistentVolume' ? [own] : [];
      const object = objects.find(({ metadata }) => metadata.name === name);
      if (object === undefined) throw refusal(404, 'NotFound');
      return object;
    },
    list: async (_: unknown, { labelSelector = '' } = {}) => {
      asked.push(labelSelector);
      if (!mayList) throw refusal(403, 'Forbidden');
      const [key = '', value] = labelSelector.split('=');
      return {
        items: nodes.filter(({ metadata }) => metadata.labels?.[key] === value),
        metadata: {},
      };
    },
  } as unknown as ReadClient;
}

interface Given {
  nodes: KubeNode[];
  affinity: unknown;
  attachableNodes?: string[];
  mayList?: boolean;
  it?: Volume;
}

async function why({ nodes, affinity, attachableNodes, mayList = true, it }: Given) {
  const shared = attachableNodes && { attachableNodes };
  const given = it ?? volume(available.status, { spec: { nodeName: NAME, ...shared } });
  const asked: string[] = [];
  const facts = await readFacts(
    client(nodes, selecting(affinity), mayList, asked),
    given,
    AbortSignal.timeout(10_000),
  );
  return { diagnosis: explain(given, facts), asked };
}

describe('why volume, of a PersistentVolume whose affinity', () => {
  test.each<[string, Given, object]>([
    [
      'selects another label than that of the node',
      { nodes: [labeled(NAME, 'n1')], affinity: onNode(NAME) },
      {
        cause: 'HostnameLabelDiffers',
        holdup:
          'no pod fits PersistentVolume data1: it selects the label kubernetes.io/hostname n1.example.com, and node n1.example.com has n1',
        fix: { say: expect.stringContaining('--node-labels of its kubelet') },
      },
    ],
    [
      'selects a node without the label',
      { nodes: [labeled(NAME)], affinity: onNode(NAME) },
      { cause: 'HostnameLabelDiffers', holdup: expect.stringMatching(/ has none$/) },
    ],
    [
      'does not select one of several nodes',
      {
        nodes: [labeled(NAME, 'h1'), labeled('n2', 'n2')],
        ...{ affinity: several, attachableNodes: [NAME, 'n2'] },
      },
      {
        cause: 'HostnameLabelDiffers',
        holdup: expect.stringContaining('no pod on node n2 fits PersistentVolume data1'),
      },
    ],
    [
      'selects another node, too',
      { nodes: [labeled(NAME, 'n1'), labeled('n2', 'n1')], affinity: onNode('n1') },
      {
        cause: 'HostnameLabelShared',
        holdup:
          'PersistentVolume data1 leads pods to n2, where the data is not: it selects the label kubernetes.io/hostname n1, and only n1.example.com can have the volume',
        fix: { say: expect.stringContaining('Correct the label of n2 by --hostname-override') },
      },
    ],
    [
      'selects another node only',
      { nodes: [labeled(NAME, 'n1'), labeled('n2', NAME)], affinity: onNode(NAME) },
      { cause: 'HostnameLabelShared' },
    ],
    [
      'selects a third node, beside several',
      {
        nodes: [labeled(NAME, 'h1'), labeled('n2', 'h2'), labeled('n3', 'h2')],
        ...{ affinity: several, attachableNodes: [NAME, 'n2'] },
      },
      { cause: 'HostnameLabelShared', holdup: expect.stringContaining('leads pods to n3') },
    ],
  ])('%s', async (_, given, expected) => {
    expect((await why(given)).diagnosis).toMatchObject(expected);
  });

  test.each<[string, Given]>([
    ['selects the node', { nodes: [labeled(NAME, 'n1')], affinity: onNode('n1') }],
    [
      'selects several nodes',
      {
        nodes: [labeled(NAME, 'h1'), labeled('n2', 'h2')],
        ...{ affinity: several, attachableNodes: [NAME, 'n2'] },
      },
    ],
    [
      'selects a node that is gone, beside others',
      { nodes: [labeled(NAME, 'h1')], affinity: several, attachableNodes: [NAME, 'n2'] },
    ],
    [
      'selects by other labels',
      {
        nodes: [labeled(NAME, 'n1')],
        affinity: { required: { nodeSelectorTerms: [{ matchExpressions: null }, {}] } },
      },
    ],
    [
      'may not be compared with other nodes',
      { nodes: [labeled(NAME, 'n1')], affinity: onNode('x'), mayList: false },
    ],
  ])('%s: nothing', async (_, given) => {
    expect((await why(given)).diagnosis).toHaveProperty('nothing');
  });

  test('selects by text that is no label: it gets into no request', async () => {
    const affinity = onNode('n1,other=x');
    expect(selectedHostnames(selecting(affinity))).toEqual([]);
    const { diagnosis, asked } = await why({ nodes: [labeled(NAME, 'n1')], affinity });
    expect(diagnosis).toHaveProperty('nothing');
    expect(asked).toEqual([]);
  });
});

test('lists no nodes for a Volume that is not Available', async () => {
  const it = volume({ phase: 'Pending', ...ready('Unknown', 'Pending', 'x') });
  expect(await why({ nodes: [], affinity: onNode('n1'), it })).toMatchObject({ asked: [] });
});

describe('why volume, of a Volume whose PersistentVolume is held back', () => {
  test.each([
    [explained('HostnameLabelMissing', { node: NAME }), 'Start the kubelet of n1.example.com'],
    [
      explained('HostnameLabelShared', { node: NAME, other: 'n2', label: 'n1' }),
      'Correct the label of the wrong node by --hostname-override or --node-labels',
    ],
  ])('%j', (why, say) => {
    const it = volume({
      ...{ phase: 'Pending', job: 'PrepareVolume/DONE' },
      ...ready('Unknown', 'Pending', why),
    });
    expect(explain(it, { pv: ABSENT, node: found(labeled(NAME, 'n1')) })).toMatchObject({
      cause: why.detail?.code,
      holdup: expect.stringContaining('it has no PersistentVolume: '),
      fix: { say: expect.stringContaining(say) },
    });
  });
});
