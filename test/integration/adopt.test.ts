import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { VOLUMES } from '../../src/api/resources.ts';
import { createLocalShell } from '../../src/nodes/transport/local-shell.ts';
import { createShellExecutor } from '../../src/nodes/transport/shell-executor.ts';
import { directoryRecord } from '../../src/storage/directory/directory-record.ts';
import { scriptArgv } from '../../src/storage/scripts/scripts.ts';
import { textOf } from '../../src/storage/shared-fs/text.ts';
import type { DesiredRaw, DesiredSparse } from '../../src/storage/types.ts';
import { carryOut, planNow, runSteps } from '../support/carry-out.ts';
import { carry, exists, KINDS, someKinds } from '../support/kind-cases.ts';
import { type Kinds, recordedAs, setUpKinds } from '../support/kinds.ts';
import { EVERY_CASE } from '../support/lane.ts';
import { seeded } from '../support/random.ts';
import { removeTraces } from '../support/remove-traces.ts';
import { describeAsRoot } from '../support/root.ts';
import { TEST_SEED } from '../support/test-seed.ts';
import { ensureUdev } from '../support/udev.ts';
import { fileOf, STOWAGE, startVolumeScene, type VolumeScene } from '../support/volume-scene.ts';

/**
 * Adoption of deleted Volumes' storage with its data, on real devices.
 * test/cluster/vm/adopt.test.ts tests it between machines.
 */

describe('adoption of a deleted Volume’s storage', () => {
  let kinds: Kinds;
  beforeAll(async () => {
    kinds = await setUpKinds();
  });
  afterEach(() => kinds.clean());
  afterAll(() => kinds.stop());

  test.each(EVERY_CASE ? KINDS : someKinds(1).filter(([backing]) => backing !== 'disk'))(
    'keeps the data of a %s with %s despite interruptions, and refuses a second adoption',
    async (backing, content) => {
      const executor = kinds.executors.local;
      const old = await kinds.desired(backing, content, { onDelete: 'Retain' });
      const made = await carry(executor, 'provision', old);
      await kinds.write(old, made.link, 'kept');
      const sum = async (link: string) =>
        content === 'Block' ? (await execa('sha256sum', [link])).stdout.split(' ')[0] : '';
      const before = await sum(made.link);
      await carry(executor, 'delete', recordedAs(old, made.identity));
      const uid = randomUUID();
      const place = old.type === 'sparse' ? { file: join(dirname(old.file), uid) } : {};
      const desired = { ...old, uid, name: `vol-${uid}`, adopt: old.uid, ...place } as
        | DesiredSparse
        | DesiredRaw;
      try {
        for (let count = 1; ; count += 2) {
          const plan = await planNow(executor, 'n1', 'provision', desired);
          if ('refusal' in plan) throw new Error(plan.refusal);
          if (count >= plan.steps.length) break;
          await runSteps(executor, 'n1', desired, plan.steps.slice(0, count));
        }
        const { link, identity } = await carry(executor, 'provision', desired);
        expect(link).toBe(`/dev/disk/by-id/stowage-${uid}`);
        expect(await sum(link)).toBe(before);
        expect(await kinds.read(desired, link)).toBe('kept');
        // udev may keep the old link of a partition whose GUID was changed.
        if (content !== 'Block') expect(await exists(made.link)).toBe(false);
        const second = { ...desired, uid: randomUUID(), name: 'second' };
        const late = {
          ...second,
          ...(old.type === 'sparse' && { file: join(dirname(old.file), second.uid) }),
        };
        expect(typeof (await carryOut(executor, 'n1', 'provision', late as DesiredSparse))).toBe(
          'string',
        );
        await carry(executor, 'delete', { ...recordedAs(desired, identity), onDelete: 'Delete' });
      } finally {
        await removeTraces(uid, desired.type === 'sparse' ? desired.file : undefined);
      }
    },
  );
});

