import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Executor } from '../../../src/nodes/job.ts';
import { createShellExecutor } from '../../../src/nodes/transport/shell-executor.ts';
import { createSshShell } from '../../../src/nodes/transport/ssh-shell.ts';
import type { DesiredRaw, DeviceFacts } from '../../../src/storage/types.ts';
import { carryOut, observe, planNow, runSteps } from '../../support/carry-out.ts';
import { rawDesired } from '../../support/raw-input.ts';
import { startVm, type Vm } from './vm.ts';

/** Identities that a server's disks report, on real SCSI and NVMe devices. */

let vm: Vm;
let executor: Executor;

beforeAll(async () => {
  const scsi = (drive: string, serial: string, wwn: bigint) => ({
    driver: 'scsi-hd',
    bus: 'scsi.0',
    drive,
    serial,
    wwn,
  });
  const shared = { ...scsi('shared', 'SHARED', 0x5000c500a1b2c3d1n), 'share-rw': true };
  const size = '1G';
  vm = await startVm({
    name: 'n1',
    // Otherwise the kernel merges the disks of a namespace that two controllers have.
    kernel: ['nvme_core.multipath=N'],
    disks: { shared: size, one: size, two: size, first: size, second: size, dual: size },
    devices: [
      shared,
      shared,
      scsi('one', 'SAME', 0x5000c500a1b2c3d2n),
      scsi('two', 'SAME', 0x5000c500a1b2c3d3n),
      { driver: 'nvme', id: 'c1', serial: 'SAME-NVME' },
      { driver: 'nvme-ns', bus: 'c1', drive: 'first', nsid: 1n },
      { driver: 'nvme-ns', bus: 'c1', drive: 'second', nsid: 2n },
      { driver: 'nvme-subsys', id: 'subsystem' },
      { driver: 'nvme', id: 'c2', serial: 'DUAL', subsys: 'subsystem' },
      { driver: 'nvme', id: 'c3', serial: 'DUAL', subsys: 'subsystem' },
      { driver: 'nvme-ns', bus: 'c2', drive: 'dual', nsid: 1n, shared: true },
    ],
  });
  executor = createShellExecutor(
    createSshShell({ configFile: vm.configFile, addressOf: () => ({}) }),
  );
}, 1_800_000);
afterAll(async () => {
  await executor?.close();
  await vm?.stop();
});

const volumeOn = (devicePath: string, more: Partial<DesiredRaw> = {}): DesiredRaw => ({
  ...{ ...rawDesired, uid: randomUUID(), devicePath, onDelete: 'Wipe' as const, ...more },
});
const prepare = (desired: DesiredRaw) => carryOut(executor, 'n1', 'provision', desired);

/** Returns the paths of the disks whose identity matches, sorted. */
async function disks(pattern: RegExp): Promise<string[]> {
  const { stdout } = await vm.run(['lsblk', '-d', '-n', '-o', 'PATH,SERIAL,WWN']);
  return stdout
    .split('\n')
    .filter((line) => pattern.test(line))
    .map((line) => line.split(/\s/)[0] ?? '')
    .sort();
}

async function factsOf(desired: DesiredRaw): Promise<DeviceFacts> {
  const seen = await observe(executor, 'n1', desired);
  if (seen.type !== 'raw' || seen.target.is !== 'device')
    throw new Error(`${desired.devicePath} is no device`);
  return seen.target.facts;
}

