import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { ReasonCode } from '../../../../src/api/reasons.ts';
import { NodeError } from '../../../../src/nodes/errors.ts';
import type { Executor, Job } from '../../../../src/nodes/job.ts';
import { stepJson } from '../../../../src/nodes/step-json.ts';
import { createSaltExecutor } from '../../../../src/nodes/transport/salt/executor.ts';
import { type FakeSaltApi, startFakeSaltApi } from '../../../support/fake-salt-api.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';
import { until } from '../../../support/until.ts';

let api: FakeSaltApi;
let folder: { path: string; remove(): Promise<void> };
let executor: Executor;
let now = 0;

const clock = {
  now: () => now,
  sleep: (ms: number, signal: AbortSignal) => wait(ms, undefined, { signal }),
};
const JOB: Job = {
  key: { subject: 'v1', id: 'prepare-1' },
  steps: [{ name: 'do', argv: ['true'], preconditions: [] }],
};
const DATE = [{ name: 'date', argv: ['date', '+%s'] }];
const said = (answer: unknown) => ({ version: 1, answer });
const seen = () => said([[0, Buffer.from('5').toString('base64'), '']]);

beforeEach(async () => {
  now = 0;
  api = await startFakeSaltApi();
  folder = await temporaryDirectory('salt-executor');
  await writeFile(join(folder.path, 'secret'), 'secret\n');
  await writeFile(join(folder.path, 'ca'), api.ca);
  executor = start();
});
afterEach(async () => {
  await executor.close();
  await api.stop();
  await folder.remove();
});

const start = (check?: (node: string) => void) =>
  createSaltExecutor({
    access: {
      url: api.url,
      eauth: 'pam',
      user: 'stowage',
      secretFile: join(folder.path, 'secret'),
      caFile: join(folder.path, 'ca'),
    },
    minionOf: (node) => `${node}.minion`,
    clock,
    ...(check && { check }),
  });

async function failure(work: Promise<unknown>): Promise<NodeError> {
  const error = await work.then(
    () => new Error('it did not fail'),
    (error) => error,
  );
  expect(error).toBeInstanceOf(NodeError);
  return error;
}

test('logs in once, and calls the runner for the minion of the node', async () => {
  api.answer = seen;
  const both = await Promise.all([executor.observe('n1', DATE), executor.observe('n2', DATE)]);
  expect(both[0].get('date')).toEqual({ exit: 0, stdout: '5', stderr: '' });
  expect(api.logins).toEqual([{ eauth: 'pam', username: 'stowage', password: 'secret' }]);
  // The order of the two calls is undefined.
  expect(api.calls.find(({ kwarg }) => kwarg.minion === 'n1.minion')).toMatchObject({
    client: 'runner',
    fun: 'stowage.call',
    kwarg: {
      function: 'observe',
      arguments: { node: 'n1', version: 1, probes: [['date', '+%s']] },
    },
  });
});

describe('a login', () => {
  beforeEach(async () => {
    api.answer = seen;
    await executor.observe('n1', DATE);
  });

  test('is renewed before it ends', async () => {
    now = 2800_000;
    await executor.observe('n1', DATE);
    expect(api.logins).toHaveLength(1);
    now = 2900_000;
    await executor.observe('n1', DATE);
    expect(api.logins).toHaveLength(2);
  });

  test('is renewed when its token is unknown', async () => {
    api.forgetTokens();
    await executor.observe('n1', DATE);
    expect(api.logins).toHaveLength(2);
  });

  test('is renewed when the file of the secret changed', async () => {
    api.secret = 'another';
    await writeFile(join(folder.path, 'secret'), 'another');
    await executor.observe('n1', DATE);
    expect(api.logins).toMatchObject([{ password: 'secret' }, { password: 'another' }]);
  });
});