test.each(['ext4', 'xfs'] as const)(
  'a retry completes an interrupted UUID change of an %s file system without damage',
  async (type) => {
    const { temporaryDirectory } = await import('../support/temporary-directory.ts');
    const folder = await temporaryDirectory('adopt');
    const random = seeded(TEST_SEED);
    const file = join(folder.path, 'x.partial');
    await execa('mkdir', [join(folder.path, 'src')]);
    await writeFile(join(folder.path, 'src', 'a'), 'kept');
    for (let round = 0; round < (EVERY_CASE ? 20 : 4); round++) {
      await execa('rm', ['-f', file]);
      await execa('truncate', ['-s', type === 'xfs' ? '320M' : '64M', file]);
      // Without the checksum seed, each inode changes.
      const ext4 = ['-q', '-F', '-O', '^metadata_csum_seed', '-d', join(folder.path, 'src'), file];
      await execa(`mkfs.${type}`, type === 'ext4' ? ext4 : ['-q', '-f', file]);
      const uid = randomUUID();
      const argv = scriptArgv('stowage-adopt', file, uid, type, uid);
      const after = String(0.01 + random() * 0.25);
      await execa('setsid', ['-w', 'timeout', '-s', 'KILL', after, ...argv], { reject: false });
      const [program = '', ...words] = argv;
      await execa(program, words);
      expect((await execa('blkid', ['-p', '-o', 'value', '-s', 'UUID', file])).stdout).toBe(uid);
      const checks = { ext4: ['e2fsck', '-f', '-n', file], xfs: ['xfs_repair', '-n', file] };
      const [check = '', ...with_] = checks[type];
      await execa(check, with_);
      if (type === 'ext4') {
        expect((await execa('debugfs', ['-R', 'cat /a', file])).stdout).toBe('kept');
      }
    }
    await folder.remove();
  },
);

describeAsRoot('a file on a file system of its own', () => {
  const executor = createShellExecutor(createLocalShell(['n1']));
  const [OLD = '', NEW = ''] = [randomUUID(), randomUUID()];
  let stopUdev: () => Promise<void>;
  /** On the root file system: /tmp may be on another one. */
  let folder: string;
  let point: string;

  beforeAll(async () => {
    stopUdev = await ensureUdev();
    folder = await mkdtemp('/stowage-adopt-');
    point = join(folder, 'data');
    await execa('mkdir', [point]);
    await execa('truncate', ['-s', '256M', join(folder, 'disk')]);
    await execa('mkfs.ext4', ['-q', join(folder, 'disk')]);
    await mount();
  });
  afterAll(async () => {
    for (const uid of [OLD, NEW]) await removeTraces(uid, join(point, uid));
    await execa('umount', [point], { reject: false });
    await rm(directoryRecord(point), { force: true });
    await rm(folder, { recursive: true });
    await stopUdev();
  });

  const mount = () => execa('mount', ['-o', 'loop', join(folder, 'disk'), point]);
  const desired = (uid: string, more: Partial<DesiredSparse> = {}): DesiredSparse => ({
    ...{ type: 'sparse', uid, name: `vol-${uid}`, mode: 'Filesystem', file: join(point, uid) },
    ...{
      sizeBytes: 64n << 20n,
      fs: { type: 'ext4', options: [] },
      recorded: false,
      onDelete: 'Retain',
    },
    ...{ kubeletRoot: '/var/lib/kubelet', onDemand: true, readOnly: false, shared: false },
    requireMount: true,
    ...more,
  });
  const adopting = () => desired(NEW, { adopt: OLD });
  const files = async () =>
    (await readdir(point)).filter((name) => name !== 'lost+found').toSorted();

  test('is adopted or restored only while mounted and attached to no node', async () => {
    expect(typeof (await carryOut(executor, 'n1', 'provision', desired(OLD)))).toBe('object');
    await carryOut(executor, 'n1', 'delete', desired(OLD, { recorded: true }));
    await rm(directoryRecord(point), { force: true });

    const plan = await planNow(executor, 'n1', 'provision', adopting());
    if ('refusal' in plan) throw new Error(plan.refusal);
    const taken = plan.steps.findIndex(
      ({ name }) => name === `rename the file ${OLD} for the adoption`,
    );
    await runSteps(executor, 'n1', adopting(), plan.steps.slice(0, taken + 1));
    expect(await files()).toEqual([`${NEW}.partial`]);

    await execa('umount', [point]);
    for (const operation of ['provision', 'delete'] as const) {
      expect(await planNow(executor, 'n1', operation, adopting())).toMatchObject({
        refusal: expect.stringContaining('is not mounted'),
        retryable: true,
      });
    }
    await mount();
    const says = (is: 'held' | 'free') =>
      writeFile(
        join(point, `${OLD}.owner.4`),
        `${textOf(is, { node: 'n9', bootId: '00000000-0000-4000-8000-000000000009', token: 'v1' })}\n`,
      );
    await says('held');
    const held = { refusal: expect.stringContaining('is held by node n9'), retryable: true };
    expect(await planNow(executor, 'n1', 'delete', adopting())).toMatchObject(held);
    await rm(join(point, `${OLD}.owner.4`));
    expect(typeof (await carryOut(executor, 'n1', 'delete', adopting()))).toBe('object');
    expect(await files()).toEqual([OLD]);
    expect(
      (await execa('blkid', ['-p', '-o', 'value', '-s', 'UUID', join(point, OLD)])).stdout,
    ).toBe(OLD);

    await says('held');
    expect(await planNow(executor, 'n1', 'provision', adopting())).toMatchObject(held);
    await says('free');
    const late = await planNow(executor, 'n1', 'provision', adopting());
    if ('refusal' in late) throw new Error(late.refusal);
    // Another node takes the file after the observation.
    await writeFile(join(point, `${OLD}.owner.5`), 'x');
    expect((await runSteps(executor, 'n1', adopting(), late.steps)).state).toBe('guarded');
    expect(await files()).toEqual([OLD, `${OLD}.owner.4`, `${OLD}.owner.5`]);
    await rm(join(point, `${OLD}.owner.5`));
    expect(typeof (await carryOut(executor, 'n1', 'provision', adopting()))).toBe('object');
    expect(await files()).toEqual([NEW]);
    await carryOut(executor, 'n1', 'delete', desired(NEW, { recorded: true, onDelete: 'Delete' }));
    expect(await files()).toEqual([]);
  });
});

