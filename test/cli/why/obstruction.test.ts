import { describe, expect, test } from '@jest/globals';
import { explain } from '../../../src/api/reasons.ts';
import { obstructionOf, sentenceOf } from '../../../src/cli/why/obstruction.ts';
import { failureReason } from '../../../src/nodes/failure-reason.ts';
import { withHint } from '../../../src/nodes/job-text.ts';
import { quoteAll } from '../../../src/nodes/quote.ts';
import { volumeNamed } from '../../support/volumes.ts';

const volume = volumeNamed('data1');

/** Returns the obstruction for a failed step. */
const obstruction = (exit: number, command: string, output: string) => {
  const step = { name: 'make the file system', command: quoteAll(command.split(' ')) };
  const detail = failureReason({ state: 'failed', exit, output, step });
  return obstructionOf(detail, { node: 'n1', volume });
};

test.each<[string, string | undefined, [number, string, string], string[] | undefined]>([
  [
    'a program that is missing',
    'ToolMissing',
    [127, 'mkfs.xfs -f /dev/loop1', 'sh: 1: mkfs.xfs: not found'],
    ['ssh n1 apt-get install -y xfsprogs'],
  ],
  [
    'a missing program whose package has another name',
    'ToolMissing',
    [126, 'udevadm settle', 'Permission denied'],
    ['ssh n1 apt-get install -y udev'],
  ],
  ['a missing program of an unknown package', 'ToolMissing', [127, 'frobnicate x', ''], undefined],
  ['a program that failed otherwise', 'Failed', [1, 'mkfs.xfs -f /dev/loop1', 'no'], undefined],
  ['a script that exits with status 127', 'Failed', [127, 'sh -c x', ''], undefined],
  [
    'a missing program that fills volumes',
    'ToolMissing',
    [3, 'sh -c x', 'stowage-missing xz\nstowage-image: this node has no program xz'],
    ['ssh n1 apt-get install -y xz-utils'],
  ],
  ['an invalid program name', 'Failed', [3, 'sh -c x', 'stowage-missing xz; reboot'], undefined],
  [
    'a directory that is full',
    'NoSpace',
    [1, 'mkfs.ext4 x', 'mkfs.ext4: No space left on device'],
    ['ssh n1 df -h /var/lib/metalk8s/storage/sparse'],
  ],
])('obstructionOf explains a failed step: %s', (_, cause, [exit, command, output], run) => {
  const found = obstruction(exit, command, output);
  expect(found?.cause).toBe(cause);
  expect(found?.fix?.run).toEqual(run);
});

test('obstructionOf ignores a reason of another version', () => {
  expect(obstructionOf({ code: 'Newer', parameters: {} }, { node: 'n1' })).toBeUndefined();
  expect(obstructionOf(undefined, { node: 'n1' })).toBeUndefined();
});

test.each<[unknown]>([['JobDied'], [{ code: 1 }], [{ code: 'JobDied', parameters: 'x' }], [null]])(
  'obstructionOf ignores a malformed reason: %j',
  (detail) => {
    expect(obstructionOf(detail, { node: 'n1', volume })).toBeUndefined();
  },
);

test('obstructionOf accepts a reason without parameters', () => {
  expect(obstructionOf({ code: 'DeviceInUse' }, { node: 'n1', volume })?.cause).toBe('DeviceInUse');
});

describe('sentenceOf', () => {
  const CARRIES = { device: '/dev/sdb', content: 'ext4:1', overwrite: '"ext4:1"' };
  const { message, detail } = explain('DeviceCarriesData', CARRIES);
  const found = obstructionOf(detail, { node: 'n1', volume });

  test('leaves the action of a reason to its fix', () => {
    expect(message).toContain('spec.overwrite');
    expect(sentenceOf(message, found, found?.fix)).toBe('/dev/sdb contains ext4:1');
  });

  test('keeps a message to which a controller added', () => {
    const added = withHint(`Node n1 does not exist: ${message}`, 'To leave it: x');
    expect(sentenceOf(added, found, found?.fix)).toBe(added);
    const { message: other, detail: missing } = explain('MultipathUsesDisk', {
      ...{ device: '/dev/sdb', uses: 'multipath.', wwid: '360' },
    });
    const obstruction = obstructionOf(missing, { node: 'n1', volume });
    const bare = '/dev/sdb is in use: multipath.';
    expect(sentenceOf(other, obstruction, obstruction?.fix)).toBe(bare);
    expect(sentenceOf('/dev/sdb is busy', obstruction, obstruction?.fix)).toBe('/dev/sdb is busy');
  });

  test('keeps a message beside another fix, or none', () => {
    expect(sentenceOf(message, found, { say: 'Do it.' })).toBe(message);
    expect(sentenceOf(message, found, undefined)).toBe(message);
  });

  test.each([
    ['an unknown reason', { code: 'Newer', parameters: {} }],
    ['a reason without its parameters', { code: detail.code, parameters: { device: '/dev/sdb' } }],
    ['a failed job', { code: 'NoSpaceLeft', parameters: { step: 'mkfs', exit: '1' } }],
    ['a reason without an action', { code: 'NodeSilent', parameters: { node: 'a', seconds: '3' } }],
  ])('keeps the message of %s', (_, other) => {
    const obstruction = obstructionOf(other, { node: 'n1', volume });
    expect(sentenceOf(message, obstruction, obstruction?.fix)).toBe(message);
  });
});
