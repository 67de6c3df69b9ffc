import { randomUUID } from 'node:crypto';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { execa } from 'execa';
import { systemClock } from '../../../src/control/clock.ts';
import type { Executor, Step } from '../../../src/nodes/job.ts';
import { createSaltExecutor } from '../../../src/nodes/salt/executor.ts';
import { createSaltSession, type SaltSession } from '../../../src/nodes/salt/session.ts';
import { type Kinds, setUpKinds } from '../../support/kinds.ts';
import { describeAsRoot } from '../../support/root.ts';
import { sha256 } from '../../support/signatures.ts';
import { type Salt, startSalt } from './salt.ts';

jest.setTimeout(120_000);

const UID = '0b8e7a2c-2d52-4c4b-9a34-0a2b4a2e9d11';

/** Whoever has the daemon's secret can do this much on nodes, and no more. */
describeAsRoot("beyond the rights of the daemon's account at salt-api", () => {
  let kinds: Kinds;
  let salt: Salt;
  let session: SaltSession;
  let executor: Executor;
  let listed: string;

  beforeAll(async () => {
    kinds = await setUpKinds();
    // One disk is the node's to give away, another one is not.
    listed = (await kinds.disk()).path;
    await mkdir(join(kinds.folder, 'sparse'), { mode: 0o700 });
    const allowed = `directory ${kinds.folder}/sparse\ndevice ${listed}\n`;
    salt = await startSalt({ minions: ['n1', 'n2'], allowed });
    session = createSaltSession(salt.access, systemClock);
    executor = createSaltExecutor({ access: salt.access, minionOf: (node) => node, clock: systemClock });
  });
  afterEach(async () => {
    for (const subject of await executor.subjects('n1')) {
      if (subject.startsWith('refused-')) await executor.forget('n1', subject);
    }
  });
  afterAll(async () => {
    await session?.close();
    await executor?.close();
    await salt?.stop();
    await kinds?.clean();
    await kinds?.stop();
  });

  const send = (low: object) => session.send({ method: 'POST', path: '/', body: [low], timeoutMs: 30_000 });
  const marker = () => join(kinds.folder, 'marker');
  const exists = async (path: string) =>
    (await execa('test', ['-e', path], { reject: false })).exitCode === 0;

  describe('salt-api refuses', () => {
    const on = { tgt: ['n1'], tgt_type: 'list' };
    const call = (kwarg: object) => ({ client: 'runner', fun: 'stowage.call', kwarg });
    const subjects = { arguments: { node: 'n1', version: 1 }, patience: 5 };

    test.each<[string, object]>([
      ['functions of minions', { client: 'local', ...on, fun: 'cmd.run', arg: ['touch MARKER'] }],
      ["even those of Stowage's module", { client: 'local', ...on, fun: 'stowage.subjects', arg: ['n1', 1] }],
      ['and not waited for', { client: 'local_async', ...on, fun: 'cmd.run', arg: ['touch MARKER'] }],
      [
        'a list with an allowed one, of which Salt would take all',
        {
          client: 'local',
          ...on,
          fun: ['saltutil.find_job', 'cmd.run'],
          arg: [['1'], ['touch MARKER']],
        },
      ],
      ['a state', { client: 'local', ...on, fun: 'state.single', arg: ['file.touch', 'MARKER'] }],
      ['another runner', { client: 'runner', fun: 'salt.cmd', arg: ['cmd.run', 'touch MARKER'] }],
      ['a list of runners', { client: 'runner', fun: ['stowage.call', 'salt.cmd'] }],
      ['a runner, not waited for', { client: 'runner_async', fun: 'jobs.active' }],
      ['a wheel', { client: 'wheel', fun: 'key.accept', arg: ['*'] }],
      ['ssh of Salt', { client: 'ssh', tgt: '*', fun: 'cmd.run', arg: ['touch MARKER'] }],
      ['a raw shell', { client: 'ssh', tgt: '*', raw_shell: true, arg: ['touch MARKER'] }],
      ['batches', { client: 'local_batch', tgt: '*', fun: 'cmd.run', arg: ['touch MARKER'], batch: '1' }],
      ['subsets', { client: 'local_subset', tgt: '*', fun: 'cmd.run', arg: ['touch MARKER'] }],
    ])('%s', async (_what, low) => {
      const asked = JSON.parse(JSON.stringify(low).replaceAll('MARKER', marker()));
      await expect(send(asked)).rejects.toMatchObject({
        name: expect.stringMatching(/^Salt(Denied|Unreachable)$/),
      });
      expect(await exists(marker())).toBe(false);
    });

    test.each<[string, object]>([
      ['another function', { minion: 'n1', function: 'cmd.run', ...subjects }],
      ['a function by a longer name', { minion: 'n1', function: 'observe,cmd.run', ...subjects }],
      ['a list of functions', { minion: 'n1', function: ['subjects', 'cmd.run'], ...subjects }],
      ['a list of minions', { minion: ['n1', 'n2'], function: 'subjects', ...subjects }],
      ['minions with a comma', { minion: 'n1,n2', function: 'subjects', ...subjects }],
    ])('from its runner %s', async (_what, kwarg) => {
      const answer = (await send(call(kwarg))) as { return: unknown[] };
      expect(answer.return[0]).toEqual(
        expect.stringMatching(/not a function of|not the id of|invalid arg|unexpected/i),
      );
    });

    test('from its runner a pattern, which is no minion', async () => {
      expect(await send(call({ minion: '*', function: 'subjects', ...subjects }))).toEqual({ return: [{}] });
    });
  });

  test('a minion refuses what is meant for another node', async () => {
    const astray = createSaltExecutor({ access: salt.access, minionOf: () => 'n2', clock: systemClock });
    try {
      await expect(astray.subjects('n1')).rejects.toThrow('this machine is n2, not n1');
    } finally {
      await astray.close();
    }
  });

  const file = () => `${kinds.folder}/sparse/${UID}`;

  describe('the node refuses', () => {
    test.each<[string, () => string[]]>([
      ['a shell', () => ['sh', '-c', `touch ${marker()}`]],
      ['a shell by its path', () => ['/bin/sh', '-c', `touch ${marker()}`]],
      ['a program that runs another', () => ['env', 'touch', marker()]],
      ['another program', () => ['cp', '/etc/shadow', file()]],
      ['another file to read', () => ['cat', '/etc/shadow']],
      ['a way out by ..', () => ['cat', `/var/lib/stowage/volumes/../../../../etc/${UID}.intent`]],
      ['a file elsewhere to attach', () => ['losetup', '/dev/loop7', '/etc/shadow']],
      ['a file elsewhere, by ..', () => ['losetup', '/dev/loop7', `${kinds.folder}/sparse/../${UID}`]],
      ['other arguments', () => ['losetup', '--offset', '1', '/dev/loop7', file()]],
      ['two words in one', () => ['losetup', `/dev/loop7 ${file()} /etc/shadow`]],
      ['a line after the last', () => ['rm', '-f', '--', `${file()}\n/etc/shadow`]],
      ['a file system elsewhere', () => ['mkfs.xfs', '-q', '-f', '-m', `uuid=${UID}`, '/etc/shadow']],
    ])('%s, as a look, a step, a guard', async (_what, argvOf) => {
      const argv = argvOf();
      const harmless = ['test', '-S', '/run/udev/control'];
      const refused = { name: 'NodeError', code: 'refused' };
      await expect(executor.observe('n1', [{ name: 'x', argv }])).rejects.toMatchObject(refused);
      const steps: Step[][] = [
        [{ name: 'x', argv, guards: [] }],
        [{ name: 'x', argv: harmless, guards: [{ argv, expect: {}, refusal: 'no' }] }],
      ];
      for (const each of steps) {
        const key = { subject: `refused-${randomUUID()}`, id: 'prepare-1' };
        await expect(executor.submit('n1', { key, steps: each }, 5000)).rejects.toMatchObject(refused);
        expect(await executor.poll('n1', [key], 0)).toEqual([{ state: 'not-found' }]);
      }
      expect(await exists(marker())).toBe(false);
    });

    const submit = (argv: string[], lock?: string) =>
      executor.submit(
        'n1',
        {
          key: { subject: `refused-${randomUUID()}`, id: 'prepare-1' },
          steps: [{ name: 'x', argv, guards: [], ...(lock === undefined ? {} : { lock }) }],
        },
        10_000,
      );
    const mkfs = (path: string) => ['mkfs.ext4', '-q', '-F', '-U', UID, path];

    test('a disk that is not listed, and its lock', async () => {
      const other = (await kinds.disk()).path;
      const before = await sha256(other);
      await expect(submit(mkfs(other))).rejects.toThrow('no command on its list');
      await expect(submit(['test', '-S', '/run/udev/control'], other)).rejects.toThrow(
        'in no listed directory',
      );
      expect(await sha256(other)).toBe(before);
    });

    test('a listed disk while it is mounted, and takes it when it is not', async () => {
      expect(await submit(mkfs(listed))).toEqual({ state: 'succeeded' });
      const mountPoint = join(kinds.folder, 'mounted');
      await mkdir(mountPoint);
      await execa('mount', [listed, mountPoint]);
      try {
        await writeFile(join(mountPoint, 'data'), 'kept');
        await expect(submit(mkfs(listed))).rejects.toThrow('is in use');
        await expect(submit(['wipefs', '--all', '--force', listed])).rejects.toThrow('is in use');
        expect(await readFile(join(mountPoint, 'data'), 'utf8')).toBe('kept');
      } finally {
        await execa('umount', [mountPoint]);
      }
    });

    test('a symbolic link in its directory', async () => {
      const secret = join(kinds.folder, 'secret');
      await writeFile(secret, 'kept');
      await symlink(secret, `${file()}.partial`);
      await expect(submit(['truncate', '-s', '1048576', '--', `${file()}.partial`])).rejects.toThrow(
        'symbolic link',
      );
      await expect(submit(mkfs(`${file()}.partial`))).rejects.toThrow('symbolic link');
      expect(await readFile(secret, 'utf8')).toBe('kept');
    });

    test('a loop device of a file elsewhere', async () => {
      const other = await kinds.disk();
      await expect(submit(['losetup', '-d', other.path])).rejects.toThrow('in no listed directory');
      expect((await execa('losetup', [other.path])).stdout).toContain(other.file);
    });

    test('everything, where the list is not there or others can write it', async () => {
      const list = join(salt.folder, 'minion-n2', 'allowed');
      await execa('chmod', ['666', list]);
      await expect(executor.subjects('n2')).rejects.toThrow('others can write it');
      await execa('mv', [list, `${list}.away`]);
      await expect(executor.subjects('n2')).rejects.toThrow('is not there');
    });
  });
});