describe('distinguishes the failure of', () => {
  test.each<[string, () => void, NodeError['code'], string, string, ReasonCode]>([
    [
      'a wrong secret',
      () => (api.secret = 'x'),
      'refused',
      ' with eauth pam failed: ',
      'Check the secret in',
      'SaltLoginRefused',
    ],
    [
      'no salt-master',
      () => (api.broken = { status: 503, text: 'Salt Master is not available.' }),
      'unreachable',
      '503 Salt Master is not available.',
      'salt-master run',
      'SaltUnreachable',
    ],
    [
      'an answer of 5 MB, which a minion can give',
      () => (api.answer = () => said('x'.repeat(5e6))),
      'unreachable',
      'its answer exceeds 4 MiB',
      'salt-api',
      'SaltUnreachable',
    ],
    [
      'an unknown minion',
      () => (api.answer = () => undefined),
      'unreachable',
      'does not know minion n1.minion',
      'salt-key',
      'MinionUnknown',
    ],
    [
      'a minion that is down',
      () => (api.answer = () => false),
      'unreachable',
      'minion n1.minion does not answer',
      'test.ping',
      'MinionDown',
    ],
    [
      'no module',
      () => (api.answer = () => "'stowage.observe' is not available."),
      'refused',
      'module on minion n1.minion is missing',
      'saltutil.sync_modules',
      'SaltModuleMissing',
    ],
    [
      'a module that does not load',
      () => (api.answer = () => "'stowage' __virtual__ returned False: bad syntax"),
      'refused',
      'cannot be loaded: ',
      'saltutil.sync_modules',
      'SaltModuleUnloadable',
    ],
    [
      'an older module',
      () => (api.answer = () => ({ version: 0, refused: 'version', found: 'version 0' })),
      'refused',
      'version 0',
      'Copy salt/ of this version of Stowage',
      'ModuleVersionOther',
    ],
    [
      'a function with other arguments',
      () => (api.answer = () => 'Passed invalid arguments to stowage.observe: x\n\nmore'),
      'refused',
      'has another version: Passed invalid arguments to stowage.observe: x',
      'saltutil.sync_modules',
      'SaltModuleOld',
    ],
    [
      'a function that threw',
      () =>
        (api.answer = () =>
          'The minion function caused an exception: Traceback\n  File\nOSError: disk full\n'),
      'protocol',
      'OSError: disk full',
      'log of salt-minion',
      'SaltModuleFailed',
    ],
    [
      'a command that is not listed',
      () =>
        (api.answer = () => ({
          version: 1,
          refused: 'command',
          found: 'not on its list',
          command: 'sh -c id',
        })),
      'refused',
      "refuses 'sh -c id': not on its list",
      '/etc/stowage/allowed',
      'CommandNotListed',
    ],
    [
      'a truncated answer',
      () => (api.answer = () => 'VALUE_TRIMMED'),
      'protocol',
      'truncated its answer',
      'max_event_size',
      'SaltAnswerCut',
    ],
    [
      'an answer of another kind',
      () => (api.answer = () => said([])),
      'protocol',
      '0 answers for 1 probes',
      'version',
      'ModuleAnswerUnclear',
    ],
  ])('%s', async (_name, given, code, message, hint, reason) => {
    given();
    const error = await failure(executor.observe('n1', DATE));
    expect(error).toMatchObject({ code, node: 'n1', reason: { code: reason } });
    expect(error.message).toContain(message);
    expect(error.hint).toContain(hint);
    expect(JSON.stringify([error.message, error.hint])).not.toContain('"secret"');
  });

  test('a runner that is missing', async () => {
    api.answer = () => 'whatever';
    api.runnerSays =
      "Exception occurred in runner stowage.call: Traceback\nKeyError: 'stowage.call'";
    const error = await failure(executor.observe('n1', DATE));
    expect(error).toMatchObject({
      code: 'protocol',
      hint: expect.stringContaining('runner_dirs'),
      reason: { code: 'SaltRunnerFailed' },
    });
    expect(error.message).toContain("KeyError: 'stowage.call'");
  });

  test('an account without the right', async () => {
    api.allowed = false;
    const error = await failure(executor.observe('n1', DATE));
    expect(error).toMatchObject({
      code: 'refused',
      hint: expect.stringContaining('@stowage'),
      reason: { code: 'SaltRightMissing', parameters: { function: 'stowage.call' } },
    });
    expect(error.message).toContain('does not allow stowage to run stowage.call');
    // An unknown token is a 401, too.
    expect(api.logins).toHaveLength(2);
  });

  test('no salt-api', async () => {
    await api.stop();
    const error = await failure(executor.observe('n1', DATE));
    expect(error).toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('ECONNREFUSED'),
    });
    api = await startFakeSaltApi();
  });

  test('a certificate of another CA', async () => {
    await writeFile(join(folder.path, 'ca'), (await import('../../../support/tls.ts')).CERTIFICATE);
    expect(await failure(executor.observe('n1', DATE))).toMatchObject({ code: 'unreachable' });
    expect(api.logins).toEqual([]);
  });

  test('a missing secret file', async () => {
    await executor.close();
    await folder.remove();
    folder = await temporaryDirectory('salt-executor');
    executor = start();
    expect((await failure(executor.observe('n1', DATE))).message).toContain('ENOENT');
  });
});

