import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execa } from 'execa';
import type { Executor } from '../../../src/nodes/job.ts';
import { createShellExecutor } from '../../../src/nodes/transport/shell-executor.ts';
import { createSshShell } from '../../../src/nodes/transport/ssh-shell.ts';
import { deviceOf } from '../../../src/storage/device.ts';
import type { Desired } from '../../../src/storage/registry.ts';
import { carryOut, planNow, runSteps } from '../../support/carry-out.ts';
import { CONTENTS, type Content } from '../../support/kinds.ts';
import { lvmDesired } from '../../support/lvm-input.ts';
import { rawDesired } from '../../support/raw-input.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { sparseDesired } from '../../support/volume-input.ts';
import { onNode } from './node.ts';
import { startVm, type Vm } from './vm.ts';

/** Timeout (ms) of tests that move disks from a machine that lost power to another one. */

const LONG = 240_000;
const SIZE = 304n << 20n;
const KINDS = ['disk', 'logical volume', 'file'] as const;
type Kind = (typeof KINDS)[number];
const CASES = KINDS.flatMap((kind) => CONTENTS.map((content) => [kind, content] as const));

interface Node {
  vm: Vm;
  executor: Executor;
}

const folder = await temporaryDirectory('adopt');
const disks: Record<string, { qcow2: string }> = {};
const uids = new Map(CASES.map(([kind, content]) => [`${kind} ${content}`, randomUUID()]));
let node: Node;
/** Checksums of the devices' contents, by kind and content. */
const sums = new Map<string, string>();

async function start(name: string): Promise<Node> {
  const vm = await startVm({ name, disks });
  const executor = createShellExecutor(
    createSshShell({ configFile: vm.configFile, addressOf: () => ({}) }),
  );
  await vm.run(['mkdir', '-p', '/data']);
  return { vm, executor };
}

async function stop({ vm, executor }: Node): Promise<void> {
  await executor.close();
  await vm.stop();
}

const wanted = (kind: Kind, content: Content, uid: string, name: string): Desired => {
  const common = {
    ...{
      uid,
      name,
      onDelete: 'Retain' as const,
      mode: content === 'Block' ? ('Block' as const) : ('Filesystem' as const),
    },
    fs: content === 'Block' ? undefined : { type: content, options: [] },
  };
  switch (kind) {
    case 'disk':
      return { ...rawDesired, ...common, devicePath: node.vm.disk(content) };
    case 'logical volume':
      return { ...lvmDesired, ...common, sizeBytes: SIZE };
    case 'file':
      return { ...sparseDesired, ...common, file: `/data/${uid}`, sizeBytes: SIZE };
  }
};

const carry = (operation: 'provision' | 'delete', desired: Desired) =>
  carryOut(node.executor, node.vm.name, operation, desired);

async function linkOf(desired: Desired): Promise<string> {
  const observed = await carry('provision', desired);
  if (typeof observed === 'string') throw new Error(observed);
  return deviceOf(desired, observed).link;
}

/** Returns the checksum of all files and their attributes, or of every byte in mode Block. */
async function checksum(content: Content, link: string): Promise<string> {
  const files =
    'mkdir -p /mnt/sum && mount -o ro "$1" /mnt/sum && cd /mnt/sum && find . -path ./lost+found -prune -o -printf "%p %m %U %s %T@\\n" | sort | sha256sum && find . -type f -exec sha256sum {} + | sort | sha256sum; cd / && umount /mnt/sum';
  const argv = content === 'Block' ? ['sha256sum', link] : ['sh', '-c', files, 'sh', link];
  return (await node.vm.run(argv)).stdout.split('  ')[0] ?? '';
}

