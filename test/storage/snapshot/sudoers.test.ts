import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { execa } from 'execa';
import { sparseProbes } from '../../../src/storage/loopfile/observe.ts';
import { launcherOf, SCRIPTS, scriptArgv } from '../../../src/storage/scripts/scripts.ts';
import { snapshotProbes } from '../../../src/storage/snapshot/observe.ts';
import { otherScript } from '../../support/other-script.ts';
import { COPY, COPY_UID, restored, wantedCopy } from '../../support/snapshot-copy.ts';
import { everyStep } from '../../support/snapshot-plans.ts';
import { commandsOf, may } from '../../support/sudoers.ts';
import { FILE } from '../../support/volume-input.ts';

test('sudoers allows all commands of snapshots and restores', () => {
  const commands = commandsOf(everyStep(3));
  expect(commands.length).toBeGreaterThan(50);
  expect(commands.filter((argv) => !may(argv))).toEqual([]);
});

test('sudoers allows the probes of snapshots and restores', () => {
  const looks = [...snapshotProbes(wantedCopy), ...sparseProbes(restored)].map(({ argv }) => argv);
  expect(looks.filter((argv) => !may(argv))).toEqual([]);
});

const freeze = (...words: string[]) => scriptArgv('stowage-freeze', ...words);
test.each([
  [['sh', '-c', 'id']],
  [
    [
      'sh',
      '-c',
      SCRIPTS['stowage-freeze'],
      'stowage-freeze',
      '/mnt',
      '10',
      FILE,
      `${COPY}.partial`,
      'clone',
    ],
  ],
  [otherScript('stowage-freeze', 'id', '/mnt', '10', FILE, `${COPY}.partial`, 'clone')],
  [
    otherScript(
      'stowage-hold',
      SCRIPTS['stowage-freeze'],
      '/mnt',
      '10',
      FILE,
      `${COPY}.partial`,
      'clone',
    ),
  ],
  [scriptArgv('stowage-ext4-uuid', '/dev/sda1', COPY_UID)],
  [otherScript('stowage-xfs-leave', SCRIPTS['stowage-xfs-uuid'], `${COPY}.partial`)],
  [otherScript('stowage-hold', SCRIPTS['stowage-freeze'])],
  [freeze('/mnt', '10', FILE, '/etc/shadow', 'clone')],
  [freeze('/mnt', '10', '/etc/shadow', `${COPY}.partial`, 'clone')],
  [freeze('/mnt', '10', FILE, `${COPY}.partial`, 'clone', 'x')],
  [freeze('/mnt', '100000', FILE, `${COPY}.partial`, 'clone')],
  [freeze('mnt', '10', FILE, `${COPY}.partial`, 'clone')],
  [freeze('thaw')],
  [freeze('thaw', '/etc/shadow')],
  [freeze('thaw', `${COPY}.partial`, 'x')],
  [['cp', '--reflink=auto', '--sparse=always', '--', '/etc/shadow', `${COPY}.partial`]],
  [['cp', '--reflink=auto', '--sparse=always', '--', COPY, '/etc/shadow']],
  [['cp', '--reflink=auto', '--sparse=always', '--', COPY, FILE]],
  [['mv', '-T', '--', `${COPY}.partial`, '/etc/shadow']],
  [['rm', '-rf', '--', COPY]],
  [['rm', '-f', '--', `${COPY}/../x`]],
  [['sgdisk', `--partition-guid=1:${COPY_UID}`, `--disk-guid=${COPY_UID}`, COPY]],
])('sudoers forbids %j', (argv) => {
  expect(may(argv)).toBe(false);
});

const NAMES = [
  ['stowage-freeze', SCRIPTS['stowage-freeze']],
  ['stowage-ext4-uuid', SCRIPTS['stowage-ext4-uuid']],
  ['stowage-xfs-uuid', SCRIPTS['stowage-xfs-uuid']],
  ['stowage-thin', SCRIPTS['stowage-thin']],
  ['stowage-lvm-uuid', SCRIPTS['stowage-lvm-uuid']],
  ['stowage-image', SCRIPTS['stowage-image']],
  ['stowage-archive', SCRIPTS['stowage-archive']],
  ['stowage-backup', SCRIPTS['stowage-backup']],
  ['stowage-grow', SCRIPTS['stowage-grow']],
] as const;

/**
 * sudo compares the arguments joined by spaces: the same text could be split differently, so that
 * only a part of it runs.
 */
