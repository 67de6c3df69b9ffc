import { expect, test } from '@jest/globals';
import { checkMkfsOptions } from '../../src/storage/mkfs-options.ts';

test.each(
  [
    [],
    ['-m', '0'],
    ['-b', '4096', '-i', '16k', '-I', '256', '-N', '1000'],
    ['-O', '^has_journal,metadata_csum'],
    ['-E', 'lazy_itable_init=0,nodiscard,root_owner=1000:1000'],
    ['-E', 'stride=16,stripe_width=64'],
    ['-J', 'size=64'],
    ['-L', 'data-1'],
    ['-g', '8192', '-G', '16', '-C', '64k'],
    ['-T', 'largefile', '-t', 'ext4', '-r', '1'],
    ['-e', 'remount-ro'],
  ].map((options) => [options]),
)('takes %j', (options) => {
  expect(checkMkfsOptions('ext4', options)).toEqual({ options });
});

test('separates an option from its value', () => {
  expect(checkMkfsOptions('ext4', ['-m0.5'])).toEqual({ options: ['-m', '0.5'] });
});

test.each<[unknown, string]>([
  ['-m 0', 'not a JSON list of strings'],
  [null, 'not a JSON list of strings'],
  [{ '-m': '0' }, 'not a JSON list of strings'],
  [['-m', 0], 'not a JSON list of strings'],
  // Options that set the UUID, a device, or a file of the node.
  [['-U', 'clear'], '"-U" is not allowed'],
  [['-Uclear'], '"-Uclear" is not allowed'],
  [['-d', '/etc'], '"-d" is not allowed'],
  [['-d/etc'], '"-d/etc" is not allowed'],
  [['-J', 'device=/dev/sda'], 'option -J "device=/dev/sda" has "device"'],
  [['-J', 'size=64,device=/dev/sda'], 'has "device"'],
  [['-E', 'offset=4096'], 'has "offset"'],
  [['-E', 'nodiscard,offset=4096'], 'has "offset"'],
  [['-E', 'android_sparse'], 'has "android_sparse"'],
  [['-E', 'hash_seed=00000000-0000-0000-0000-000000000000'], 'has "hash_seed"'],
  [['-E', 'nodiscard=1'], 'has "nodiscard=1"'],
  [['-E', 'lazy_itable_init'], 'has "lazy_itable_init"'],
  [['-E', 'resize=1=2'], 'has "resize=1=2"'],
  [['-E', ''], 'has ""'],
  [['-E', 'toString=1'], 'has "toString"'],
  [['-O', 'journal_dev'], 'must not create a journal device'],
  [['-O', '^quota,journal_dev'], 'must not create a journal device'],
  [['-z', '/var/undo'], '"-z" is not allowed'],
  [['-l', '/etc/shadow'], '"-l" is not allowed'],
  [['-n'], '"-n" is not allowed'],
  [['-S'], '"-S" is not allowed'],
  [['-c'], '"-c" is not allowed'],
  [['-F'], '"-F" is not allowed'],
  [['-mq', '0'], 'option -m "q"'],
  [['/dev/sda'], '"/dev/sda" is not allowed'],
  [['-m', '0', '/dev/sda'], '"/dev/sda" is not allowed'],
  [['-m', '0', '1024'], '"1024" is not allowed'],
  [['--'], '"--" is not allowed'],
  [['-'], '"-" is not allowed'],
  [[''], '"" is not allowed'],
  // A later getopt would read a value that begins with - as the next option.
  [['-L', '-U'], 'option -L "-U" must be'],
  [['-b', '-4096'], 'option -b "-4096" must be'],
  [['-T', '-d'], 'option -T "-d" must be'],
  [['-m', ''], 'option -m "" must be'],
  [['-m', '5\n'], 'option -m "5\\n" must be'],
  [['-m 0'], 'option -m " 0" must be'],
  [['-m'], 'option -m needs a value'],
  [['-t', 'ext2'], 'option -t "ext2" must be ext4'],
  [['-L', 'a b'], 'option -L "a b" must be'],
])('refuses %j', (options, problem) => {
  expect(checkMkfsOptions('ext4', options)).toEqual({ problem: expect.stringContaining(problem) });
});