describe('`stowage adopt volume`, and the manifest that it prints', () => {
  let scene: VolumeScene;
  beforeAll(async () => {
    scene = await startVolumeScene('local');
  });
  afterAll(() => scene?.stop());
  const LOCAL = ['--transport', 'local', '--local-node', 'n1'];

  test('refuses the file of an existing Volume, and adopts that of a deleted one', async () => {
    const place = ['--node', 'n1', '--storage-class', 'local', '--directory', scene.folder];
    const size = ['--size', '64Mi', '--on-delete', 'Retain', '--wait'];
    await scene.run(STOWAGE, ['create', 'volume', 'd1', ...place, ...size]);
    const d1 = await scene.get('d1');
    const uid = d1.metadata.uid ?? '';
    const adopt = ['adopt', 'volume', 'd2', ...place, '--file', uid, ...LOCAL];
    await expect(scene.run(STOWAGE, adopt)).rejects.toMatchObject({
      exitCode: 5,
      stderr: expect.stringContaining('Volume d1'),
    });
    await scene.remove(d1);
    expect(await exists(fileOf(d1))).toBe(true);
    const { stdout } = await scene.run(STOWAGE, [...adopt, '--dry-run=client', '-o', 'json']);
    await scene.run(STOWAGE, [...adopt, '--wait']);
    const d2 = await scene.get('d2');
    expect(d2).toMatchObject({ spec: { adopt: { uid } }, status: { phase: 'Available' } });
    expect(await exists(fileOf(d2))).toBe(true);
    expect(await exists(fileOf(d1))).toBe(false);

    // Applying the manifest that the command would create has the same result, here with d2's
    // storage.
    await scene.remove(d2);
    const manifest = JSON.parse(stdout);
    await scene.client.create(VOLUMES, {
      ...manifest,
      metadata: { name: 'd3' },
      spec: { ...manifest.spec, adopt: { uid: d2.metadata.uid }, onDelete: 'Delete' },
    });
    const d3 = await scene.settled('d3');
    expect(d3.status?.phase).toBe('Available');
    expect(await exists(fileOf(d3))).toBe(true);
    await scene.remove(d3);
    expect(await exists(fileOf(d3))).toBe(false);
  });
});
