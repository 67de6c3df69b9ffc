import { describe, expect, test } from '@jest/globals';
import { plan } from '../../../src/storage/plan.ts';
import { scriptArgv } from '../../../src/storage/scripts/scripts.ts';
import type { DesiredSparse, ObservedSparse } from '../../../src/storage/types.ts';
import { FILE, loop, loopRow, readyNode, sparseDesired, UID } from '../../support/volume-input.ts';
import { run } from './plan-cases.ts';

const GI = 1n << 30n;
const POINT = `/run/stowage/mounts/${UID}`;
const wanted: DesiredSparse = {
  ...sparseDesired,
  fs: undefined,
  sizeBytes: 2n * GI,
  recorded: true,
};
const block: DesiredSparse = { ...wanted, mode: 'Block' };
const MIB2 = 2n << 20n;
const part = { ...loopRow, name: 'loop3p1', device: '259:1', parent: 'loop3', type: 'part' };
const blockNode: ObservedSparse = {
  ...readyNode,
  signature: { found: 'one', type: 'gpt', uuid: UID },
  file: { type: 'file', sizeBytes: GI + MIB2, inode: '42' },
  loops: [{ ...loop, sizeBytes: GI + MIB2 }],
  devices: [loopRow, part],
  link: '259:1',
};
const long = (node: ObservedSparse, more = 0n): ObservedSparse => ({
  ...node,
  file: { type: 'file', sizeBytes: 2n * GI + more, inode: '42' },
});

const FILE_GROWS = (bytes: bigint) => `truncate -s ${bytes} -- ${FILE}`;
const LOOP = 'losetup -c /dev/loop3';
const UNMOUNT = [`umount -- ${POINT}`, `rmdir -- ${POINT}`];
const grown = (type: string) => [scriptArgv('stowage-grow', '/dev/loop3', UID, type).join(' ')];
const EXT4 = grown('ext4');
const CHECKED = ['e2fsck -f -p /dev/loop3', 'resize2fs /dev/loop3'];
const XFS = grown('xfs');
/** Records of a node that did not provision the volume. */
const UNRECORDED = { intent: undefined, done: undefined };
const FOLDER = 'install -d -m 0700 /var/lib/stowage /var/lib/stowage/volumes';
const DONE = `dd of=/var/lib/stowage/volumes/${UID}.done.new conv=fsync status=none`;
const PARTITION = [
  `sgdisk --move-second-header --delete=1 --new=1:2048:${(2n * GI) / 512n + 2047n} --partition-guid=1:${UID} --disk-guid=${UID} --change-name=1:data1 /dev/loop3`,
  'partx --update --nr 1 /dev/loop3',
];

function commands(desired: DesiredSparse, node: ObservedSparse): unknown {
  const made = plan('attach', desired, node, 5);
  if ('refusal' in made) return made.refusal;
  return made.steps
    .map(({ argv }) => argv.join(' '))
    .filter((command) => !/^(mv|sync) /.test(command));
}
const mounted = (node: ObservedSparse): ObservedSparse => ({
  ...node,
  mounts: new Map([['7:3', ['/pod', POINT]]]),
});
const mountedByUs = (node: ObservedSparse): ObservedSparse => ({
  ...node,
  mounts: new Map([['7:3', [POINT]]]),
});
const unable: ObservedSparse = { ...readyNode, growsMounted: false };
const xfs: ObservedSparse = { ...readyNode, signature: { found: 'one', type: 'xfs', uuid: UID } };

