import { expect, test } from '@jest/globals';
import { parseBlockDevices, partitionsOf } from '../../src/storage/block-devices.ts';

const row = (fields: object) =>
  `{"blockdevices": [${JSON.stringify({ kname: 'sdb', 'maj:min': '8:16', pkname: null, type: 'disk', size: 5, ro: false, serial: null, wwn: null, ...fields })}]}`;
const sdb = {
  name: 'sdb',
  device: '8:16',
  parent: undefined,
  type: 'disk',
  sizeBytes: 5n,
  readOnly: false,
  serial: undefined,
  wwn: undefined,
};

test.each([
  ['a disk', {}, {}],
  ['a serial number and a WWN', { serial: 'S1', wwn: '0x5000' }, { serial: 'S1', wwn: '0x5000' }],
  ['read-only', { ro: true }, { readOnly: true }],
  ['a padded number', { 'maj:min': ' 8:16  ' }, {}],
  ['strings, as util-linux before 2.33 prints them', { size: '5', ro: '0' }, {}],
  ['a flag, as util-linux before 2.33 prints it', { ro: '1' }, { readOnly: true }],
  ['no type', { type: null }, { type: '' }],
  ['no size', { size: null }, { sizeBytes: 0n }],
  ['a parent', { pkname: 'sda', type: 'lvm' }, { parent: 'sda', type: 'lvm' }],
])('parseBlockDevices reads %s', (_, fields, expected) => {
  expect(parseBlockDevices(row(fields))).toEqual([{ ...sdb, ...expected }]);
});

test('a size above 2^53 is exact', () => {
  const text = row({}).replace('"size":5', '"size":9007199254740993');
  expect(parseBlockDevices(text)).toMatchObject([{ sizeBytes: 9007199254740993n }]);
});

test('parseBlockDevices reads empty output as no devices, and rejects other text', () => {
  expect(parseBlockDevices('')).toEqual([]);
  expect(() => parseBlockDevices('lsblk: unknown column')).toThrow(SyntaxError);
});

test('partitionsOf finds partitions by their parent, not by name', () => {
  const all = [
    sdb,
    { ...sdb, name: 'x', parent: 'sdb', type: 'part' },
    { ...sdb, name: 'sdb1', parent: 'sdc', type: 'part' },
    { ...sdb, name: 'dm-0', parent: 'sdb', type: 'lvm' },
  ];
  expect(partitionsOf('sdb', all).map(({ name }) => name)).toEqual(['x']);
});
