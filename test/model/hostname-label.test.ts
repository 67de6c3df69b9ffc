import { describe, expect, test } from '@jest/globals';
import type { KubeNode } from '../../src/api/core.ts';
import { labelsSelecting } from '../../src/model/hostname-label.ts';
import { nodeNamed } from '../support/cluster-objects.ts';

const LONG = `n1.${'x'.repeat(70)}.example.com`;

/** Returns a Node; without `hostname`, it has no such label. */
const node = (name: string, hostname?: string): KubeNode => ({
  ...nodeNamed(name),
  metadata: { name, ...(hostname && { labels: { 'kubernetes.io/hostname': hostname } }) },
});

describe('an affinity', () => {
  test.each<[string, string[], KubeNode[], string[]]>([
    ['the label of the node', ['n1.example.com'], [node('n1.example.com', 'n1')], ['n1']],
    ['the label of a node with a long name', [LONG], [node(LONG, 'short')], ['short']],
    [
      'the labels of all nodes',
      ['n1', 'n2', 'n3'],
      [node('n1', 'h1'), node('n2', 'h2'), node('n3', 'h1'), node('n4', 'n4')],
      ['h1', 'h2'],
    ],
    [
      'a label that is the name of a node with another label',
      ['n1'],
      [node('n1', 'n2'), node('n2', 'h2')],
      ['n2'],
    ],
  ])('selects %s', (_, names, nodes, labels) => {
    expect(labelsSelecting(names, nodes)).toEqual({ labels });
  });

  test.each<[string, string[], KubeNode[], object]>([
    ['the Node exists', ['n1'], [node('n2', 'n2')], { node: 'n1' }],
    ['the Node has the label', ['n1'], [node('n1')], { node: 'n1' }],
    ['each Node exists', ['n1', 'n2'], [node('n1', 'n1')], { node: 'n2' }],
  ])('waits until %s: HostnameLabelMissing', (_, names, nodes, parameters) => {
    expect(labelsSelecting(names, nodes)).toMatchObject({
      problem: { detail: { code: 'HostnameLabelMissing', parameters } },
    });
  });

  test.each<[string, KubeNode]>([
    ['has the label', node('other', 'n1')],
    ['without a label has it as its name', node('h1')],
  ])('waits while another Node %s: HostnameLabelShared', (_, other) => {
    const label = other.metadata.labels?.['kubernetes.io/hostname'] ?? other.metadata.name;
    const nodes = [other, node('n0', label), node('n2', 'n2')];
    expect(labelsSelecting(['n0', 'n2'], nodes)).toMatchObject({
      problem: {
        detail: {
          code: 'HostnameLabelShared',
          parameters: { node: 'n0', other: other.metadata.name, label },
        },
      },
    });
  });
});