describe('expansion of a file', () => {
  test.each<[string, ObservedSparse, unknown, DesiredSparse?]>([
    ['ext4', readyNode, [FILE_GROWS(2n * GI), LOOP, ...EXT4, DONE]],
    ['xfs', xfs, [FILE_GROWS(2n * GI), LOOP, ...XFS, DONE]],
    ['Block', blockNode, [FILE_GROWS(2n * GI + MIB2), LOOP, ...PARTITION, DONE], block],
    ['the file has grown', long(readyNode), [LOOP, ...EXT4, DONE]],
    [
      'the file of a Block volume has grown',
      long(blockNode, MIB2),
      [LOOP, ...PARTITION, DONE],
      block,
    ],
    ['xfs, interrupted while mounted', mounted(long(xfs)), [LOOP, ...UNMOUNT, ...XFS, DONE]],
    [
      'ext4, interrupted while mounted',
      mounted(long(readyNode)),
      [LOOP, ...UNMOUNT, ...EXT4, DONE],
    ],
    [
      'mounted by a pod',
      { ...long(readyNode), mounts: new Map([['7:3', ['/pod']]]) },
      [LOOP, ...EXT4, DONE],
    ],
    [
      'ext4, without the capability to grow while mounted',
      unable,
      [FILE_GROWS(2n * GI), LOOP, ...CHECKED, DONE],
    ],
    [
      'ext4, without the capability, left mounted',
      mountedByUs(unable),
      [FILE_GROWS(2n * GI), LOOP, ...UNMOUNT, ...CHECKED, DONE],
    ],
    [
      'ext4, without the capability, mounted by a pod',
      mounted(unable),
      [FILE_GROWS(2n * GI), LOOP, ...UNMOUNT, ...EXT4, DONE],
    ],
    ['done', readyNode, [], { ...wanted, sizeBytes: GI }],
    ['done, and still mounted', mounted(readyNode), UNMOUNT, { ...wanted, sizeBytes: GI }],
    ['a size below the current size', readyNode, [], { ...wanted, sizeBytes: GI / 2n }],
    ['a spec without a size', readyNode, [], { ...wanted, sizeBytes: 0n }],
    [
      'an older record without a size',
      { ...long(readyNode), done: { sizeBytes: undefined } },
      [LOOP, ...EXT4, DONE],
    ],
    [
      "MetalK8s's file system",
      { ...readyNode, intent: undefined, done: undefined },
      [FILE_GROWS(2n * GI), LOOP, ...EXT4, FOLDER, DONE],
    ],
    [
      'a partition that another node made',
      { ...blockNode, ...UNRECORDED },
      [FILE_GROWS(2n * GI + MIB2), LOOP, ...PARTITION, FOLDER, DONE],
      { ...block, recordedBytes: GI },
    ],
    [
      'a file system that another node made and partly expanded',
      { ...long(readyNode), ...UNRECORDED },
      [LOOP, ...EXT4, FOLDER, DONE],
      { ...wanted, recordedBytes: GI },
    ],
    [
      'a file system that another node made with the requested size',
      { ...long(readyNode), ...UNRECORDED },
      [],
      { ...wanted, recordedBytes: 2n * GI },
    ],
    ["MetalK8s's partition", { ...blockNode, intent: undefined, done: undefined }, [], block],
    [
      "MetalK8s's partition at its current size",
      { ...blockNode, intent: undefined, done: undefined },
      [],
      { ...block, sizeBytes: GI },
    ],
  ])('plans the remaining commands: %s', (_, node, expected, desired = wanted) => {
    expect(commands(desired, node)).toEqual(expected);
  });

  test.each([
    ['ext4', wanted, readyNode],
    ['Block', block, blockNode],
    ['a file that had grown before a crash', wanted, long(readyNode)],
  ])('syncs the larger file before its content is expanded: %s', (_, desired, node) => {
    const made = plan('attach', desired, node, 5);
    const argvs = 'steps' in made ? made.steps.map(({ argv }) => argv.join(' ')) : [];
    const synced = argvs.indexOf(`sync ${FILE} ${FILE.replace(/\/[^/]*$/, '')}`);
    expect(synced).toBeGreaterThan(-1);
    expect(argvs[synced + 1]).toBe(LOOP);
  });

  test('keeps the volume usable, and records the new size', () => {
    const made = plan('attach', wanted, readyNode, 5);
    expect(made).toMatchObject({ grows: true });
    const texts = 'steps' in made ? made.steps.flatMap(({ stdin }) => stdin ?? []) : [];
    expect(texts).toEqual([`${2n * GI}\n`]);
  });

  test('verifies file, loop device and content before each step', () => {
    const preconditions = (desired: DesiredSparse, node: ObservedSparse) => {
      const made = plan('attach', desired, node, 5);
      return 'steps' in made
        ? made.steps.flatMap(({ argv, preconditions: all }) =>
            all.map((each) => [argv[0], each.expect.stdout]),
          )
        : [];
    };
    expect(preconditions(wanted, readyNode)).toEqual([
      ['truncate', { is: `${GI}|42` }],
      ['losetup', { is: '42' }],
      ['sh', { is: UID }],
    ]);
    expect(preconditions(block, blockNode)).toEqual([
      ['truncate', { is: `${GI + MIB2}|42` }],
      ['losetup', { is: '42' }],
      ['sgdisk', { is: UID }],
      ['sgdisk', { is: '2048' }],
    ]);
  });

  test("leaves MetalK8s's partition usable, and names the obstacle", () => {
    const node = { ...blockNode, intent: undefined, done: undefined };
    expect(plan('attach', block, node, 5)).toEqual({
      steps: [],
      notes: [expect.stringContaining(`how the partition in ${FILE} was created`)],
      reason: expect.objectContaining({ code: 'CannotGrow' }),
    });
  });

  test('begins only once the device is attached and linked', () => {
    expect(commands(wanted, { ...readyNode, loops: [] })).toContainEqual(
      `losetup /dev/loop5 ${FILE}`,
    );
    expect(commands(wanted, { ...readyNode, link: undefined })).toEqual(run('rule', 'trigger'));
  });
});

test('a detach first unmounts what an earlier version left mounted', () => {
  const made = plan('detach', wanted, mounted(readyNode), 5);
  expect('steps' in made && made.steps.map(({ argv }) => argv.join(' '))).toEqual(UNMOUNT);
});
