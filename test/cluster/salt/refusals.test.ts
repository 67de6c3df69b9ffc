import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { execa } from 'execa';
import { systemClock } from '../../../src/control/clock.ts';
import type { Executor } from '../../../src/nodes/job.ts';
import { createSaltExecutor } from '../../../src/nodes/salt/executor.ts';
import { createSaltSession, type SaltSession } from '../../../src/nodes/salt/session.ts';
import { type Kinds, setUpKinds } from '../../support/kinds.ts';
import { refusalCases } from '../../support/refusal-cases.ts';
import { describeAsRoot } from '../../support/root.ts';
import { type Salt, startSalt } from './salt.ts';

jest.setTimeout(120_000);

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

  refusalCases(() => ({ kinds, executor, listed }));

  test('a node refuses everything, where the list is not there or others can write it', async () => {
    const list = join(salt.folder, 'minion-n2', 'allowed');
    await execa('chmod', ['666', list]);
    await expect(executor.subjects('n2')).rejects.toThrow('others can write it');
    await execa('mv', [list, `${list}.away`]);
    await expect(executor.subjects('n2')).rejects.toThrow('is not there');
  });
});
