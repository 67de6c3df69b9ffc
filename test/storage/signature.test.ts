import { expect, test } from '@jest/globals';
import { ObservationError } from '../../src/storage/probe-results.ts';
import { describeSignature, readSignature } from '../../src/storage/signature.ts';

const result = (exit: number, stdout = '', stderr = '') => ({ exit, stdout, stderr });
const fine = result(0);

/** Output in the format of `blkid -p -o export` of util-linux 2.38. */
test.each([
  ['nothing', result(2), { found: 'none' }, 'nothing'],
  [
    'two signatures',
    result(8, '', 'ambivalent result'),
    { found: 'ambivalent' },
    'more than one signature',
  ],
  [
    'ext4',
    result(0, 'DEVNAME=a\nUUID=A\nVERSION=1.0\nTYPE=ext4\nUSAGE=filesystem'),
    { found: 'one', type: 'ext4', uuid: 'A' },
    'ext4 A',
  ],
  [
    'swap',
    result(0, 'UUID=A\nTYPE=swap\nUSAGE=other'),
    { found: 'one', type: 'swap', uuid: 'A' },
    'swap A',
  ],
  [
    'a GPT',
    result(0, 'DEVNAME=b\nPTUUID=T\nPTTYPE=gpt'),
    { found: 'one', type: 'gpt', uuid: 'T' },
    'gpt T',
  ],
  [
    'an MBR without an ID',
    result(0, 'DEVNAME=c\nPTTYPE=dos'),
    { found: 'one', type: 'dos' },
    'dos',
  ],
  [
    'an empty partition',
    result(0, 'DEVNAME=d\nPART_ENTRY_UUID=P\nPART_ENTRY_NUMBER=1'),
    { found: 'none' },
    'nothing',
  ],
  [
    'a partition with a file system',
    result(0, 'UUID=A\nTYPE=xfs\nPART_ENTRY_NUMBER=1'),
    { found: 'one', type: 'xfs', uuid: 'A' },
    'xfs A',
  ],
  [
    'something without a type',
    result(0, 'USAGE=crypto'),
    { found: 'one', type: 'unknown' },
    'unknown',
  ],
  [
    'a label that looks like another field',
    result(0, 'LABEL=a\\ TYPE=swap\nTYPE=ext4'),
    { found: 'one', type: 'ext4' },
    'ext4',
  ],
])('readSignature reads the output of blkid: %s', (_, blkid, signature, text) => {
  expect(readSignature(blkid, fine)).toEqual(signature);
  expect(describeSignature(readSignature(blkid, fine))).toBe(text);
});

test.each([
  ['blkid fails', result(4, '', 'x'), fine],
  ['the device cannot be read', result(2), result(1, '', 'Input/output error')],
])('readSignature throws if %s', (_, blkid, read) => {
  expect(() => readSignature(blkid, read)).toThrow(ObservationError);
});
