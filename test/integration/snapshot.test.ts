import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { execa } from 'execa';
import type { FsType } from '../../src/api/file-systems.ts';
import { createLocalShell } from '../../src/nodes/transport/local-shell.ts';
import { createShellExecutor } from '../../src/nodes/transport/shell-executor.ts';
import { scriptArgv } from '../../src/storage/scripts/scripts.ts';
import { readSnapshot, snapshotProbes } from '../../src/storage/snapshot/observe.ts';
import { planSnapshot } from '../../src/storage/snapshot/plan.ts';
import { snapshotFile } from '../../src/storage/snapshot/snapshot-path.ts';
import type { DesiredSnapshot } from '../../src/storage/snapshot/types.ts';
import type { DesiredSparse, Source } from '../../src/storage/types.ts';
import { carryOut, runSteps } from '../support/carry-out.ts';
import { EVERY_CASE } from '../support/lane.ts';
import { type OwnFileSystem, ownFileSystem, startWriter } from '../support/loop-mounts.ts';
import { removeTraces } from '../support/remove-traces.ts';
import { describeAsRoot } from '../support/root.ts';
import { ensureUdev } from '../support/udev.ts';

const MIB = 1n << 20n;
const SIZE = 320n * MIB;

const below: [FsType][] = EVERY_CASE ? [['xfs'], ['ext4']] : [['xfs']];