test('sends no request for a node without the right to act', async () => {
  await executor.close();
  let may = true;
  executor = start((node) => {
    if (!may) throw new NodeError('not-ours', node, 'no more');
  });
  api.answer = seen;
  await executor.observe('n1', DATE);
  may = false;
  expect(await failure(executor.observe('n1', DATE))).toMatchObject({ code: 'not-ours' });
  expect(api.calls).toHaveLength(1);
});

test('sends no request if the right is lost while connecting', async () => {
  await executor.close();
  let asked = 0;
  executor = start((node) => {
    if (++asked === 2) throw new NodeError('not-ours', node, 'no more');
  });
  expect(await failure(executor.observe('n1', DATE))).toMatchObject({ code: 'not-ours' });
  expect(api.calls).toEqual([]);
});

test('rejects requests in flight when it is closed', async () => {
  api.answer = () => new Promise(() => {});
  const submitted = failure(executor.submit('n1', JOB, 60_000));
  await until('it is asked', async () => (api.calls.length === 1 ? true : undefined));
  await executor.close();
  expect(await submitted).toMatchObject({ code: 'unreachable' });
});

describe('jobs', () => {
  const running = () => said([{ state: 'running', step: { name: 'do', command: 'true' } }]);
  const calls = () => api.calls.map(({ fun, kwarg }) => `${fun} ${kwarg.function}`);
  /** Submits a job that runs until an event reports its end. */
  const followed = async () => {
    api.answer = running;
    await executor.submit('n1', JOB, 50);
    await until('an event is waited for', async () => {
      await executor.poll('n1', [JOB.key], 20);
      return calls().includes('stowage.start poll') ? true : undefined;
    });
  };

  test('are submitted by a call that waits for their end', async () => {
    api.answer = running;
    expect(await executor.submit('n1', JOB, 1500)).toMatchObject({
      state: 'running',
      step: { name: 'do' },
    });
    expect(api.calls[0]).toMatchObject({
      fun: 'stowage.call',
      // A minion starts a process for each call.
      kwarg: { function: 'submit', patience: 12 },
    });
    expect(api.calls[0]?.kwarg.arguments).toEqual({
      node: 'n1',
      version: 1,
      subject: 'v1',
      job: 'prepare-1',
      steps: JOB.steps.map(stepJson),
      wait: 1.5,
    });
    api.answer = () => said([{ state: 'succeeded' }]);
    expect(await executor.submit('n1', JOB, 1500)).toEqual({ state: 'succeeded' });
    expect(calls()).toEqual(['stowage.call submit', 'stowage.call submit']);
    expect(api.readers()).toBe(0);
  });

  test('include an observation if they succeed', async () => {
    const seen = [[0, Buffer.from('5').toString('base64'), '']];
    api.answer = () => said([{ state: 'succeeded', seen }]);
    expect(await executor.submit('n1', { ...JOB, finalProbes: DATE }, 0)).toEqual({
      state: 'succeeded',
      seen: new Map([['date', { exit: 0, stdout: '5', stderr: '' }]]),
    });
    expect(api.calls[0]?.kwarg.arguments).toMatchObject({ probes: [['date', '+%s']] });
  });

  test.each([
    ['fewer answers than probes', { state: 'succeeded', seen: [] }, 'protocol'],
    ['no observation', { state: 'succeeded' }, undefined],
    ['an observation after a job that died', { state: 'died', seen: [] }, undefined],
  ])('handle a result with %s', async (_what, state, code) => {
    api.answer = () => said([state]);
    const told = await executor
      .submit('n1', { ...JOB, finalProbes: DATE }, 0)
      .catch((error: NodeError) => error);
    expect(told).toEqual(
      code === undefined ? { state: state.state } : expect.objectContaining({ code }),
    );
  });

  test('end by an event that came before the wait for it', async () => {
    await followed();
    const next = { subject: 'v2', id: 'prepare-1' };
    api.tell('20262', 'n1.minion', said([{ state: 'succeeded' }]));
    api.answer = () => said([{ state: 'succeeded' }]);
    expect(await executor.poll('n1', [next], 5000)).toEqual([{ state: 'succeeded' }]);
    expect(calls().slice(-2)).toEqual(['stowage.start poll', 'stowage.call poll']);
  });

  test('are awaited without a request to their node, until an event', async () => {
    await followed();
    const before = api.calls.length;
    await until('the stream is up', async () => {
      const [state] = await executor.poll('n1', [JOB.key], 20);
      return state?.state === 'running' && api.calls.length === before ? true : undefined;
    });
    // An event of another minion with the same job ID of Salt is ignored.
    api.tell('20261', 'n2.minion', said([{ state: 'failed' }]));
    expect(await executor.poll('n1', [JOB.key], 100)).toMatchObject([{ state: 'running' }]);
    expect(api.calls).toHaveLength(before);
    const polled = executor.poll('n1', [JOB.key], 5000);
    api.answer = () =>
      said([{ state: 'failed', step: { name: 'do', command: 'true' }, exit: 3, output: 'no' }]);
    api.tell('20261', 'n1.minion', said([{ state: 'failed' }]));
    expect(await polled).toEqual([
      { state: 'failed', step: { name: 'do', command: 'true' }, exit: 3, output: 'no' },
    ]);
  });

  test('are polled while no events come, and events are read again', async () => {
    await followed();
    api.hangUp();
    await until('nobody reads', async () => (api.readers() === 0 ? true : undefined));
    api.answer = () => said([{ state: 'succeeded' }]);
    expect(await executor.poll('n1', [JOB.key], 5000)).toEqual([{ state: 'succeeded' }]);
    await until('events are read again', async () => (api.readers() === 1 ? true : undefined));
  });

  test('are polled after 30 s without an event', async () => {
    await followed();
    now = 30_000;
    api.answer = () => said([{ state: 'died' }]);
    expect(await executor.poll('n1', [JOB.key], 50)).toEqual([{ state: 'died' }]);
  });

  test('are awaited if an earlier process submitted them', async () => {
    await followed();
    const other = { subject: 'v9', id: 'destroy-2' };
    api.answer = running;
    expect(await executor.poll('n1', [other], 30)).toMatchObject([{ state: 'running' }]);
    expect(api.calls.at(-1)).toMatchObject({
      fun: 'stowage.start',
      kwarg: { function: 'poll', arguments: { wait: 300 } },
    });
  });

  test('are purged and listed by subject', async () => {
    api.answer = ({ kwarg }) => said(kwarg.function === 'forget' ? false : ['v1']);
    expect(await executor.purge('n1', 'v1')).toBe(false);
    expect(await executor.subjects('n1')).toEqual(['v1']);
    expect(await executor.poll('n1', [], 0)).toEqual([]);
  });
});
