import { describe, expect, test } from '@jest/globals';
import { stowage } from '../support/fake-io.ts';

const CREATE = ['create', 'storageclass', 'local', '--static'];
const DYNAMIC = ['create', 'storageclass', 'local', '--dynamic'];
const FULL_NAME = 'storageclass.storage.k8s.io/local';
const LEAST = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'local' },
  provisioner: 'kubernetes.io/no-provisioner',
  parameters: { fsType: 'ext4' },
  reclaimPolicy: 'Retain',
  volumeBindingMode: 'WaitForFirstConsumer',
};

describe('create storageclass --static', () => {
  test.each<[string[], object]>([
    [[], {}],
    [
      ['--mkfs-options', '["-m", "0"]'],
      { parameters: { fsType: 'ext4', mkfsOptions: '["-m","0"]' } },
    ],
    [
      ['--mkfs-options', '-m', '--mkfs-options', '0', '--mkfs-options=-Ldata'],
      { parameters: { fsType: 'ext4', mkfsOptions: '["-m","0","-Ldata"]' } },
    ],
    [
      ['--mount-options', 'noatime,nodiratime', '--mount-options=ro'],
      { mountOptions: ['noatime', 'nodiratime', 'ro'] },
    ],
    [
      ['--default'],
      {
        metadata: {
          name: 'local',
          annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
        },
      },
    ],
  ])('sends the class that the flags describe: %j', async (flags, parts) => {
    const { code, out, err, requests } = await stowage([...CREATE, ...flags]);
    expect({ code, out, err }).toEqual({ code: 0, out: `${FULL_NAME} created\n`, err: '' });
    expect(requests).toMatchObject([
      { what: 'create storageclasses/local', options: { dryRun: false } },
    ]);
    expect(requests[0]?.object).toEqual({ ...LEAST, ...parts });
  });
});

describe('create storageclass --dynamic', () => {
  const dynamic = {
    ...LEAST,
    provisioner: 'volume.stowage.dev',
    reclaimPolicy: 'Delete',
    allowVolumeExpansion: true,
  };
  test.each<[string[], object, object]>([
    [[], { type: 'sparse' }, {}],
    [['--type', 'sparse', '--directory', '/data/x'], { type: 'sparse', directory: '/data/x' }, {}],
    [['--vg', 'vg0'], { type: 'lvm', vgName: 'vg0' }, {}],
    [
      ['--directory', '/data', '--require-mount'],
      { type: 'sparse', directory: '/data', requireMount: 'true' },
      {},
    ],
    [
      ['--vg', 'vg0', '--overwrite-free-extents'],
      { type: 'lvm', vgName: 'vg0', overwriteFreeExtents: 'true' },
      {},
    ],
    [['--vg', 'vg0', '--on-delete', 'Wipe'], { type: 'lvm', vgName: 'vg0', onDelete: 'Wipe' }, {}],
    [['--attach-policy', 'OnDemand'], { type: 'sparse', attachPolicy: 'OnDemand' }, {}],
    [['--on-delete', 'Delete'], { type: 'sparse', onDelete: 'Delete' }, {}],
    [
      ['--type', 'lvm', '--vg', 'vg0', '--thin-pool', 'pool', '--fs-type', 'xfs'],
      { type: 'lvm', vgName: 'vg0', thinPool: 'pool', fsType: 'xfs' },
      {},
    ],
    [
      ['--reclaim-policy', 'Retain', '--mkfs-options', '["-m", "0"]', '--mount-options', 'noatime'],
      { type: 'sparse', mkfsOptions: '["-m","0"]' },
      { reclaimPolicy: 'Retain', mountOptions: ['noatime'] },
    ],
    [
      ['--default'],
      { type: 'sparse' },
      {
        metadata: {
          name: 'local',
          annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
        },
      },
    ],
  ])('sends the class that the flags describe: %j', async (flags, parameters, parts) => {
    const { code, out, err, requests } = await stowage([...DYNAMIC, ...flags]);
    expect({ code, out, err }).toEqual({ code: 0, out: `${FULL_NAME} created\n`, err: '' });
    expect(requests[0]?.object).toEqual({
      ...dynamic,
      parameters: { fsType: 'ext4', ...parameters },
      ...parts,
    });
  });
});

test('create storageclass --dry-run: client needs no cluster, server sends a dry run', async () => {
  const { out, connections } = await stowage([...CREATE, '--dry-run=client', '-o', 'json']);
  expect(JSON.parse(out)).toEqual(LEAST);
  expect(connections).toEqual([]);
  expect((await stowage([...CREATE, '--dry-run=server'])).requests).toMatchObject([
    { what: 'create storageclasses/local', options: { dryRun: true } },
  ]);
});

