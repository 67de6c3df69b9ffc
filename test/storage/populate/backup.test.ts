import { expect, test } from '@jest/globals';
import {
  backupStep,
  type DesiredBackup,
  leaveBackup,
  type ObservedBackup,
} from '../../../src/storage/populate/backup.ts';
import type { Signature } from '../../../src/storage/types.ts';

const UID = '5f3a8c52-0c9e-4c36-a1cf-0f3f6f6f1a01';
const FILE = `/data/snapshots/${UID}`;
const desired: DesiredBackup = { uid: UID, file: FILE, mode: 'Filesystem', to: '/archives/b.zst' };
const block: DesiredBackup = { ...desired, mode: 'Block' };
const holding = (signature: Signature): ObservedBackup => ({
  file: { type: 'file', sizeBytes: 10n << 20n, inode: '9' },
  signature,
  made: undefined,
});
const one = (type: string): ObservedBackup => holding({ found: 'one', type, uuid: UID });

test.each<[string, DesiredBackup, ObservedBackup, string]>([
  ['a file system', desired, one('ext4'), 'ext4 0 0'],
  ['an XFS', desired, one('xfs'), 'xfs 0 0'],
  ['the content of a device', block, one('gpt'), `block ${1 << 20} ${8 << 20}`],
])('%s is packed', (_, wanted, observed, words) => {
  const step = backupStep({ ...wanted, authorization: 'Bearer t0ken' }, observed);
  if ('refusal' in step) throw new Error(step.refusal);
  expect(step.argv.slice(5).join(' ')).toBe(`${FILE} ${UID} ${words} /archives/b.zst`);
  expect(step.stdin).toBe('\nBearer t0ken\n\n');
  expect(step.argv.join(' ')).not.toContain('t0ken');
});

test('backupStep passes the query of a URL only on standard input', () => {
  const step = backupStep({ ...desired, to: 'https://a.example/b?sig=s3cret' }, one('ext4'));
  if ('refusal' in step) throw new Error(step.refusal);
  expect(step.stdin).toBe('\n\n?sig=s3cret\n');
  expect(step.argv.at(-1)).toBe('https://a.example/b');
  expect(step.name).toBe('pack the snapshot and store it at https://a.example/b?...');
  const { argv } = leaveBackup({ uid: UID, to: 'https://a.example/b?sig=s3cret' });
  expect(argv.at(-1)).toBe('https://a.example/b');
});

test.each<[string, DesiredBackup, ObservedBackup, RegExp]>([
  ['no file', desired, { ...one('ext4'), file: { type: 'missing' } }, /file .* is missing$/],
  [
    'nothing in the file',
    desired,
    holding({ found: 'none' }),
    /a file system, but nothing was found/,
  ],
  [
    'a table in place of a file system',
    desired,
    one('gpt'),
    /should contain a file system, but gpt/,
  ],
  [
    'a file system of another kind',
    desired,
    one('btrfs'),
    /should contain a file system, but btrfs/,
  ],
  ['a file system in place of a table', block, one('ext4'), /should contain a GPT, but ext4/],
  [
    'nothing in place of a table',
    block,
    holding({ found: 'none' }),
    /a GPT, but nothing was found/,
  ],
])('%s is refused', (_, wanted, observed, why) => {
  const code = observed.file.type === 'missing' ? 'SnapshotFileMissing' : 'SnapshotFileDiffers';
  expect(backupStep(wanted, observed)).toMatchObject({
    refusal: expect.stringMatching(why),
    reason: { code, parameters: { file: FILE } },
  });
});
