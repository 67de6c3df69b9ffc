import { expect, test } from '@jest/globals';
import {
  forceDetachCommand,
  onNode,
  patchSpec,
  recreate,
  retry,
  takeOff,
} from '../../../src/cli/lib/command-line.ts';
import { needsJudgement } from '../../../src/cli/why/needs-judgement.ts';
import { taintCommand } from '../../../src/model/node-death.ts';
import { volumeNamed } from '../../support/volumes.ts';

const volume = volumeNamed('data1');
const shared = { ...volume, spec: { ...volume.spec, attachableNodes: ['n1', 'n2'] } };

test.each<[string, readonly string[]]>([
  ['a force-detach', [forceDetachCommand(volume, 'n1')]],
  ['the out-of-service taint', [forceDetachCommand(shared, 'n1'), taintCommand('n1')]],
  ['deletion and creation with an edit in between', recreate(volume)],
  ['consent to data loss', [patchSpec(volume, { overwrite: 'ext4:1-2' })]],
  [
    'the removal of finalizers',
    [takeOff(['pvc', 'a', '-n', 'b'], ['example.com/x'], ['example.com/x'])],
  ],
  [
    'the release of data to other claims',
    [`kubectl patch pv a --type json -p '[{"op":"remove","path":"/spec/claimRef"}]'`],
  ],
  ['a size to fill in', [patchSpec(volume, { sparseLoopDevice: { size: 'SIZE' } })]],
  ['unmounting', [onNode('n1', 'umount', '/srv/a')]],
])('isByHand is true for %s', (_, run) => {
  expect(needsJudgement(run)).toBe(true);
  expect(needsJudgement(['kubectl get nodes', ...run])).toBe(true);
});

test('isByHand is false for reading, running the daemon, and retrying or expanding a Volume', () => {
  const run = [
    onNode('n1', 'true'),
    'stowage watch',
    ...retry(volume),
    patchSpec(volume, { sparseLoopDevice: { size: '300Mi' } }),
    'kubectl describe pvc a -n b',
  ];
  expect(needsJudgement(run)).toBe(false);
});
