import { expect, test } from '@jest/globals';
import { execa } from 'execa';
import { FREEZE_SCRIPT } from '../../../src/storage/snapshot/freeze-script.ts';
import { EXT4_SCRIPT, XFS_SCRIPT } from '../../../src/storage/snapshot/identity-scripts.ts';
import { snapshotProbes } from '../../../src/storage/snapshot/observe.ts';
import { sparseProbes } from '../../../src/storage/sparse/observe.ts';
import { COPY, COPY_UID, restored, wantedCopy } from '../../support/snapshot-copy.ts';
import { everyStep } from '../../support/snapshot-plans.ts';
import { commandsOf, may } from '../../support/sudoers.ts';
import { FILE } from '../../support/volume-input.ts';

test('the account on a node may do what snapshots and restores take', () => {
  const commands = commandsOf(everyStep(3));
  expect(commands.length).toBeGreaterThan(50);
  expect(commands.filter((argv) => !may(argv))).toEqual([]);
});

test('and look', () => {
  const looks = [...snapshotProbes(wantedCopy), ...sparseProbes(restored)].map(({ argv }) => argv);
  expect(looks.filter((argv) => !may(argv))).toEqual([]);
});

const freeze = (...words: string[]) => ['sh', '-c', FREEZE_SCRIPT, 'stowage-freeze', ...words];
test.each([
  [['sh', '-c', 'id']],
  [['sh', '-c', `${FREEZE_SCRIPT}; id`, 'stowage-freeze', '/mnt', '10', FILE, `${COPY}.partial`, 'clone']],
  [['sh', '-c', EXT4_SCRIPT, 'stowage-ext4-uuid', '/dev/sda1', COPY_UID]],
  [['sh', '-c', XFS_SCRIPT, 'stowage-xfs-leave', `${COPY}.partial`]],
  [['sh', '-c', FREEZE_SCRIPT, 'stowage-hold']],
  [freeze('/mnt', '10', FILE, '/etc/shadow', 'clone')],
  [freeze('/mnt', '10', '/etc/shadow', `${COPY}.partial`, 'clone')],
  [freeze('/mnt', '10', FILE, `${COPY}.partial`, 'clone', 'x')],
  [freeze('/mnt', '100000', FILE, `${COPY}.partial`, 'clone')],
  [freeze('mnt', '10', FILE, `${COPY}.partial`, 'clone')],
  [['cp', '--reflink=auto', '--sparse=always', '--', '/etc/shadow', `${COPY}.partial`]],
  [['cp', '--reflink=auto', '--sparse=always', '--', COPY, '/etc/shadow']],
  [['cp', '--reflink=auto', '--sparse=always', '--', COPY, FILE]],
  [['mv', '-T', '--', `${COPY}.partial`, '/etc/shadow']],
  [['rm', '-rf', '--', COPY]],
  [['rm', '-f', '--', `${COPY}/../x`]],
  [['sgdisk', `--partition-guid=1:${COPY_UID}`, `--disk-guid=${COPY_UID}`, COPY]],
])('it may not run %j', (argv) => {
  expect(may(argv)).toBe(false);
});

/** sudo compares the arguments joined by spaces: the same text could be divided otherwise, and only a part of it run. */
test.each([
  ['freezing', FREEZE_SCRIPT],
  ['ext4', EXT4_SCRIPT],
  ['xfs', XFS_SCRIPT],
])('no part of the script of %s does anything', async (_, script) => {
  const words = script.slice(0, script.lastIndexOf(' run "$@"')).split(' ');
  expect(words.length).toBeGreaterThan(20);
  const parts = words.slice(1).map((_word, index) => words.slice(0, index + 1).join(' '));
  const each = 'for part; do ! sh -n -c "$part" 2>/dev/null || printf "%s" "$part"; done';
  expect((await execa('sh', ['-c', each, 'sh', ...parts])).stdout).toBe('');
  // With a name that it does not know.
  const more = await execa('sh', ['-c', `${script} stowage-freeze`, '/mnt', '10', FILE], { reject: false });
  expect(`${more.stdout}${more.stderr}`).toBe('');
});
