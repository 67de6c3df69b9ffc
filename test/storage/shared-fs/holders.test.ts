import { expect, test } from '@jest/globals';
import type { Observed } from '../../../src/storage/registry.ts';
import { holdersBeside } from '../../../src/storage/shared-fs/holders.ts';
import type { NodeHold, ObservedShared } from '../../../src/storage/shared-fs/types.ts';
import { NFS } from '../../support/fake-shared.ts';
import { disk, rawNode } from '../../support/raw-input.ts';
import { madeNode } from '../../support/volume-input.ts';

const by = (node: string): NodeHold => ({ node, bootId: 'boot', token: `of-${node}` });
const owner = (number: number, is: 'held' | 'free', node: string) =>
  ({ number, state: { is, by: by(node) }, text: '', since: undefined }) as const;
const mark = (node: string) => ({ path: '', node, by: by(node) });
const seen = (more: Partial<ObservedShared>): Observed => ({
  ...madeNode,
  shared: { bootId: 'boot', mount: NFS, owners: [], marks: [], unfinished: [], ...more },
});

test.each<[string, Observed, string[]]>([
  ['a node that holds the file', seen({ owners: [owner(4, 'held', 'n2')] }), ['n2']],
  ['a node that reads the file', seen({ marks: [mark('n2')] }), ['n2']],
  [
    'a holder and readers',
    seen({ owners: [owner(4, 'held', 'n2')], marks: [mark('n1'), mark('n3'), mark('n4')] }),
    ['n2', 'n3', 'n4'],
  ],
  ['no node that released the file', seen({ owners: [owner(4, 'free', 'n2')] }), []],
  ['not the node itself', seen({ owners: [owner(4, 'held', 'n1')], marks: [mark('n1')] }), []],
  [
    'none from an unreadable owner file or mark',
    seen({
      owners: [{ number: 4, state: { is: 'unreadable' }, text: 'x', since: undefined }],
      marks: [{ ...mark('n2'), by: undefined }],
    }),
    [],
  ],
  ['none for a file that is not shared', madeNode, []],
  ['none for a disk', rawNode(disk), []],
])('the holders other than n1 are %s', (_, observed, nodes) => {
  expect(holdersBeside('n1', observed)).toEqual(nodes.map(by));
});
