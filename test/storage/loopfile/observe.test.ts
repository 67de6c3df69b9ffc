import { describe, expect, test } from '@jest/globals';
import { refuse } from '../../../src/api/reasons.ts';
import type { ProbeResult } from '../../../src/nodes/job.ts';
import { readSparse, sparseProbes } from '../../../src/storage/loopfile/observe.ts';
import { ObservationError } from '../../../src/storage/probe-results.ts';
import { FRESH, MADE, MOUNTINFO, missing, PLACE, result } from '../../support/sparse-answers.ts';
import { FILE, freshNode, madeNode, readyNode, UID } from '../../support/volume-input.ts';

const READY: Record<string, ProbeResult> = {
  ...MADE,
  loops: result(
    0,
    JSON.stringify({
      loopdevices: [
        {
          name: '/dev/loop3',
          'back-file': FILE,
          'back-ino': 42,
          'maj:min': ' 7:3 ',
          autoclear: false,
          ro: false,
          offset: 0,
          sizelimit: 0,
        },
      ],
    }),
  ),
  link: result(0, '7:3'),
};

const read = (results: Record<string, ProbeResult>) =>
  readSparse(PLACE, new Map(Object.entries(results)));

test('the test data answers every probe', () => {
  expect(Object.keys(FRESH).sort()).toEqual(
    sparseProbes(PLACE)
      .map(({ name }) => name)
      .sort(),
  );
});

describe('readSparse', () => {
  test('reads a fresh node', () => expect(read(FRESH)).toEqual(freshNode));
  test('reads a created file', () => expect(read(MADE)).toEqual(madeNode));
  test('reads an attached device', () => expect(read(READY)).toEqual(readyNode));

  test.each([
    [
      'an empty file',
      { file: result(0, 'regular empty file|0|42|0|512') },
      { file: { type: 'file', sizeBytes: 0n, inode: '42' }, space: freshNode.space },
    ],
    [
      'a directory',
      { file: result(0, 'directory|4096|42|2048|512') },
      { file: { type: 'other' }, signature: { found: 'none' } },
    ],
    [
      'a symbolic link',
      { file: result(0, 'symbolic link|9|42|2048|512') },
      { file: { type: 'other' }, signature: { found: 'none' } },
    ],
    [
      'a partial file',
      { partial: result(0, 'regular file|8192|7|16|512') },
      {
        partial: { type: 'file', sizeBytes: 8192n, inode: '7' },
        space: { ...madeNode.space, allocatedBytes: 8192n + (1n << 20n) },
      },
    ],
    [
      'a root without CAP_SYS_RESOURCE',
      {
        capabilities: result(
          0,
          'CapInh:\t0000000000000000\nCapEff:\t000001fffeffffff\nSeccomp:\t0\n',
        ),
      },
      { growsMounted: false },
    ],
    [
      'a kernel that does not report capabilities',
      { capabilities: result(0, 'Name:\tcat\n') },
      { growsMounted: true },
    ],
    [
      'a directory that is missing',
      { free: missing },
      { space: { ...madeNode.space, freeBytes: undefined } },
    ],
    [
      'a file system that does not report free space',
      { free: result(0, '?|4096') },
      { space: { ...madeNode.space, freeBytes: undefined } },
    ],
    ['no signature', { signature: result(2) }, { signature: { found: 'none' } }],
    [
      'an ambivalent signature',
      { signature: result(8, '', 'ambivalent result') },
      { signature: { found: 'ambivalent' } },
    ],
    [
      'a partition table',
      { signature: result(0, 'PTUUID=1\nPTTYPE=gpt') },
      { signature: { found: 'one', type: 'gpt', uuid: '1' } },
    ],
    [
      'an unknown signature',
      { signature: result(0, 'USAGE=crypto') },
      { signature: { found: 'one', type: 'unknown' } },
    ],
    [
      'an incomplete record',
      { intent: missing, done: missing, records: result(0, '/x.intent.new') },
      { intent: undefined, done: undefined, recordFiles: true },
    ],
    [
      'mounts',
      { mounts: result(0, MOUNTINFO) },
      {
        mounts: new Map([
          ['254:0', ['/']],
          ['7:3', ['/mnt/a\\040b', '/mnt/c']],
        ]),
      },
    ],
    [
      'a link to a device with hexadecimal numbers',
      { link: result(0, '103:1f') },
      { link: '259:31' },
    ],
    ['no udev', { udev: result(1) }, { udev: false }],
    [
      'a path with symbolic links',
      { path: result(0, '/data/x') },
      {
        realPath: '/data/x',
        directory: {
          ...madeNode.directory,
          realPath: '/data',
          now: { ...madeNode.directory.now, path: '/data' },
        },
      },
    ],
  ] as const)('reads %s', (_, results, facts) => {
    expect(read({ ...MADE, ...results })).toEqual({ ...madeNode, ...facts });
  });
});

describe('a failed observation', () => {
  const io = result(1, '', 'X: Input/output error');
  test.each(Object.keys(FRESH))('throws if %s was not answered', (name) => {
    const { [name]: _, ...rest } = MADE;
    expect(() => read(rest)).toThrow(ObservationError);
  });

  test.each(Object.keys(FRESH).filter((name) => name !== 'readable'))(
    'throws if the tool for %s is missing',
    (name) => {
      const broken = { ...MADE, [name]: result(127, '', 'sh: 9: blkid: not found') };
      expect(() => read(broken)).toThrow(
        new ObservationError(refuse('ProbeToolMissing', { said: 'sh: 9: blkid: not found' })),
      );
    },
  );

  test.each(
    Object.keys(FRESH).filter((name) => !['readable', 'udev', 'free', 'mappers'].includes(name)),
  )('throws on an I/O error of %s', (name) => {
    expect(() => read({ ...MADE, [name]: io })).toThrow(ObservationError);
    expect(() => read({ ...MADE, [name]: io })).toThrow(/Input\/output error/);
  });

  test.each([
    ['no permission', { file: result(1, '', "stat: cannot statx 'X': Permission denied") }],
    [
      'no permission in a directory named like the error',
      {
        file: result(1, '', "stat: cannot statx '/No such file or directory/x': Permission denied"),
      },
    ],
    ['a path through a file', { file: result(1, '', "stat: cannot statx 'X': Not a directory") }],
    ['a file that blkid may not read', { signature: result(2), readable: io }],
    [
      'a file that vanished meanwhile',
      { signature: result(2), readable: FRESH.readable as ProbeResult },
    ],
    ['an intent that is no JSON', { intent: result(0, '{"version":1') }],
    ['an empty intent', { intent: result(0, '') }],
    [
      'an intent of a later version',
      { intent: result(0, JSON.stringify({ ...madeNode.intent, version: 2 })) },
    ],
    ['an intent without a file', { intent: result(0, JSON.stringify({ version: 1, uid: UID })) }],
    ['losetup that prints no JSON', { loops: result(0, 'NAME BACK-FILE') }],
    [
      'losetup that lacks a column',
      { loops: result(0, '{"loopdevices": [{"name": "/dev/loop0"}]}') },
    ],
    ['lsblk that prints no JSON', { devices: result(0, '{') }],
    ['unexpected output of stat', { file: result(0, 'regular file') }],
    ['a size that is not a number', { file: result(0, 'regular file|big|42|0|512') }],
  ])('throws on %s', (_, results) => {
    expect(() => read({ ...MADE, ...results })).toThrow(ObservationError);
  });
});