beforeAll(async () => {
  for (const name of [...CONTENTS, 'pv', 'dir']) {
    const qcow2 = join(folder.path, `${name}.qcow2`);
    const size = name === 'pv' || name === 'dir' ? '2G' : '512M';
    await execa('qemu-img', ['create', '-q', '-f', 'qcow2', qcow2, size]);
    disks[name] = { qcow2 };
  }
  node = await start('n1');
  const { vm } = node;
  await vm.run(['vgcreate', 'vg0', vm.disk('pv')]);
  await vm.run(['mkfs.ext4', '-q', vm.disk('dir')]);
  await vm.run(['mount', vm.disk('dir'), '/data']);
  for (const [kind, content] of CASES) {
    const old = wanted(
      kind,
      content,
      uids.get(`${kind} ${content}`) ?? '',
      `old-${content.toLowerCase()}`,
    );
    const link = await linkOf(old);
    await onNode(vm).write(content, link, `kept by ${kind} ${content}`);
    sums.set(`${kind} ${content}`, await checksum(content, link));
  }
  // A pod writes to it when the power fails: its log is dirty.
  const point = await onNode(vm).mount(vm.disk('xfs'), 'pod');
  await vm.run(['sh', '-c', 'echo last >"$1/last" && sync -f "$1/last"', 'sh', point]);
  await vm.run(['sync']);
  await vm.powerCut();
  await stop(node);
  node = await start('n2');
  await node.vm.run(['mount', node.vm.disk('dir'), '/data']);
}, 1_800_000);
afterAll(async () => {
  if (node !== undefined) await stop(node);
  await folder.remove();
});

describe('adoption on another node', () => {
  test(
    'refuses an XFS with a dirty log, and changes nothing on it',
    async () => {
      const desired = {
        ...wanted('disk', 'xfs', randomUUID(), 'late'),
        adopt: uids.get('disk xfs') ?? '',
      };
      const plan = await planNow(node.executor, 'n2', 'provision', desired);
      if ('refusal' in plan) throw new Error(plan.refusal);
      const state = await runSteps(node.executor, 'n2', desired, plan.steps);
      expect(state).toMatchObject({
        state: 'failed',
        output: expect.stringContaining('mount and unmount it once'),
      });
      // Nothing was changed, and nothing remains of the attempt.
      await carry('delete', desired);
      expect(
        await node.vm.run(['blkid', '-p', '-o', 'value', '-s', 'UUID', node.vm.disk('xfs')]),
      ).toMatchObject({
        stdout: uids.get('disk xfs'),
      });
      const point = await onNode(node.vm).mount(node.vm.disk('xfs'), 'replay');
      expect((await node.vm.run(['cat', `${point}/last`])).stdout).toBe('last');
      await node.vm.run(['rm', `${point}/last`]);
      await node.vm.run(['umount', point]);
      sums.set('disk xfs', await checksum('xfs', node.vm.disk('xfs')));
    },
    LONG,
  );

  test.each(CASES)(
    'adopts a %s with %s and its data, also after interrupted attempts',
    async (kind, content) => {
      const key = `${kind} ${content}`;
      const old = uids.get(key) ?? '';
      const name = `new-${content.toLowerCase()}`;
      const desired = { ...wanted(kind, content, randomUUID(), name), adopt: old };
      // A Volume of the other mode does not adopt it.
      const other = wanted(kind, content === 'Block' ? 'ext4' : 'Block', randomUUID(), 'other');
      expect(
        await carry('provision', {
          ...other,
          adopt: old,
          ...('devicePath' in desired && { devicePath: desired.devicePath }),
        } as Desired),
      ).toMatch(/of mode|contains|Volume of mode/);
      // Interrupted after various numbers of steps, the result is the same.
      for (let count = 1; ; count += 3) {
        const plan = await planNow(node.executor, 'n2', 'provision', desired);
        if ('refusal' in plan) throw new Error(plan.refusal);
        if (count >= plan.steps.length) break;
        await runSteps(node.executor, 'n2', desired, plan.steps.slice(0, count));
      }
      const link = await linkOf(desired);
      expect(link).toBe(`/dev/disk/by-id/stowage-${desired.uid}`);
      expect(await node.vm.run(['test', '-e', link], { reject: false })).toMatchObject({
        exitCode: 0,
      });
      expect(await checksum(content, link)).toBe(sums.get(key));
      expect(await onNode(node.vm).read(content, link)).toBe(`kept by ${key}`);
      expect(await onNode(node.vm).exists(`/dev/disk/by-uuid/${old}`)).toBe(false);
      expect((await node.vm.run(['ls', '/var/lib/stowage/volumes'])).stdout).not.toContain(old);
      // A second Volume that adopts the same one is refused.
      expect(
        await carry('provision', { ...desired, uid: randomUUID(), name: 'second' } as Desired),
      ).toMatch(/./);
      const programs: Record<string, string[]> = {
        ext4: ['e2fsck', '-f', '-n', link],
        xfs: ['xfs_repair', '-n', link],
        Block: ['true'],
      };
      expect(await node.vm.run(programs[content] ?? [], { reject: false })).toMatchObject({
        exitCode: 0,
      });
    },
    LONG,
  );
});