describe('create storageclass', () => {
  test.each<[string[], string]>([
    [['create', 'storageclass', 'local'], 'missing: --static or --dynamic'],
    [['create', 'sc', 'local', '--static', '--dynamic'], 'exclude each other'],
    [[...CREATE, '--vg', 'vg0'], '--vg is for --dynamic'],
    [[...CREATE, '--reclaim-policy', 'Delete'], '--reclaim-policy is for --dynamic'],
    [[...CREATE, '--attach-policy', 'OnDemand'], '--attach-policy is for --dynamic'],
    [[...CREATE, '--on-delete', 'Wipe'], '--on-delete is for --dynamic'],
    [[...DYNAMIC, '--on-delete', 'Retain'], 'Allowed choices are Delete, Wipe'],
    [[...DYNAMIC, '--type', 'raw'], 'Allowed choices are sparse, lvm'],
    [[...DYNAMIC, '--type', 'lvm'], 'missing: --vg'],
    [[...DYNAMIC, '--type', 'sparse', '--vg', 'vg0'], '--vg is for --type lvm'],
    [[...DYNAMIC, '--thin-pool', 'pool'], '--thin-pool is for --type lvm'],
    [[...CREATE, '--overwrite-free-extents'], '--overwrite-free-extents is for --dynamic'],
    [
      [...DYNAMIC, '--overwrite-free-extents'],
      '--overwrite-free-extents is for --type lvm without',
    ],
    [
      [...DYNAMIC, '--vg', 'vg0', '--thin-pool', 'p', '--overwrite-free-extents'],
      '--overwrite-free-extents is for --type lvm without --thin-pool',
    ],
    [[...DYNAMIC, '--vg', 'vg0', '--directory', '/data'], '--directory is for --type sparse'],
    [[...DYNAMIC, '--vg', 'vg0', '--require-mount'], '--require-mount is for --type sparse'],
    [[...DYNAMIC, '--vg', '-x'], 'It must be a valid LVM name'],
    [[...DYNAMIC, '--vg', 'a', '--vg', 'b'], 'Give it once'],
    [[...DYNAMIC, '--directory', 'data'], 'It must'],
    [[...DYNAMIC, '--directory', '/etc'], 'but must be outside of /etc'],
    [[...DYNAMIC, '--mkfs-options', '["-U", "random"]'], 'option "-U" is not allowed'],
    [[...DYNAMIC, '--reclaim-policy', 'Recycle'], 'Allowed choices are Delete, Retain'],
    [['create', 'sc', '--static'], 'missing: NAME'],
    [[...CREATE, '--fs-type', 'btrfs'], "argument 'btrfs' is invalid"],
    [[...CREATE, '--mkfs-options', '[1]'], 'Write a JSON list of strings'],
    [[...CREATE, '--mkfs-options', '["-m"'], 'Write a JSON list of strings'],
    [[...CREATE, '--mkfs-options', '["-U", "random"]'], 'option "-U" is not allowed'],
    [[...CREATE, '--mkfs-options', '/dev/sda'], 'option "/dev/sda" is not allowed'],
    [[...CREATE, '--mkfs-options', '-m 0'], 'StorageClass local: parameter mkfsOptions'],
    [[...CREATE, '--mount-options', 'a,,b'], 'separated by commas'],
    [[...CREATE, '--mount-options', ''], 'separated by commas'],
  ])('refuses without a request: %j', async (argv, message) => {
    const { code, out, err, requests } = await stowage(argv);
    expect({ code, out, requests }).toEqual({ code: 2, out: '', requests: [] });
    expect(err).toContain(message);
  });
});

test.each([
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
])('create storageclass --default names another default class (%s)', async (annotation) => {
  const fast = { ...LEAST, metadata: { name: 'fast', annotations: { [annotation]: 'true' } } };
  const argv = ['create', 'storageclass', 'slow', '--default'];
  const answers = ['static', 'ext4', true];
  const objects = { 'storageclasses/fast': fast };
  const { code, err } = await stowage(argv, { tty: true, answers, objects: { ...objects } });
  expect(code).toBe(0);
  expect(err).toContain(`To remove the default: kubectl annotate storageclass fast ${annotation}-`);
  const without = await stowage(argv.slice(0, 3), { tty: true, answers, objects });
  expect(without.code).toBe(0);
  expect(without.err).not.toContain('Other default classes');
});
