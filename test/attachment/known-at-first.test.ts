import { expect, test } from '@jest/globals';
import { ATTACHED_NODES_ANNOTATION } from '../../src/api/names.ts';
import { knownAtFirst } from '../../src/attachment/known-at-first.ts';
import { attachmentsOf } from '../../src/attachment/record.ts';
import { entry, NOW, pvObject, volumeObject } from '../support/attachment-view.ts';
import { memoryLogger } from '../support/logger.ts';

/** What is known of a Volume with these nodes in its record, on the PersistentVolume and in the status each. */
function atFirst(onPv: string[], inStatus: string[], change: Parameters<typeof volumeObject>) {
  const [spec, status] = change;
  const attachments = attachmentsOf(inStatus.map((node) => entry(node)));
  const pv = pvObject({}, { annotations: { [ATTACHED_NODES_ANNOTATION]: JSON.stringify(onPv) } });
  const logger = memoryLogger();
  const known = knownAtFirst(volumeObject(spec, { attachments, ...status }), pv, [], NOW, logger);
  return { nodes: known.entries.map(({ node }) => node), lines: logger.lines };
}

const elsewhere = { prepared: { node: 'n2', paths: ['/srv/u1'], identity: '1:2' } };

test.each<[string, Parameters<typeof volumeObject>, string[]]>([
  ['one node, where it was made and is to be', [], ['n1']],
  ['one node, when it was not made yet', [{}, { prepared: undefined }], ['n1']],
  ['one node, which was made on another than its spec says: either', [{}, elsewhere], ['n1', 'n2']],
  ['nodes that share its directory', [{ attachableNodes: ['n1', 'n3'] }], ['n1', 'n3']],
  ['nodes that share its directory, wherever it was made', [{ attachableNodes: ['n3'] }, elsewhere], ['n3']],
])('of a record, what counts is of a Volume of %s', (_, change, nodes) => {
  const all = ['n1', 'n2', 'n3'];
  const others = all.filter((node) => !nodes.includes(node));
  const warning = { level: 'warn', fields: { volume: 'v1', nodes: others } };
  for (const [onPv, inStatus] of [
    [all, []],
    [[], all],
  ]) {
    const known = atFirst(onPv ?? [], inStatus ?? [], change);
    expect(known.nodes).toEqual(nodes);
    expect(known.lines).toMatchObject([warning]);
  }
});

test('a record of nodes that it can be on is taken without a word', () => {
  const known = atFirst(['n1'], ['n2'], [{ attachableNodes: ['n1', 'n2', 'n3'] }]);
  expect(known).toEqual({ nodes: ['n1', 'n2'], lines: [] });
});
