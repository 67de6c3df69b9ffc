import { expect, test } from '@jest/globals';
import { ATTACHED_NODES_ANNOTATION } from '../../../src/api/names.ts';
import { attachmentsOf } from '../../../src/controllers/attachdetach/attached-nodes-annotation.ts';
import { managedOf } from '../../../src/controllers/attachdetach/desired-state.ts';
import { nextOperation } from '../../../src/controllers/attachdetach/next-operation.ts';
import { restoreState } from '../../../src/controllers/attachdetach/restore-state.ts';
import {
  entry,
  MINUTE,
  NOW,
  notReady,
  pvObject,
  view,
  volumeObject,
  wanted,
} from '../../support/attachment-view.ts';
import { memoryLogger } from '../../support/logger.ts';

/**
 * Returns the restored state of a Volume with these recorded nodes, on the PersistentVolume and in
 * the status.
 */
function atFirst(onPv: string[], inStatus: string[], change: Parameters<typeof volumeObject>) {
  const [spec, status] = change;
  const attachments = attachmentsOf(inStatus.map((node) => entry(node)));
  const pv = pvObject({}, { annotations: { [ATTACHED_NODES_ANNOTATION]: JSON.stringify(onPv) } });
  const logger = memoryLogger();
  const known = restoreState(volumeObject(spec, { attachments, ...status }), pv, [], NOW, logger);
  return { known, nodes: known.entries.map(({ node }) => node), lines: logger.lines };
}

const elsewhere = { prepared: { node: 'n2', paths: ['/srv/u1'], identity: '1:2' } };

test.each<[string, Parameters<typeof volumeObject>, string[]]>([
  ['one node', [], ['n1']],
  ['one node, not provisioned yet', [{}, { prepared: undefined }], ['n1']],
  ['one node, provisioned on another: both are possible', [{}, elsewhere], ['n1', 'n2']],
  ['nodes that share its directory', [{ attachableNodes: ['n1', 'n3'] }], ['n1', 'n3']],
  [
    'nodes that share its directory, provisioned elsewhere',
    [{ attachableNodes: ['n3'] }, elsewhere],
    ['n3'],
  ],
])('a record restores only possible nodes: a Volume of %s', (_, change, nodes) => {
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

test('a record of possible nodes is restored without a warning', () => {
  const known = atFirst(['n1'], ['n2'], [{ attachableNodes: ['n1', 'n2', 'n3'] }]);
  expect(known).toMatchObject({ nodes: ['n1', 'n2'], lines: [] });
});

test('a record on a PersistentVolume that matches only by name is ignored', () => {
  const theirs = pvObject(
    { local: { path: '/dev/disk/by-uuid/theirs' } },
    { ownerReferences: [], annotations: { [ATTACHED_NODES_ANNOTATION]: JSON.stringify(['n1']) } },
  );
  expect(restoreState(volumeObject(), theirs, [], NOW, memoryLogger()).entries).toEqual([]);
});

const of = (...accessModes: string[]) => ({
  attachPolicy: 'OnDemand' as const,
  attachableNodes: ['n1', 'n2', 'n3'],
  template: { spec: { accessModes } },
});

test.each<[string, Parameters<typeof volumeObject>[0], boolean]>([
  ['reader of a ReadOnlyMany Volume', of('ReadOnlyMany'), true],
  ['writer of a ReadWriteOnce Volume', of('ReadWriteOnce'), false],
  ['writer of a Volume with both access modes', of('ReadWriteOnce', 'ReadOnlyMany'), false],
])('a node recorded only on the PersistentVolume is restored as %s', (_, spec, readOnly) => {
  const { known } = atFirst(['n1'], [], [spec]);
  expect(known.entries).toMatchObject([{ node: 'n1', state: 'Uncertain', readOnly }]);
});

test('a node shown as writer stays a writer, even if the Volume is now read-only', () => {
  const { known } = atFirst(['n1', 'n2'], ['n1'], [of('ReadOnlyMany')]);
  expect(known.entries.map(({ node, readOnly }) => [node, readOnly])).toEqual([
    ['n1', false],
    ['n2', true],
  ]);
});

test('a silent reader recorded only on the PersistentVolume does not block other readers', () => {
  const { known } = atFirst(['n1'], [], [of('ReadOnlyMany')]);
  const next = nextOperation(
    view({
      volume: managedOf(known.volume, {
        storageClass: undefined,
        maxWaitForUnmountMs: Number.POSITIVE_INFINITY,
      }),
      entries: known.entries,
      wanted: [wanted('n2', 'p')],
      nodes: { n1: notReady(NOW - 60 * MINUTE) },
      notBefore: { 'verify n1': NOW + MINUTE },
    }),
    NOW,
  );
  expect(next).toMatchObject({ start: { kind: 'attach', node: 'n2' }, blocked: [] });
});
