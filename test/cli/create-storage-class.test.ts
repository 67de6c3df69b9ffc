import { describe, expect, test } from '@jest/globals';
import { stowage } from '../support/fake-io.ts';

const CREATE = ['create', 'storageclass', 'local', '--static'];
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

describe('sends the class that the flags describe', () => {
  test.each<[string[], object]>([
    [[], {}],
    [['--mkfs-options', '["-m", "0"]'], { parameters: { fsType: 'ext4', mkfsOptions: '["-m","0"]' } }],
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
        metadata: { name: 'local', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
      },
    ],
  ])('%j', async (flags, parts) => {
    const { code, out, err, requests } = await stowage([...CREATE, ...flags]);
    expect({ code, out, err }).toEqual({ code: 0, out: `${FULL_NAME} created\n`, err: '' });
    expect(requests).toMatchObject([{ what: 'create storageclasses/local', options: { dryRun: false } }]);
    expect(requests[0]?.object).toEqual({ ...LEAST, ...parts });
  });
});

test('--dry-run and -o', async () => {
  const { out, connections } = await stowage([...CREATE, '--dry-run=client', '-o', 'json']);
  expect(JSON.parse(out)).toEqual(LEAST);
  expect(connections).toEqual([]);
  expect((await stowage([...CREATE, '--dry-run=server'])).requests).toMatchObject([
    { what: 'create storageclasses/local', options: { dryRun: true } },
  ]);
});

describe('is refused before anything is asked of the server', () => {
  test.each<[string[], string]>([
    [['create', 'storageclass', 'local'], 'missing: --static'],
    [['create', 'sc', 'local', '--dynamic'], '--dynamic is not supported by this version of stowage'],
    [['create', 'sc', 'local', '--static', '--dynamic'], '--dynamic is not supported'],
    [['create', 'sc', '--static'], "missing required argument 'name'"],
    [[...CREATE, '--fs-type', 'btrfs'], "argument 'btrfs' is invalid"],
    [[...CREATE, '--mkfs-options', '[1]'], 'Write a JSON list of strings'],
    [[...CREATE, '--mkfs-options', '["-m"'], 'Write a JSON list of strings'],
    [[...CREATE, '--mkfs-options', '["-U", "random"]'], 'option "-U" is not allowed'],
    [[...CREATE, '--mkfs-options', '/dev/sda'], 'option "/dev/sda" is not allowed'],
    [[...CREATE, '--mkfs-options', '-m 0'], 'StorageClass local: parameter mkfsOptions'],
    [[...CREATE, '--mount-options', 'a,,b'], 'with commas between'],
    [[...CREATE, '--mount-options', ''], 'with commas between'],
  ])('%j', async (argv, message) => {
    const { code, out, err, requests } = await stowage(argv);
    expect({ code, out, requests }).toEqual({ code: 2, out: '', requests: [] });
    expect(err).toContain(message);
  });
});
