import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createSaltSession, type SaltSession } from '../../../src/nodes/transport/salt/session.ts';
import { systemClock } from '../../../src/workqueue/clock.ts';
import { describeAsRoot } from '../../support/root.ts';
import { type Salt, startSalt, USER } from './salt.ts';

const on = { tgt: ['n1'], tgt_type: 'list' };
const call = (kwarg: object) => ({ client: 'runner', fun: 'stowage.call', kwarg });
const subjects = { function: 'subjects', arguments: { node: 'n1', version: 1 }, patience: 5 };
const DENIED = { name: expect.stringMatching(/^Salt(Denied|Unreachable)$/) };

/** The daemon's secret allows calls of Stowage's runner, and nothing else. */
describeAsRoot("limits of the daemon's account at salt-api", () => {
  describe.each(['rest_stowage', 'rest_cherrypy'] as const)('%s', (api) => {
    let salt: Salt;
    const sessions: SaltSession[] = [];

    beforeAll(async () => {
      const external_auth = {
        sharedsecret: {
          [USER]: ['@stowage'],
          limited: [{ '@stowage': [{ call: { kwargs: { minion: 'n1' } } }] }],
          other: ['@jobs'],
        },
      };
      salt = await startSalt({ minions: ['n1', 'n2'], api, master: { external_auth } });
    });
    afterEach(async () => {
      for (const session of sessions.splice(0)) await session.close();
    });
    afterAll(async () => {
      await salt?.stop();
    });

    function send(low: object, user = USER) {
      const session = createSaltSession({ ...salt.access, user }, systemClock);
      sessions.push(session);
      return session.send({ method: 'POST', path: '/', body: [low], timeoutMs: 30_000 });
    }
    const marker = () => join(salt.folder, 'marker');

    test.each<[string, object]>([
      ['functions of minions', { client: 'local', ...on, fun: 'cmd.run', arg: ['touch MARKER'] }],
      [
        "functions of Stowage's module",
        { client: 'local', ...on, fun: 'stowage.subjects', arg: ['n1', 1] },
      ],
      [
        'asynchronous functions of minions',
        { client: 'local_async', ...on, fun: 'cmd.run', arg: ['touch MARKER'] },
      ],
      [
        'a list of functions with an allowed one',
        {
          client: 'local',
          ...on,
          fun: ['saltutil.find_job', 'cmd.run'],
          arg: [['1'], ['touch MARKER']],
        },
      ],
      ['a state', { client: 'local', ...on, fun: 'state.single', arg: ['file.touch', 'MARKER'] }],
      ['another runner', { client: 'runner', fun: 'salt.cmd', arg: ['cmd.run', 'touch MARKER'] }],
      [
        'another runner with its arguments by name',
        { client: 'runner', fun: 'salt.cmd', kwarg: { fun: 'cmd.run', cmd: 'touch MARKER' } },
      ],
      ['a list of runners', { client: 'runner', fun: ['stowage.call', 'salt.cmd'] }],
      ['an asynchronous runner', { client: 'runner_async', fun: 'jobs.active' }],
      ['a wheel', { client: 'wheel', fun: 'key.accept', arg: ['*'] }],
      ['salt-ssh', { client: 'ssh', tgt: '*', fun: 'cmd.run', arg: ['touch MARKER'] }],
      ['a raw shell', { client: 'ssh', tgt: '*', raw_shell: true, arg: ['touch MARKER'] }],
      [
        'batches',
        { client: 'local_batch', tgt: '*', fun: 'cmd.run', arg: ['touch MARKER'], batch: '1' },
      ],
      ['subsets', { client: 'local_subset', tgt: '*', fun: 'cmd.run', arg: ['touch MARKER'] }],
    ])('refuses %s', async (_what, low) => {
      const asked = JSON.parse(JSON.stringify(low).replaceAll('MARKER', marker()));
      await expect(send(asked)).rejects.toMatchObject(DENIED);
      await expect(access(marker())).rejects.toThrow('ENOENT');
    });

    test.each<[string, object]>([
      ['another function', { ...subjects, minion: 'n1', function: 'cmd.run' }],
      ['a function by a longer name', { ...subjects, minion: 'n1', function: 'observe,cmd.run' }],
      ['a list of functions', { ...subjects, minion: 'n1', function: ['subjects', 'cmd.run'] }],
      ['a list of minions', { ...subjects, minion: ['n1', 'n2'] }],
      ['minions with a comma', { ...subjects, minion: 'n1,n2' }],
    ])('refuses %s in a call of the runner', async (_what, kwarg) => {
      const answer = (await send(call(kwarg))) as { return: unknown[] };
      expect(answer.return[0]).toEqual(
        expect.stringMatching(/not a function of|not a minion ID|invalid arg|unexpected/i),
      );
    });

    test('matches no minion by a pattern', async () => {
      expect(await send(call({ ...subjects, minion: '*' }))).toEqual({ return: [{}] });
    });

    test('accepts a call of the runner by the account of the daemon', async () => {
      const ret = { version: 1, answer: expect.any(Array) };
      expect(await send(call({ ...subjects, minion: 'n1' }))).toEqual({
        return: [{ n1: { ret, retcode: 0 } }],
      });
    });

    test('refuses an account that may only call other runners', async () => {
      await expect(send(call({ ...subjects, minion: 'n1' }), 'other')).rejects.toMatchObject(
        DENIED,
      );
    });

    test('limits an account to the minion that external_auth names', async () => {
      const asked = (minion: string) => send(call({ ...subjects, minion }), 'limited');
      expect(await asked('n1')).toMatchObject({ return: [{ n1: { retcode: 0 } }] });
      await expect(asked('n2')).rejects.toMatchObject(DENIED);
    });
  });
});
