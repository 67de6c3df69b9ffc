import { expect, test } from '@jest/globals';
import { checkMkfsOptions } from '../../src/storage/mkfs-options.ts';

test.each(
  [
    [],
    ['-K'],
    ['-K', '-L', 'data-1'],
    ['-d', 'agcount=4,su=64k,sw=2'],
    ['-i', 'size=512,sparse=1', '-l', 'size=64m,lazy-count=1'],
    ['-m', 'reflink=1,bigtime=1,crc=1', '-n', 'version=ci,ftype=1', '-s', 'size=4096'],
  ].map((options) => [options]),
)('takes %j', (options) => {
  expect(checkMkfsOptions('xfs', options)).toEqual({ options });
});

test('separates an option from its value', () => {
  expect(checkMkfsOptions('xfs', ['-bsize=4096'])).toEqual({ options: ['-b', 'size=4096'] });
});

test.each<[unknown, string]>([
  ['-K', 'not a JSON list of strings'],
  // Options that set the UUID, a device, or a file of the node.
  [['-m', 'uuid=11111111-2222-4333-8444-555555555555'], 'has "uuid"'],
  [['-m', 'crc=1,uuid=x'], 'has "uuid"'],
  [['-muuid=x'], 'has "uuid"'],
  [['-d', 'file=1'], 'has "file"'],
  [['-d', 'name=/dev/sda'], 'has "name"'],
  [['-d', 'size=1g'], 'has "size"'],
  [['-l', 'logdev=/dev/sda'], 'has "logdev"'],
  [['-l', 'internal=0'], 'has "internal"'],
  [['-l', 'file=1'], 'has "file"'],
  [['-r', 'rtdev=/dev/sda'], '"-r" is not allowed'],
  [['-p', '/etc/shadow'], '"-p" is not allowed'],
  [['-c', 'options=/etc/x'], '"-c" is not allowed'],
  [['-f'], '"-f" is not allowed'],
  [['-N'], '"-N" is not allowed'],
  [['-V'], '"-V" is not allowed'],
  [['-Kf'], '"-Kf" is not allowed'],
  [['-K', '/dev/sda'], '"/dev/sda" is not allowed'],
  [['/dev/sda'], '"/dev/sda" is not allowed'],
  [['--'], '"--" is not allowed'],
  [['-q'], '"-q" is not allowed'],
  [['-b'], 'option -b needs a value'],
  [['-b', ''], 'has ""'],
  [['-b', 'size'], 'has "size"'],
  [['-b', 'size=-1'], 'has "size=-1"'],
  [['-L', '-f'], 'option -L "-f" must be'],
  [['-L', 'a b'], 'option -L "a b" must be'],
  [['-L', 'thirteenchars'], 'must be a label of at most 12'],
  [['-n', 'version=3'], 'has "version=3"'],
  [['-m', 'crc=2'], 'has "crc=2"'],
  // An option of mkfs.ext4.
  [['-m', '0'], 'has "0"'],
])('refuses %j', (options, problem) => {
  expect(checkMkfsOptions('xfs', options)).toEqual({ problem: expect.stringContaining(problem) });
});