test.each([
  ['disk', /SHARED/],
  ['namespace of two NVMe controllers', /DUAL/],
])(
  'a %s that is mounted by its second path is in use, even with consent to overwrite',
  async (_, pattern) => {
    const [path = '', other = ''] = await disks(pattern);
    expect(other).not.toBe('');
    await vm.run(['mkfs.ext4', '-q', other]);
    const desired = volumeOn(path);
    const facts = await factsOf(desired);
    expect(facts.content).toMatch(/^ext4:/);
    const consenting = { ...desired, overwrite: facts.content };
    const planned = await planNow(executor, 'n1', 'provision', consenting);
    await vm.run(['mount', other, '/mnt']);
    await vm.run(['sh', '-c', 'echo kept >/mnt/data; sync']);
    expect(await prepare(consenting)).toBe(
      `${other}, another path of the disk of ${path}, is in use: mounted at /mnt`,
    );
    const steps = 'steps' in planned ? planned.steps : [];
    expect(await runSteps(executor, 'n1', desired, steps)).toMatchObject({
      state: 'guarded',
      refusal: expect.stringContaining(other),
    });
    expect((await vm.run(['cat', '/mnt/data'])).stdout).toBe('kept');
    await vm.run(['umount', '/mnt']);
    expect(await prepare(consenting)).toMatchObject({ done: {} });
    expect(await prepare(volumeOn(other, { overwrite: `ext4:${desired.uid}` }))).toContain(
      'belongs to another Volume',
    );
  },
);

describe.each([
  ['disks', /^\/dev\/sd.*SAME/],
  ['namespaces of an NVMe controller', /^\/dev\/nvme.*SAME/],
])('two %s with the same serial number', (_, pattern) => {
  test('remain distinct', async () => {
    const [path = '', other = ''] = await disks(pattern);
    const desired = volumeOn(path);
    expect(await prepare(desired)).toMatchObject({ done: {} });
    const { identity } = await factsOf(desired);
    const exchanged = { ...desired, devicePath: other, recorded: true, identity };
    const before = (await vm.run(['sha256sum', other])).stdout;
    // The state after the provisioned disk is gone.
    const lost = { ...exchanged, identity: identity.replace(/(wwn=\S+)\S /, '$1f ') };
    for (const operation of ['provision', 'attach', 'delete'] as const) {
      expect(await carryOut(executor, 'n1', operation, lost)).toMatch(/is now .*, not the device/);
    }
    expect(await factsOf(exchanged)).toMatchObject({ name: path.replace('/dev/', '') });
    expect((await vm.run(['sha256sum', other])).stdout).toBe(before);
    expect(await prepare(volumeOn(other))).toMatchObject({ done: {} });
  });
});

test('a recorded disk is recognized by a serial number and WWN spelled differently', async () => {
  const [path = ''] = await disks(/c3d2/);
  const desired = volumeOn(path);
  const facts = await factsOf(desired);
  const [, uid = ''] = /^ext4:(.*)$/.exec(facts.content) ?? [];
  const identity = 'wwn=naa.5000C500A1B2C3D2 serial=SA_ME size=1073741824';
  const recorded = { ...desired, uid, recorded: true, identity };
  expect(await carryOut(executor, 'n1', 'attach', recorded)).toMatchObject({
    target: { is: 'device' },
  });
});

test('data without a signature is overwritten only with consent to unknown data', async () => {
  const [, path = ''] = await disks(/SHARED/);
  await vm.run(['wipefs', '--all', '--force', path]);
  await vm.run([
    'sh',
    '-c',
    `find /var/lib/stowage/volumes -type f -delete; printf SPDKBLOB | dd of=${path} conv=notrunc,fsync status=none`,
  ]);
  await vm.run([
    'dd',
    'if=/dev/urandom',
    `of=${path}`,
    'bs=1M',
    'seek=1',
    'count=64',
    'conv=notrunc,fsync',
    'status=none',
  ]);
  const before = (await vm.run(['sha256sum', path])).stdout;
  const desired = volumeOn(path);
  expect(await prepare(desired)).toBe(`${path} contains unknown data`);
  expect((await vm.run(['sha256sum', path])).stdout).toBe(before);
  expect(await prepare({ ...desired, overwrite: 'unknown data' })).toMatchObject({ done: {} });
});

const shell = (script: string) => vm.run(['sh', '-euc', script]);