test.each(NAMES)(
  'the launcher of %s runs no part of itself and no other script',
  async (name, script) => {
    const launcher = launcherOf(name, script);
    const words = launcher.slice(0, launcher.lastIndexOf(' run "$@"')).split(' ');
    const parts = words.slice(1).map((_word, index) => words.slice(0, index + 1).join(' '));
    const each = 'for part; do ! sh -n -c "$part" 2>/dev/null || printf "%s" "$part"; done';
    expect((await execa('sh', ['-c', each, 'sh', ...parts])).stdout).toBe('');
    for (const other of ['echo ran', `${script} `, script.slice(1), '']) {
      const ended = await execa('sh', ['-c', launcher, name, other, 'x'], { reject: false });
      expect(ended).toMatchObject({ exitCode: 2, stdout: '', stderr: '' });
    }
    // sudo 1.9.13 refuses longer patterns without a message.
    const patterns =
      readFileSync('deploy/sudoers', 'utf8').match(/\/usr\/\S+ \^.*?\$(?=,|$)/gm) ?? [];
    expect(patterns.length).toBeGreaterThan(100);
    expect(patterns.filter((each) => each.slice(each.indexOf('^')).length > 1024)).toEqual([]);
  },
);

test('sudoers allows exactly the scripts that Stowage runs', () => {
  const texts = new Map<string, string>([...NAMES, ['stowage-adopt', SCRIPTS['stowage-adopt']]]);
  const lines = readFileSync('deploy/sudoers', 'utf8').matchAll(
    /= ([0-9a-f]{64}) .*?" (stowage-[a-z0-9-]+) /g,
  );
  const allowed = [...lines].map(([, hash, name = '']) => ({ name, hash }));
  expect(allowed.length).toBeGreaterThan(8);
  expect(allowed).toEqual(
    allowed.map(({ name }) => ({
      name,
      hash: createHash('sha256')
        .update(texts.get(name) ?? '')
        .digest('hex'),
    })),
  );
});

