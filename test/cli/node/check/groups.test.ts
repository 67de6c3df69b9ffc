import { expect, test } from '@jest/globals';
import { groupsOf } from '../../../../src/cli/node/check/facts.ts';
import { groupChecks } from '../../../../src/cli/node/check/groups.ts';
import { result } from '../../../support/fake-executor.ts';
import { group } from '../../../support/lvm-input.ts';
import { volume } from '../../../support/volume-input.ts';
import { check, OK, withProbes } from './checked-node.ts';

test('groupsOf returns each volume group of a node’s Volumes once', () => {
  const onLvm = (nodeName: string, vgName: string) => {
    const { sparseLoopDevice: _, ...spec } = volume().spec;
    return { ...volume(), spec: { ...spec, nodeName, lvmLogicalVolume: { vgName, size: '1Gi' } } };
  };
  const volumes = [
    volume(),
    onLvm('n1', 'a'),
    onLvm('n1', 'b'),
    onLvm('n1', 'a'),
    onLvm('n2', 'c'),
  ];
  expect(groupsOf('n1', volumes)).toEqual(['a', 'b']);
});

test('check node names lvm2 if the node has Volumes on LVM, and not its programs', async () => {
  const { sparseLoopDevice: _, ...spec } = volume().spec;
  const onLvm = { ...volume(), spec: { ...spec, lvmLogicalVolume: { vgName: 'a', size: '1Gi' } } };
  const lacking = result(127, '', 'sh: 1: lvmconfig: not found');
  const node = withProbes(OK, { others: result(0), 'LVM filters': lacking });
  const { problems } = await check(node, { 'volumes/data1': onLvm });
  expect(problems).toEqual([
    {
      check: 'lvm',
      ok: false,
      message: 'missing, for LVM volumes',
      hint: 'Install lvm2 on the node.',
    },
  ]);
});

test.each([
  [[group], true, '3.9Gi free'],
  [[], false, 'is missing, and Volumes are in it'],
  [
    [group, { ...group, uuid: 'B' }],
    false,
    'the node has several volume groups named vg0: abcdef-0000-1111-2222-3333-4444-VGUUID and B',
  ],
  [[{ ...group, partial: true }], false, 'a physical volume of the volume group vg0 is missing'],
])('groupChecks reports the state of a volume group (row %#)', (found, ok, message) => {
  expect(groupChecks(new Map([['vg0', found]]))).toMatchObject([
    { check: 'volume group vg0', ok, message },
  ]);
});
