import { describe, expect, test } from '@jest/globals';
import type { Volume, VolumeSpec } from '../../../src/api/volume.ts';
import { confirmOverwriting } from '../../../src/cli/volume/create.ts';
import { keptByDeletion, lostByDeletion } from '../../../src/cli/volume/data-loss.ts';
import { fakeIo, type World } from '../../support/fake-io.ts';
import { volumeNamed } from '../../support/volumes.ts';

const RAW = {
  sparseLoopDevice: undefined,
  rawBlockDevice: { devicePath: '/dev/sdb' },
} as unknown as VolumeSpec;
const LVM = {
  sparseLoopDevice: undefined,
  lvmLogicalVolume: { vgName: 'vg0', size: '1Gi' },
} as unknown as VolumeSpec;
const volume = (spec: Partial<VolumeSpec>, status?: Volume['status']): Volume => {
  const plain = volumeNamed('a', status);
  return { ...plain, spec: { ...plain.spec, ...spec } };
};

test.each<[string, Partial<VolumeSpec>, string | undefined]>([
  ['a file', {}, 'its file is removed with all its data'],
  ['a file, Delete', { onDelete: 'Delete' }, 'its file is removed with all its data'],
  ['a file, Wipe', { onDelete: 'Wipe' }, 'its file is overwritten and removed'],
  ['a file, Retain', { onDelete: 'Retain' }, undefined],
  ['a device', RAW, undefined],
  [
    'a device, Delete',
    { ...RAW, onDelete: 'Delete' },
    'the signature on /dev/sdb is removed, and its data with it',
  ],
  ['a device, Wipe', { ...RAW, onDelete: 'Wipe' }, 'every byte of /dev/sdb is overwritten'],
  ['a device, Retain', { ...RAW, onDelete: 'Retain' }, undefined],
  ['a logical volume', LVM, undefined],
  [
    'a logical volume, Delete',
    { ...LVM, onDelete: 'Delete' },
    'its logical volume is removed with all its data',
  ],
  [
    'a logical volume, Wipe',
    { ...LVM, onDelete: 'Wipe' },
    'its logical volume is overwritten and removed',
  ],
])('lostByDeletion reports the data loss of a Volume of %s', (_, spec, loss) => {
  expect(lostByDeletion(volume(spec))).toBe(loss && `Volume a on n1: ${loss}`);
});

const MADE = { node: 'n1', paths: ['/x/a'], identity: '1:2' };

test.each<[string, Partial<VolumeSpec>, Volume['status'], string | undefined]>([
  ['a file', {}, { prepared: MADE }, undefined],
  [
    'a file, Retain',
    { onDelete: 'Retain' },
    { phase: 'Failed', prepared: MADE },
    'its file /x/a stays, with its data',
  ],
  ['a file that was not created, Retain', { onDelete: 'Retain' }, { phase: 'Failed' }, undefined],
  ['a device', RAW, { phase: 'Available' }, 'the data on /dev/sdb stays'],
  ['a device, Wipe', { ...RAW, onDelete: 'Wipe' }, { phase: 'Available' }, undefined],
  ['a logical volume', LVM, { prepared: MADE }, 'its logical volume /x/a stays, with its data'],
  [
    'adopted storage',
    { adopt: { uid: 'u' } },
    { prepared: MADE },
    'its file /x/a stays, with its data',
  ],
])('keptByDeletion reports what deletion keeps of a Volume of %s', (_, spec, status, kept) => {
  expect(keptByDeletion(volume(spec, status))).toBe(kept && `Volume a on n1: ${kept}`);
});

test('lostByDeletion uses the provisioned node and path, not the spec', () => {
  const prepared = { node: 'n7', paths: ['/srv/a'], identity: '1:2' };
  expect(lostByDeletion(volume({}, { prepared }))).toBe(
    'Volume a on n7: its file /srv/a is removed with all its data',
  );
});

describe('confirmation of an overwrite', () => {
  const overwriting = [volume({ ...RAW, overwrite: 'ext4\u001b[2J' })];
  const confirm = async (world: World, flags: object = {}) => {
    const { io, outcome } = fakeIo(world);
    await confirmOverwriting(overwriting, { dryRun: 'none', ...flags }, io);
    return outcome;
  };

  test('needs --yes without a terminal', async () => {
    await expect(confirm({})).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining(
        'Volume a on n1: the content on /dev/sdb is overwritten if it is ext4',
      ),
      hint: expect.stringContaining('--yes'),
    });
    expect(await confirm({}, { yes: true })).toMatchObject({ questions: [], err: '' });
  });

  test('prompts on a terminal, without control characters', async () => {
    const { questions, err } = await confirm({ tty: true, answers: [true] });
    expect(questions).toHaveLength(1);
    expect(err).toBe(
      'Volume a on n1: the content on /dev/sdb is overwritten if it is ext4\ufffd[2J\n',
    );
    await expect(confirm({ tty: true, answers: [false] })).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  test('is not needed in a dry run', async () => {
    expect(await confirm({}, { dryRun: 'client' })).toMatchObject({ err: '' });
    expect(await confirm({}, { dryRun: 'server' })).toMatchObject({ err: '' });
  });
});