const image = (place: number, ...words: string[]): string[] => {
  const all = [
    `/x/${COPY_UID}.partial`,
    COPY_UID,
    'block',
    '0',
    '1',
    'zeroes',
    'raw',
    'none',
    '-',
    'http://a',
  ];
  return all.toSpliced(place, 1, ...words);
};
const archive = (place: number, ...words: string[]): string[] => {
  const all = [
    `/x/${COPY_UID}.partial`,
    COPY_UID,
    'ext4',
    '0',
    '1',
    'zeroes',
    'none',
    'plain',
    '-',
    '/a',
  ];
  return all.toSpliced(place, 1, ...words);
};
const backup = (place: number, ...words: string[]): string[] => {
  const all = [`/x/snapshots/${COPY_UID}`, COPY_UID, 'ext4', '0', '0', '/to/a'];
  return all.toSpliced(place, 1, ...words);
};
const PARTIAL = '/x/y.partial';
const SOURCE = '/x/y';
test.each([
  [0, ['/m', '10', SOURCE, PARTIAL, 'clone', 'more']],
  [0, ['/m', '10', SOURCE, PARTIAL]],
  [0, ['/m', '10', SOURCE, PARTIAL, 'rm']],
  [0, ['m', '10', SOURCE, PARTIAL, 'clone']],
  [0, ['/m', 'ten', SOURCE, PARTIAL, 'clone']],
  [0, ['/m', '', SOURCE, PARTIAL, 'clone']],
  [0, ['/m', '10', 'x/y', PARTIAL, 'clone']],
  [0, ['/m', '10', SOURCE, 'y.partial', 'clone']],
  [0, ['/m', '10', SOURCE, '/x/y', 'clone']],
  [0, ['/m /n', '10', SOURCE, PARTIAL, 'clone']],
  [0, ['/m', '10', `${SOURCE} /z`, PARTIAL, 'clone']],
  [0, ['/m', '10', SOURCE, `/z ${PARTIAL}`, 'clone']],
  [0, ['thaw']],
  [0, ['thaw', 'y.partial']],
  [0, ['thaw', '/x/y']],
  [0, ['thaw', `/z ${PARTIAL}`]],
  [0, ['thaw /z', PARTIAL]],
  [0, ['thaw', PARTIAL, 'more']],
  [0, []],
  [1, [PARTIAL, COPY_UID, 'more']],
  [1, [PARTIAL, COPY_UID, 'grow', 'more']],
  [1, ['/z/y.partial', COPY_UID, '', '', PARTIAL, COPY_UID]],
  [1, [PARTIAL]],
  [1, ['/dev/sda1', COPY_UID]],
  [1, ['y.partial', COPY_UID]],
  [1, [`/z ${PARTIAL}`, COPY_UID]],
  [1, [PARTIAL, 'clear']],
  [2, [PARTIAL, COPY_UID, 'more']],
  [2, ['/z/y.partial', COPY_UID, '', '', PARTIAL, COPY_UID]],
  [2, [PARTIAL]],
  [2, ['/dev/sda1', COPY_UID]],
  [2, [`/z ${PARTIAL}`, COPY_UID]],
  [2, [PARTIAL, '/x']],
  [3, ['vg0/a', COPY_UID, 'b', COPY_UID, 'r', 'more']],
  [3, ['vg1/a', COPY_UID, 'b', COPY_UID, 'r', '', 'vg0/a', COPY_UID, 'b', COPY_UID, 'r']],
  [3, ['vg0/a', COPY_UID, 'b', COPY_UID, 'x']],
  [3, ['vg0/a', COPY_UID, 'b', COPY_UID]],
  [3, ['vg0/a', COPY_UID, '-b', COPY_UID, 'r']],
  [3, ['vg0/a', COPY_UID, '', COPY_UID, 'r']],
  [3, ['vg0/a', COPY_UID, 'b --yes', COPY_UID, 'r']],
  [3, ['vg0/a', 'x}||lv_name=a', 'b', COPY_UID, 'r']],
  [3, ['vg0/a', COPY_UID, 'b', '', 'r']],
  [3, ['-x/a', COPY_UID, 'b', COPY_UID, 'r']],
  [3, ['vg0/-a', COPY_UID, 'b', COPY_UID, 'r']],
  [3, ['/dev/vg0/a', COPY_UID, 'b', COPY_UID, 'r']],
  [3, ['vg0', COPY_UID, 'b', COPY_UID, 'r']],
  [4, ['vg0/a', COPY_UID, 'leave', 'more']],
  [4, ['vg1/a', COPY_UID, '', '', 'vg0/a', COPY_UID]],
  [4, ['vg0/a', COPY_UID, 'grow']],
  [4, ['vg0/a', 'x}||lv_name=a']],
  [4, ['vg0/a']],
  [4, ['vg0/a b', COPY_UID]],
  [4, ['/dev/sda', COPY_UID]],
  [5, image(9)],
  [5, image(9, 'http://a', 'more')],
  [5, image(9, 'http://a b')],
  [5, image(9, '')],
  [5, image(8, 'A')],
  [5, image(7, 'lz4')],
  [5, image(6, 'vmdk')],
  [5, image(5, 'clean')],
  [5, image(4, '-1')],
  [5, image(3, '010')],
  [5, image(3, '99999999999999999999')],
  [5, image(2, 'vfat')],
  [5, image(1, 'x/y')],
  [5, image(0, '/etc/shadow')],
  [5, image(0, '/x/other.partial')],
  [5, image(0, `/x/../${COPY_UID}.partial`)],
  [5, image(0, `/x,y/${COPY_UID}.partial`)],
  [5, image(0, `x/${COPY_UID}.partial`)],
  [5, image(0, '/dev/sda')],
  [5, image(0, '/dev/mapper/a/b')],
  [5, []],
  [6, archive(9)],
  [6, archive(9, '/a', 'more')],
  [6, archive(9, '/a b')],
  [6, archive(9, '')],
  [6, archive(8, 'A')],
  [6, archive(7, 'all')],
  [6, archive(7, 'plain,devices')],
  [6, archive(6, 'lz4')],
  [6, archive(2, 'block')],
  [6, archive(1, '..')],
  [6, archive(0, '/etc/shadow')],
  [6, archive(0, `/x/../${COPY_UID}.partial`)],
  [6, []],
  [7, backup(5)],
  [7, backup(5, '/to/a', 'more')],
  [7, backup(5, '/to/a b')],
  [7, backup(5, '/to/')],
  [7, backup(5, 'to/a')],
  [7, backup(5, 'ftp://a/b')],
  [7, backup(4, 'x')],
  [7, backup(3, '-1')],
  [7, backup(2, 'vfat')],
  [7, backup(1, '../x')],
  [7, backup(0, '/etc/shadow')],
  [7, backup(0, `/x/snapshots/../${COPY_UID}`)],
  [7, ['leave', COPY_UID]],
  [7, ['leave', '../x', '/to/a']],
  [7, ['leave', COPY_UID, 'x']],
  [7, ['cancel', '../x']],
  [7, ['cancel', COPY_UID, '/to/a']],
  [7, []],
  [8, ['/dev/loop7', COPY_UID, 'ext4', 'more']],
  [8, ['/dev/loop7', COPY_UID, 'vfat']],
  [8, ['/dev/loop7', '../x', 'ext4']],
  [8, ['/dev/loop7', '', 'ext4']],
  [8, ['/dev/loop7/../sda', COPY_UID, 'ext4']],
  [8, ['/dev/loop7/x', COPY_UID, 'ext4']],
  [8, ['/dev/loop7 -o', COPY_UID, 'ext4']],
  [8, ['/dev/sda', COPY_UID, 'ext4']],
  [8, ['/etc/shadow', COPY_UID, 'xfs']],
  [8, []],
])('a script rejects unexpected arguments: %i %j', async (which, words) => {
  const [name, script] = NAMES[which] as (typeof NAMES)[number];
  const path = { env: { PATH: '' }, extendEnv: false };
  const ended = await execa('/bin/sh', ['-c', script, name, ...words], { ...path, reject: false });
  expect(ended).toMatchObject({ exitCode: 2, stderr: '' });
});