describeAsRoot.each(below)('snapshots on real devices, in a directory on %s', (folderType) => {
  const executor = createShellExecutor(createLocalShell(['n1']));
  const clones = folderType === 'xfs';
  let folder: OwnFileSystem;
  let stopUdev: () => Promise<void>;
  let made: DesiredSparse[] = [];
  let snapshots: DesiredSnapshot[] = [];
  let files: string;

  beforeAll(async () => {
    stopUdev = await ensureUdev();
    folder = await ownFileSystem(folderType, 4096n * MIB);
  });
  afterAll(async () => {
    await folder?.remove();
    await stopUdev?.();
  });
  beforeEach(() => {
    made = [];
    snapshots = [];
    files = randomUUID();
  });
  afterEach(async () => {
    for (const { uid, file } of made) {
      await execa('umount', [join(folder.path, `mnt-${uid}`)], { reject: false });
      await removeTraces(uid, file);
    }
    for (const { uid } of snapshots) await removeTraces(uid);
  });

  function volume(
    mode: 'Filesystem' | 'Block',
    type: FsType,
    more: Partial<DesiredSparse> = {},
  ): DesiredSparse {
    const uid = randomUUID();
    const desired: DesiredSparse = {
      ...{
        type: 'sparse',
        uid,
        name: 'data1',
        mode,
        file: join(folder.path, files, uid),
        sizeBytes: SIZE,
      },
      ...{
        fs: mode === 'Block' ? undefined : { type, options: [] },
        recorded: false,
        onDelete: 'Delete',
      },
      ...{
        onDemand: false,
        readOnly: false,
        shared: false,
        kubeletRoot: join(folder.path, 'kubelet'),
        ...more,
      },
    };
    made.push(desired);
    return desired;
  }

  async function carry(operation: Parameters<typeof carryOut>[2], desired: DesiredSparse) {
    const seen = await carryOut(executor, 'n1', operation, desired);
    if (typeof seen === 'string') throw new Error(seen);
    return seen;
  }

  /** Mounts the volume by its persistent link. */
  async function mounted({ uid, mode }: DesiredSparse): Promise<string> {
    const point = join(folder.path, `mnt-${uid}`);
    await mkdir(point, { recursive: true });
    if (mode === 'Filesystem') await execa('mount', [`/dev/disk/by-id/stowage-${uid}`, point]);
    return point;
  }

  const snapshot = (of: DesiredSparse, freeze = { seconds: 10, copy: false }): DesiredSnapshot => {
    const desired = { uid: randomUUID(), volume: { ...of, recorded: true }, freeze };
    snapshots.push(desired);
    return desired;
  };
  const look = async (desired: DesiredSnapshot) =>
    readSnapshot(desired, await executor.observe('n1', snapshotProbes(desired)));

  /**
   * Runs an operation, and plans again after a failed precondition, as a controller does. A
   * partition is absent for a moment whenever its table is read.
   * @returns the refusal, or the state of a job that did not succeed, or undefined on success
   */
  async function carrySnapshot(
    operation: 'take' | 'delete',
    desired: DesiredSnapshot,
    tries = 3,
  ): Promise<unknown> {
    const planned = planSnapshot(operation, desired, await look(desired));
    if ('refusal' in planned) return planned.refusal;
    const end = await runSteps(executor, 'n1', desired.volume, planned.steps);
    if (end.state === 'guarded' && tries > 1) return carrySnapshot(operation, desired, tries - 1);
    if (end.state !== 'succeeded') return end;
    expect(planSnapshot(operation, desired, await look(desired))).toEqual({ steps: [] });
    return undefined;
  }

  const from = (of: DesiredSnapshot, more: Partial<Source> = {}): { source: Source } => ({
    source: {
      what: 'snapshot',
      file: snapshotFile(of.volume, of.uid),
      mode: of.volume.mode,
      ...more,
    },
  });
  const uuidOf = async (path: string) =>
    (await execa('blkid', ['-p', '-o', 'value', '-s', 'UUID', path])).stdout;
  const linkOf = async (uid: string) =>
    (await execa('readlink', ['-f', `/dev/disk/by-id/stowage-${uid}`])).stdout;

  describe.each([['ext4'], ['xfs']] as [FsType][])('a snapshot of an %s volume', (type) => {
    test('is taken while unmounted, and restored to larger mounted volumes', async () => {
      const original = volume('Filesystem', type);
      await carry('provision', original);
      const point = await mounted(original);
      await writeFile(join(point, 'data'), 'before');
      await execa('umount', [point]);
      const taken = snapshot(original);
      expect(await carrySnapshot('take', taken)).toBeUndefined();
      expect(await uuidOf(snapshotFile(original, taken.uid))).toBe(taken.uid);
      expect(await readdir(join(dirname(original.file), 'snapshots'))).toEqual([taken.uid]);
      await mounted(original);
      await writeFile(join(point, 'data'), 'after');

      const restored = [0, 1].map(() =>
        volume('Filesystem', type, { sizeBytes: 2n * SIZE, ...from(taken) }),
      );
      for (const each of restored) {
        expect((await carry('provision', each)).done?.sizeBytes).toBe(2n * SIZE);
        const at = await mounted(each);
        expect(await readFile(join(at, 'data'), 'utf8')).toBe('before');
        const { stdout } = await execa('df', ['-B1', '--output=size', at]);
        expect(BigInt(stdout.split('\n')[1] ?? 0)).toBeGreaterThan(SIZE + SIZE / 2n);
      }
      expect(await readFile(join(point, 'data'), 'utf8')).toBe('after');
      // The source is deleted while both use it, without an effect on them.
      expect(await carrySnapshot('delete', taken)).toBeUndefined();
      expect(await readdir(join(dirname(original.file), 'snapshots'))).toEqual([]);
    });

    test('is taken while mounted and written to, and restores the data', async () => {
      const original = volume('Filesystem', type);
      await carry('provision', original);
      const point = await mounted(original);
      await writeFile(join(point, 'data'), 'before');
      const writer = await startWriter(join(point, 'written'));
      const device = await linkOf(original.uid);
      const refused = await carrySnapshot('take', snapshot(original));
      const taken = snapshot(original, { seconds: 30, copy: true });
      const allowed = await carrySnapshot('take', taken);
      // Writes continue, so that no file system stays frozen.
      await writer.writes();
      await writer.stop();
      if (clones) expect(refused).toBeUndefined();
      else expect(refused).toMatch(/is mounted at .* cannot clone files/);
      expect(allowed).toBeUndefined();
      expect(await uuidOf(snapshotFile(original, taken.uid))).toBe(taken.uid);
      // The link always had the same target.
      expect(await linkOf(original.uid)).toBe(device);
      const restored = volume('Filesystem', type, from(taken));
      await carry('provision', restored);
      expect(await readFile(join(await mounted(restored), 'data'), 'utf8')).toBe('before');
      // A clone of the volume itself, by the same rules.
      const freeze = { seconds: 30, copy: true };
      const source: Source = { what: 'volume', file: original.file, mode: 'Filesystem', freeze };
      const cloned = volume('Filesystem', type, { source, sizeBytes: 2n * SIZE });
      await carry('provision', cloned);
      expect(await readFile(join(await mounted(cloned), 'data'), 'utf8')).toBe('before');
      expect(await linkOf(original.uid)).toBe(device);
    });
  });

  test('a snapshot of a Block volume is restored with GUIDs of its own', async () => {
    const original = volume('Block', 'ext4');
    await carry('provision', original);
    await execa(
      'dd',
      [`of=/dev/disk/by-partuuid/${original.uid}`, 'bs=4K', 'count=1', 'conv=fsync'],
      {
        input: 'before'.padEnd(4096),
      },
    );
    const taken = snapshot(original);
    expect(await carrySnapshot('take', taken)).toBeUndefined();
    const restored = volume('Block', 'ext4', {
      ...from(taken),
      name: 'data2',
      sizeBytes: 2n * SIZE,
    });
    const seen = await carry('provision', restored);
    expect(seen.done?.sizeBytes).toBe(2n * SIZE);
    const part = `/dev/disk/by-partuuid/${restored.uid}`;
    expect((await execa('head', ['-c', '6', part])).stdout).toBe('before');
    expect((await execa('blockdev', ['--getsize64', part])).stdout).toBe(String(2n * SIZE));
    expect(existsSync(`/dev/disk/by-partuuid/${taken.uid}`)).toBe(false);
  });

  test.each([
    ['an interrupted copy left is thawed by the next one', false],
    ['somebody else made since is left alone', true],
  ])('a freeze that %s', async (_, isOfOthers) => {
    const original = volume('Filesystem', 'ext4');
    await carry('provision', original);
    const point = await mounted(original);
    const partial = join(folder.path, `${randomUUID()}.partial`);
    const left = `/run/stowage/freezes/${basename(partial)}`;
    const device = (await execa('mountpoint', ['-d', point])).stdout;
    const noted = async () => (await execa('stat', ['-c', '%i %.9Z', original.file])).stdout;
    // Reports whether the file system was frozen, and thaws it.
    const thaw = async () =>
      (await execa('fsfreeze', ['-u', point], { reject: false })).exitCode === 0;
    let wasFrozen: boolean;
    await mkdir(left, { recursive: true });
    await execa('fsfreeze', ['-f', point]);
    try {
      // Files of a copy whose processes have all ended.
      await writeFile(join(left, 'alive'), '');
      await writeFile(
        join(left, 'state'),
        `frozen\n${device}\n${original.file}\n${await noted()}\n`,
      );
      if (isOfOthers) {
        await thaw();
        await execa('fsfreeze', ['-f', point]);
      }
      const argv = scriptArgv('stowage-freeze', 'thaw', partial);
      const { stderr } = await execa(argv[0] as string, argv.slice(1), { cwd: '/' });
      expect(stderr).toBe(
        isOfOthers
          ? ''
          : `thawed ${point}: an interrupted copy of ${original.file} had left it frozen`,
      );
      expect(existsSync(left)).toBe(false);
    } finally {
      wasFrozen = await thaw();
    }
    expect(wasFrozen).toBe(isOfOthers);
  });

  test('a snapshot is discarded if the volume is written meanwhile, and retried', async () => {
    const original = volume('Filesystem', 'ext4');
    await carry('provision', original);
    const taken = snapshot(original);
    const planned = planSnapshot('take', taken, await look(taken));
    if ('refusal' in planned) throw new Error(planned.refusal);
    const rename = planned.steps.findIndex(({ argv }) => argv[0] === 'mv');
    const state = await runSteps(executor, 'n1', original, planned.steps.slice(0, rename));
    expect(state).toEqual({ state: 'succeeded' });
    const device = await linkOf(original.uid);
    await execa('dd', [
      `if=${device}`,
      `of=${device}`,
      'bs=4K',
      'count=1',
      'oflag=direct',
      'conv=notrunc',
    ]);
    expect(await runSteps(executor, 'n1', original, planned.steps.slice(rename))).toMatchObject({
      state: 'guarded',
      refusal: `${original.file} was written to while it was being copied`,
    });
    expect(await carrySnapshot('take', taken)).toBeUndefined();
  });
});
