import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { contentLink, linkOf } from '../../../src/storage/links.ts';
import type { Desired } from '../../../src/storage/registry.ts';
import type { DesiredRaw, DesiredSparse } from '../../../src/storage/types.ts';
import type { Content } from '../../support/kinds.ts';
import { type LvmNode, MIB, startLvmNode } from './lvm.ts';

const LONG = 900_000;

let node: LvmNode;
beforeAll(async () => {
  node = await startLvmNode({ first: '512M', second: '512M' });
}, 1_800_000);
afterAll(() => node?.stop());

const common = (content: Content) => ({
  ...{
    uid: randomUUID(),
    name: `vol-${randomUUID()}`,
    recorded: false,
    onDelete: 'Delete' as const,
  },
  mode: content === 'Block' ? ('Block' as const) : ('Filesystem' as const),
  fs: content === 'Block' ? undefined : { type: content, options: [] },
  kubeletRoot: '/var/lib/kubelet',
});

const onDisk = (content: Content, disk: string): DesiredRaw => ({
  ...{ ...common(content), type: 'raw', devicePath: node.vm.disk(disk) },
  ...{ overwrite: undefined, identity: undefined },
});

function inFile(content: Content): DesiredSparse {
  const base = common(content);
  const file = `/var/lib/metalk8s/storage/sparse/${base.uid}`;
  const flags = { onDemand: false, readOnly: false, shared: false };
  return { ...base, ...flags, type: 'sparse', file, sizeBytes: 64n * MIB };
}

async function made(desired: Desired): Promise<{ volume: Desired; path: string }> {
  const device = await node.carry('provision', desired);
  if (typeof device === 'string') throw new Error(device);
  const { identity } = device;
  const recorded = { ...desired, recorded: true };
  const volume = recorded.type === 'sparse' ? recorded : { ...recorded, identity };
  return { volume, path: `/dev/${device.device?.name}` };
}

const leadsTo = async (path: string) => (await node.vm.run(['realpath', path])).stdout;

test(
  'a UUID that a pod writes to its device never takes over the path of another volume',
  async () => {
    const { vm } = node;
    // A device of each kind, which has the UUID of a volume of another kind.
    const pairs: [Desired, Desired][] = [
      [onDisk('ext4', 'first'), node.desired('Block')],
      [node.desired('ext4'), onDisk('Block', 'second')],
      [inFile('ext4'), inFile('Block')],
    ];
    const volumes: { volume: Desired; other: Desired }[] = [];
    for (const [wanted, forged] of pairs) {
      const { volume, path } = await made(wanted);
      await node.node.write('ext4', linkOf(volume), `kept by ${volume.uid}`);
      const { volume: other, path: theirs } = await made(forged);
      await vm.run(['mkfs.ext4', '-q', '-F', '-U', volume.uid, theirs]);
      await vm.run(['udevadm', 'trigger', '--settle', '--action=change', theirs]);
      expect(await leadsTo(linkOf(volume))).toBe(path);
      expect(await leadsTo(contentLink(volume))).toBe(path);
      volumes.push({ volume, other });
    }
    await vm.run(['sync']);
    await vm.reboot();
    const byUuid = [];
    for (const { volume, other } of volumes) {
      expect(await node.node.exists(linkOf(volume))).toBe(false);
      // This link leads to the device that came first.
      if (await node.node.exists(contentLink(volume)))
        byUuid.push(await leadsTo(contentLink(volume)));
      await node.carry('attach', other);
      expect(await node.node.exists(linkOf(volume))).toBe(false);
    }
    console.info(`by UUID, after the node started anew: ${byUuid.join(', ') || 'nothing'}`);
    for (const { volume } of volumes) {
      await node.carry('attach', volume);
      expect(await node.node.read('ext4', linkOf(volume))).toBe(`kept by ${volume.uid}`);
      expect(await leadsTo(contentLink(volume))).toBe(await leadsTo(linkOf(volume)));
    }
    for (const { volume, other } of volumes) {
      for (const each of [volume, other]) await node.carry('delete', each);
      expect(await node.node.exists(linkOf(volume))).toBe(false);
    }
  },
  LONG,
);