test('a disk whose udev link was renamed is found and deleted', async () => {
  const [path = ''] = await disks(/c3d2/);
  await shell('rm -f /var/lib/stowage/volumes/*');
  const link = '/dev/disk/by-id/wwn-0x5000c500a1b2c3d2';
  const { content } = await factsOf(volumeOn(path));
  const desired = volumeOn(link, { overwrite: content });
  expect(await prepare(desired)).toMatchObject({ done: {} });
  const { identity } = await factsOf(desired);
  const recorded = { ...desired, recorded: true, identity };
  await shell(`echo 'ENV{ID_WWN}=="0x5000c500a1b2c3d2",SYMLINK="disk/by-id/renamed"' >/etc/udev/rules.d/60-renamed.rules
    udevadm control --reload; udevadm trigger --settle --action=change ${path}; [ ! -e ${link} ]`);
  expect(await carryOut(executor, 'n1', 'attach', recorded)).toMatchObject({
    target: { is: 'device', isElsewhere: true, facts: { name: path.replace('/dev/', '') } },
  });
  expect(await carryOut(executor, 'n1', 'delete', recorded)).toMatchObject({ recordFiles: false });
  expect(await factsOf(volumeOn(path))).toMatchObject({ isBlank: true });
});

describe('a disk that multipathd claims', () => {
  test('is attached through its multipath map, and keeps its data', async () => {
    const [path = ''] = await disks(/c3d3/);
    await shell(
      `rm -f /var/lib/stowage/volumes/*; wipefs --all --force ${path}; blkdiscard --zeroout ${path}`,
    );
    const { stdout } = await shell(
      `for each in /dev/disk/by-path/*; do [ "$(readlink -f "$each")" != ${path} ] || echo "$each"; done`,
    );
    const desired = volumeOn(stdout.split('\n')[0] ?? '');
    expect(await prepare(desired)).toMatchObject({ done: {} });
    const { identity } = await factsOf(desired);
    const recorded = { ...desired, recorded: true, identity };
    const mount = `mount /dev/disk/by-uuid/${desired.uid} /mnt`;
    await shell(`${mount}; echo kept >/mnt/data; umount /mnt`);
    await shell(`printf 'defaults {\\n find_multipaths no\\n user_friendly_names yes\\n}\\nblacklist {\\n devnode "^nvme"\\n}\\n' >/etc/multipath.conf
      modprobe dm-multipath
      systemctl unmask multipathd.service multipathd.socket; systemctl start multipathd.service
      udevadm trigger --settle --subsystem-match=block --action=change
      for n in $(seq 60); do lsblk -n -o TYPE ${path} | grep -q mpath && break; multipathd reconfigure >/dev/null || :; sleep 1; done
      lsblk -n -o TYPE ${path} | grep -q mpath`);
    const seen = await carryOut(executor, 'n1', 'attach', recorded);
    expect(seen).toMatchObject({ target: { is: 'device', facts: { type: 'mpath' } } });
    expect((await shell(`${mount}; cat /mnt/data; umount /mnt`)).stdout).toBe('kept');
    expect(await carryOut(executor, 'n1', 'delete', recorded)).toMatchObject({
      recordFiles: false,
    });
  });

  test('is provisioned through the map, and refused by its other path while in use', async () => {
    const [path = '', other = ''] = await disks(/SHARED/);
    const { content, isBlank } = await factsOf(volumeOn(path));
    const overwrite = content || (isBlank ? undefined : 'unknown data');
    const desired = volumeOn(path, { overwrite });
    expect(await prepare(desired)).toMatchObject({
      target: { facts: { type: 'mpath' } },
      done: {},
    });
    await shell(`mount /dev/disk/by-uuid/${desired.uid} /mnt`);
    const again = volumeOn(other, { overwrite: `ext4:${desired.uid}` });
    expect(await prepare(again)).toMatch(/belongs to another Volume|is in use: mounted at \/mnt/);
    await shell('umount /mnt');
  });

  test('is refused in mode Block, with a hint that names its WWID', async () => {
    const [path = ''] = await disks(/c3d3/);
    const planned = await planNow(
      executor,
      'n1',
      'provision',
      volumeOn(path, { mode: 'Block', fs: undefined }),
    );
    expect(planned).toMatchObject({
      refusal: expect.stringContaining('is a multipath map'),
      hint: expect.stringContaining('wwid "35000c500a1b2c3d3"'),
    });
  });
});
