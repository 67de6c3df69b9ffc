import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { VOLUMES } from '../../src/api/resources.ts';
import { ADOPT_SCRIPT } from '../../src/storage/adoption.ts';
import { scriptArgv } from '../../src/storage/snapshot/script.ts';
import type { DesiredRaw, DesiredSparse } from '../../src/storage/types.ts';
import { carryOut, planNow, runSteps } from '../support/carry-out.ts';
import { carry, exists, KINDS, someKinds } from '../support/kind-cases.ts';
import { type Kinds, recordedAs, setUpKinds } from '../support/kinds.ts';
import { EVERY_CASE } from '../support/lane.ts';
import { seeded } from '../support/random.ts';
import { removeTraces } from '../support/remove-traces.ts';
import { TEST_SEED } from '../support/test-seed.ts';
import { fileOf, STOWAGE, startVolumeScene, type VolumeScene } from '../support/volume-scene.ts';

/** Storage of Volumes that are gone is adopted with its data, on real devices. Between machines: test/cluster/vm/adopt.test.ts. */

describe('a kind of storage', () => {
  let kinds: Kinds;
  beforeAll(async () => {
    kinds = await setUpKinds();
  });
  afterEach(() => kinds.clean());
  afterAll(() => kinds.stop());

  test.each(EVERY_CASE ? KINDS : someKinds(1))(
    '%s with %s is adopted with its data, also where that is cut off after each step, and used then',
    async (backing, content) => {
      const executor = kinds.executors.local;
      const old = await kinds.desired(backing, content, { onDelete: 'Retain' });
      const made = await carry(executor, 'prepare', old);
      await kinds.write(old, made.link, 'kept');
      const sum = async (link: string) =>
        content === 'Block' ? (await execa('sha256sum', [link])).stdout.split(' ')[0] : '';
      const before = await sum(made.link);
      await carry(executor, 'destroy', recordedAs(old, made.identity));
      const uid = randomUUID();
      const place = old.type === 'sparse' ? { file: join(dirname(old.file), uid) } : {};
      const desired = { ...old, uid, name: `vol-${uid}`, adopt: old.uid, ...place } as
        | DesiredSparse
        | DesiredRaw;
      try {
        for (let count = 1; ; count += 2) {
          const plan = await planNow(executor, 'n1', 'prepare', desired);
          if ('refusal' in plan) throw new Error(plan.refusal);
          if (count >= plan.steps.length) break;
          await runSteps(executor, 'n1', desired, plan.steps.slice(0, count));
        }
        const { link, identity } = await carry(executor, 'prepare', desired);
        expect(link).toBe(`/dev/disk/by-${content === 'Block' ? 'partuuid' : 'uuid'}/${uid}`);
        expect(await sum(link)).toBe(before);
        expect(await kinds.read(desired, link)).toBe('kept');
        // udev may keep that of a partition whose GUID was changed.
        if (content !== 'Block') expect(await exists(made.link)).toBe(false);
        const second = { ...desired, uid: randomUUID(), name: 'second' };
        const late = {
          ...second,
          ...(old.type === 'sparse' && { file: join(dirname(old.file), second.uid) }),
        };
        expect(typeof (await carryOut(executor, 'n1', 'prepare', late as DesiredSparse))).toBe('string');
        await carry(executor, 'destroy', { ...recordedAs(desired, identity), onDelete: 'Delete' });
      } finally {
        await removeTraces(uid, desired.type === 'sparse' ? desired.file : undefined);
      }
    },
  );
});

test.each(['ext4', 'xfs'] as const)(
  'an %s whose new UUID is cut off anywhere gets it the next time, with its data',
  async (type) => {
    const { temporaryFolder } = await import('../support/temporary-folder.ts');
    const folder = await temporaryFolder('adopt');
    const random = seeded(TEST_SEED);
    const file = join(folder.path, 'x.partial');
    await execa('mkdir', [join(folder.path, 'src')]);
    await writeFile(join(folder.path, 'src', 'a'), 'kept');
    for (let round = 0; round < (EVERY_CASE ? 20 : 4); round++) {
      await execa('rm', ['-f', file]);
      await execa('truncate', ['-s', type === 'xfs' ? '320M' : '64M', file]);
      // Without the seed of its checksums each inode would change.
      const ext4 = ['-q', '-F', '-O', '^metadata_csum_seed', '-d', join(folder.path, 'src'), file];
      await execa(`mkfs.${type}`, type === 'ext4' ? ext4 : ['-q', '-f', file]);
      const uid = randomUUID();
      const argv = scriptArgv('stowage-adopt', ADOPT_SCRIPT, file, uid, type, uid);
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

describe('by a command, and by a manifest', () => {
  let scene: VolumeScene;
  beforeAll(async () => {
    scene = await startVolumeScene('local');
  });
  afterAll(() => scene?.stop());
  const LOCAL = ['--transport', 'local', '--local-node', 'n1'];

  test('the file of a Volume that is gone is adopted, and not before that Volume is gone', async () => {
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

    // What the command would create, applied by itself, does the same: to d2's storage, once that is gone.
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
