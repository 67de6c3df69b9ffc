import { expect, test } from '@jest/globals';
import { complete } from '../../../src/cli/volume/wizard.ts';
import { fakeIo } from '../../support/fake-io.ts';

const KNOWN = { node: { names: ['n1'], many: false }, storageClass: 'fast' };
const unexpected = () => Promise.reject(new Error('not expected'));

test('a raw device is asked for by its path', async () => {
  const { io, outcome } = fakeIo({ tty: true, answers: ['raw', 'sdb', '/dev/sdb'] });
  expect(await complete('data1', KNOWN, io, unexpected)).toEqual({
    name: 'data1',
    flags: { ...KNOWN, type: 'raw', device: '/dev/sdb' },
  });
  expect(outcome.questions.at(-1)).toBe('Path of the device on the node:');
});

test('a logical volume is asked for by its group and size', async () => {
  const { io, outcome } = fakeIo({ tty: true, answers: ['lvm', 'vg 0', 'vg0', '1Gi'] });
  expect(await complete('data1', KNOWN, io, unexpected)).toEqual({
    name: 'data1',
    flags: { ...KNOWN, type: 'lvm', vg: 'vg0', size: '1Gi' },
  });
  expect(outcome.questions.slice(-2)).toEqual(['Volume group on the node:', 'Size, such as 10Gi:']);
});

test('a type that flags tell is not asked for', async () => {
  const { io, outcome } = fakeIo({ tty: true, answers: ['1Gi'] });
  await complete('data1', { ...KNOWN, directory: '/srv' }, io, unexpected);
  expect(outcome.questions).toEqual(['Size, such as 10Gi:']);
});

test('contradictions are refused before anything is asked', async () => {
  const { io, outcome } = fakeIo({ tty: true });
  await expect(complete(undefined, { size: '1Gi', device: '/dev/sdb' }, io, unexpected)).rejects.toThrow(
    '--size and --device',
  );
  expect(outcome.questions).toEqual([]);
});
