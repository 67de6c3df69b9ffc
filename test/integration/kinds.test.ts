import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { contentLink } from '../../src/storage/links.ts';
import type { Desired } from '../../src/storage/registry.ts';
import { bytesOf, carry, exists, KINDS, kindCases, someKinds } from '../support/kind-cases.ts';
import {
  CONTENTS,
  type Kinds,
  recordedAs,
  SIZE,
  setUpKinds,
  TRANSPORTS,
} from '../support/kinds.ts';
import { EVERY_CASE } from '../support/lane.ts';
import { describeAsRoot, mayGrowMounted } from '../support/root.ts';

const MIB = 1n << 20n;

describeAsRoot('every kind of volume, with real devices, mkfs, sgdisk and udev', () => {
  let kinds: Kinds;
  beforeAll(async () => {
    kinds = await setUpKinds();
  });
  afterEach(() => kinds.clean());
  afterAll(() => kinds?.stop());

  const isZero = async (path: string, bytes: bigint) =>
    (await execa('cmp', [`--bytes=${bytes}`, path, '/dev/zero'], { reject: false })).exitCode === 0;

  for (const [index, transport] of TRANSPORTS.entries()) {
    kindCases(
      transport,
      () => kinds,
      () => kinds.executors[transport],
      EVERY_CASE ? KINDS : someKinds(index),
    );
  }

  describe('onDelete', () => {
    test.each(EVERY_CASE ? KINDS : someKinds(0).slice(2))(
      'Retain of a %s with %s keeps every byte',
      async (backing, content) => {
        const desired = await kinds.desired(backing, content, { onDelete: 'Retain' });
        const { link, identity } = await carry(kinds.executors.local, 'provision', desired);
        await kinds.write(desired, link, 'kept');
        await carry(kinds.executors.local, 'delete', recordedAs(desired, identity));
        if (desired.type === 'raw') {
          expect(await exists(link)).toBe(false);
          expect(await kinds.read(desired, contentLink(desired))).toBe('kept');
          return;
        }
        expect(await exists(link)).toBe(false);
        expect((await readFile(desired.file)).includes('kept')).toBe(true);
      },
    );

    test.each(EVERY_CASE ? KINDS : someKinds(1).slice(1, 2))(
      'Wipe of a %s with %s leaves zeros',
      async (backing, content) => {
        const desired = await kinds.desired(backing, content, { onDelete: 'Wipe' });
        const { link, identity, device } = await carry(kinds.executors.local, 'provision', desired);
        await kinds.write(desired, link, 'kept');
        await carry(kinds.executors.local, 'delete', recordedAs(desired, identity));
        expect(await exists(link)).toBe(false);
        if (desired.type === 'sparse') {
          expect(await exists(desired.file)).toBe(false);
          return;
        }
        expect(device?.sizeBytes).toBeGreaterThan(300n * MIB);
        expect(await isZero(desired.devicePath, await bytesOf(desired.devicePath))).toBe(true);
      },
    );

    test.each(EVERY_CASE ? KINDS : someKinds(2).slice(0, 2))(
      'Delete of a %s with %s removes only the signature of Stowage',
      async (backing, content) => {
        const desired = await kinds.desired(backing, content);
        const { link, identity } = await carry(kinds.executors.local, 'provision', desired);
        await kinds.write(desired, link, 'kept');
        await carry(kinds.executors.local, 'delete', recordedAs(desired, identity));
        expect(await exists(link)).toBe(false);
        if (desired.type === 'sparse') {
          expect(await exists(desired.file)).toBe(false);
          return;
        }
        const { stdout } = await execa('wipefs', ['-n', '-i', '-O', 'TYPE', desired.devicePath]);
        expect(stdout).toBe('');
        expect(await isZero(desired.devicePath, await bytesOf(desired.devicePath))).toBe(false);
      },
    );
  });

  describe('a sparse volume grows', () => {
    const grown = 2n * SIZE;
    const uses = CONTENTS.flatMap((content) =>
      (['in use', 'not in use'] as const).map((use) => [content, use] as const),
    );
    const left = ([content, use]: (typeof uses)[number]) =>
      content === 'ext4' && use === 'in use' && !mayGrowMounted;
    for (const [content, use] of uses.filter(left))
      test.skip(`with ${content}, ${use} (skipped: needs CAP_SYS_RESOURCE, which root here lacks)`, () => {});
    const some = EVERY_CASE
      ? uses
      : uses.filter(([content, use]) => (content === 'xfs') === (use === 'in use'));
    test.each(some.filter((each) => !left(each)))(
      'with %s, %s: file, device and file system',
      async (content, use) => {
        const executor = kinds.executors.ssh;
        const desired = await kinds.desired('sparse file', content);
        const { link, identity } = await carry(executor, 'provision', desired);
        await kinds.write(desired, link, 'kept');
        const recorded = { ...recordedAs(desired, identity), sizeBytes: grown } as Desired;
        const mountPoint = `${kinds.folder}/mnt`;
        const end = use === 'in use' ? await useIt(content, link, mountPoint) : async () => {};
        const { device } = await carry(executor, 'attach', recorded);
        await end();
        expect(device?.sizeBytes).toBe(grown);
        expect(await bytesOf(link)).toBe(grown);
        expect(await kinds.read(desired, link)).toBe('kept');
        if (content !== 'Block') {
          await execa('mount', [link, mountPoint]);
          const { stdout } = await execa('stat', ['-f', '-c', '%b %S', mountPoint]);
          await execa('umount', [mountPoint]);
          const [blocks = 0, size = 0] = stdout.split(' ').map(Number);
          expect(blocks * size).toBeGreaterThan(Number(grown) * 0.8);
        }
        await carry(executor, 'delete', recorded);
      },
    );

    async function useIt(
      content: string,
      link: string,
      mountPoint: string,
    ): Promise<() => Promise<unknown>> {
      if (content === 'Block') {
        // A loop device over the link, as the kubelet creates it.
        const { stdout } = await execa('losetup', ['--find', '--show', link]);
        return () => execa('losetup', ['--detach', stdout]);
      }
      await execa('mount', [link, mountPoint]);
      return () => execa('umount', [mountPoint]);
    }
  });
});
