import { describe, expect, test } from '@jest/globals';
import { reason } from '../../src/api/reasons.ts';
import { NodeError } from '../../src/nodes/errors.ts';
import type { Job } from '../../src/nodes/job.ts';
import {
  observeScript,
  pollScript,
  purgeScript,
  readObservation,
  readPurged,
  readStates,
  submitScript,
} from '../../src/nodes/protocol.ts';
import { createShellExecutor } from '../../src/nodes/transport/shell-executor.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
/** Encodes a text as a response, with a character for each byte. */
const bytes = (text: string) => Buffer.from(text).toString('latin1');
const counted = (text: string) => `${Buffer.byteLength(text)}\n${bytes(text)}\n`;
const job = (line: string, step = '', refusal = '', output = '', reason = '') =>
  `job ${base64(step)}\n${[line, refusal, reason, output].map(counted).join('')}`;
const END = 'stowage-end\n';
const PROBES = [
  { name: 'a', argv: ['true'] },
  { name: 'b', argv: ['true'] },
];
const STEP = { name: 'make it', command: "'mkfs.ext4' '-F'" };
const STEP_FILE = `${STEP.name}\0${STEP.command}`;
const SUDO_REFUSED = '{"code":"SudoRefused","parameters":{"node":"n1","user":"stowage"}}';

describe('names of jobs', () => {
  test.each([
    '',
    '.',
    '..',
    '../x',
    'a/b',
    '-a',
    'a b',
    'a\n',
    'A',
    '$(id)',
    "a'b",
    'é',
    'x'.repeat(101),
  ])('%j is refused in all scripts', (name) => {
    for (const key of [
      { subject: name, id: 'a' },
      { subject: 'a', id: name },
    ]) {
      expect(() => submitScript('n1', { key, steps: [] }, 0)).toThrow(RangeError);
      expect(() => pollScript([key], 0)).toThrow(RangeError);
    }
    expect(() => purgeScript(name)).toThrow(RangeError);
  });

  test('the name of the lock is refused', () => {
    const key = { subject: 'a', id: 'lock' };
    expect(() => submitScript('n1', { key, steps: [] }, 0)).toThrow(RangeError);
    expect(() => pollScript([key], 0)).toThrow(RangeError);
  });

  test('a UID and an attempt are accepted', () => {
    const key = { subject: '0b9cbd1c-5e26-4d13-9d6c-7f1f4d0d4b5e', id: 'prepare-12' };
    expect(pollScript([key], 0)).toContain(`/run/stowage/jobs/${key.subject}/${key.id}`);
  });
});

test('NUL in a command is refused before anything is sent', () => {
  const steps = [{ name: 'x', argv: ['echo', 'a\0b'], preconditions: [] }];
  expect(() => submitScript('n1', { key: { subject: 'a', id: 'b' }, steps }, 0)).toThrow(
    RangeError,
  );
  expect(() => observeScript([{ name: 'x', argv: ['a\0b'] }])).toThrow(RangeError);
});

describe('the states of jobs', () => {
  const refusal = { refusal: 'sudo does not' };
  test.each([
    ['not-found', job('not-found'), { state: 'not-found' }],
    ['waiting', job('running'), { state: 'running' }],
    ['running', job('running', STEP_FILE), { state: 'running', step: STEP }],
    ['succeeded', job('succeeded', STEP_FILE, '', 'all well\n'), { state: 'succeeded' }],
    [
      'failed',
      job('failed 1', STEP_FILE, '', 'no\n'),
      { state: 'failed', step: STEP, exit: 1, output: 'no\n' },
    ],
    [
      'raced',
      job('raced 16', STEP_FILE, '', 'busy'),
      { state: 'raced', step: STEP, exit: 16, output: 'busy' },
    ],
    [
      'guarded',
      job('guarded', STEP_FILE, 'it is mounted', '/mnt'),
      { state: 'guarded', step: STEP, refusal: 'it is mounted', output: '/mnt' },
    ],
    [
      'guarded, with a reason',
      job('guarded', STEP_FILE, 'sudo does not', '', SUDO_REFUSED),
      { state: 'guarded', step: STEP, ...refusal, reason: JSON.parse(SUDO_REFUSED), output: '' },
    ],
    [
      'guarded, with an invalid reason',
      job('guarded', STEP_FILE, 'sudo does not', '', '{"code":"'),
      { state: 'guarded', step: STEP, ...refusal, output: '' },
    ],
    ['died before its first step', job('died'), { state: 'died' }],
    ['died', job('died', STEP_FILE, '', 'half'), { state: 'died', step: STEP }],
  ])('are read: %s', (_, line, state) => {
    expect(readStates(line + END, 1)).toEqual([state]);
  });

  test('are in the order of the request', () => {
    expect(
      readStates(`${job('succeeded')}${job('died')}${END}`, 2).map(({ state }) => state),
    ).toEqual(['succeeded', 'died']);
  });

  test.each([
    ['nothing', ''],
    ['no end', job('succeeded')],
    ['half an end', `${job('succeeded')}stowage-e`],
    ['another last line of the same length', `${job('succeeded')}stowage-eng\n`],
    ['an end without its newline', `${job('succeeded')}stowage-end`],
    ['too few states', END],
    ['too many states', job('succeeded') + job('succeeded') + END],
    ['text before the state', `Welcome!\n${job('succeeded')}${END}`],
    ['text without a newline before the state', `Welcome!${job('succeeded')}${END}`],
    ['text in place of the state', `Welcome!\n${END}`],
    ['text on the line of the state', `Welcome! ${job('succeeded')}${END}`],
    ['an unknown state', job('sleeping') + END],
    ['no state', job('') + END],
    ['a failure without a status', job('failed') + END],
    ['text after the end without a newline', `${job('succeeded')}${END}logout`],
    ['text after the end', `${job('succeeded')}${END}logout\n`],
  ])('are not read from an answer with %s', (_, answer) => {
    expect(() => readStates(answer, 1)).toThrow(RangeError);
  });

  test('a response of millions of lines is refused', () => {
    expect(() => readPurged(`${'\n'.repeat(4 << 20)}${END}`)).toThrow('more than 1 records');
  });

  test('are not read from a truncated response', () => {
    const whole = job('failed 1', STEP_FILE, '', 'output') + END;
    for (let length = 0; length < whole.length; length++) {
      expect(() => readStates(whole.slice(0, length), 1)).toThrow(RangeError);
    }
  });
});

describe('an observation', () => {
  const line = (number: number | string, exit: number | string, stdout = '', stderr = '') =>
    `probe ${number} ${exit}\n${counted(stdout)}${counted(stderr)}\n`;

  test('is read by the names of its probes', () => {
    expect(
      readObservation(line(0, 0, 'é\n') + line(1, 127, '', 'not found') + END, PROBES),
    ).toEqual(
      new Map([
        ['a', { exit: 0, stdout: 'é\n', stderr: '' }],
        ['b', { exit: 127, stdout: '', stderr: 'not found' }],
      ]),
    );
  });

  test('is read even if its output imitates the protocol', () => {
    const forged = `${line(1, 0, 'another')}${END}`;
    const answer = line(0, 0, forged, forged) + line(1, 0, '\0\n\n') + END;
    expect([...readObservation(answer, PROBES).values()]).toEqual([
      { exit: 0, stdout: forged, stderr: forged },
      { exit: 0, stdout: '\0\n\n', stderr: '' },
    ]);
  });

  test.each([
    ['nothing', ''],
    ['no end', line(0, 0) + line(1, 0)],
    ['a missing probe', line(0, 0) + END],
    ['a probe twice', line(0, 0) + line(0, 0) + END],
    ['an unknown probe', line(0, 0) + line(1, 0) + line(2, 0) + END],
    ['a probe that is no number', line(0, 0) + line('', 0) + END],
    ['noise before the probes', `Welcome\n${line(0, 0)}${line(1, 0)}${END}`],
    ['noise between the probes', `${line(0, 0)}Broadcast message\n${line(1, 0)}${END}`],
    ['a status that is no number', line(0, 0) + line(1, 'x') + END],
    ['a text that is shorter than its size', `${line(0, 0)}probe 1 0\n3\nab\n0\n\n\n${END}`],
    ['a text that is longer than its size', `${line(0, 0)}probe 1 0\n1\nab\n0\n\n\n${END}`],
    ['a text that ends inside the next size', `${line(0, 0)}probe 1 0\n3\nab\n10\n\n\n${END}`],
    ['a text whose size exceeds the answer', `${line(0, 0)}probe 1 0\n99\nab\n0\n\n\n${END}`],
    ['a size that is no number', `${line(0, 0)}probe 1 0\n-1\nab\n0\n\n\n${END}`],
  ])('is not read from an answer with %s', (_, answer) => {
    expect(() => readObservation(answer, PROBES)).toThrow(RangeError);
  });
});

describe('the result of a purge', () => {
  test('is read', () => {
    expect(readPurged(`forgotten\n${END}`)).toBe(true);
    expect(readPurged(`busy\n${END}`)).toBe(false);
  });

  test.each([
    '',
    'forgotten\n',
    END,
    `Welcome\nforgotten\n${END}`,
    `forgotten\nWelcome\n${END}`,
    `forgot\n${END}`,
  ])('is not read from %j', (answer) => {
    expect(() => readPurged(answer)).toThrow(RangeError);
  });
});

test('reports an answer that it cannot parse as an error of the node, with a hint', async () => {
  const shell = {
    run: async () => `Welcome to n1\n${job('succeeded')}${END}`,
    close: async () => {},
  };
  const executor = createShellExecutor(shell);
  const key = { subject: 'a', id: 'b' };
  const asked: [string, Promise<unknown>][] = [
    ['observe', executor.observe('n1', PROBES)],
    ['submit', executor.submit('n1', { key, steps: [] } satisfies Job, 0)],
    ['poll', executor.poll('n1', [key], 0)],
    ['forget', executor.purge('n1', 'a')],
  ];
  for (const [name, answer] of asked) {
    const error = await answer.then(
      () => name,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(NodeError);
    expect(error).toMatchObject({
      code: 'protocol',
      node: 'n1',
      message: expect.stringContaining('cannot parse the answer of node n1'),
      hint: expect.stringContaining('profile'),
      reason: { code: 'AnswerUnclear', parameters: { node: 'n1' } },
      cause: expect.any(RangeError),
    });
  }
});

test('a poll without jobs needs no round trip', async () => {
  const shell = { run: () => Promise.reject(new Error('asked')), close: async () => {} };
  expect(await createShellExecutor(shell).poll('n1', [], 1000)).toEqual([]);
});

test('50 concurrent polls of a node take two round trips, each with its own state', async () => {
  const scripts: string[] = [];
  const shell = {
    async run(_node: string, script: string) {
      scripts.push(script);
      const ids = [...script.matchAll(/jobs\/s\/(\d+)'/g)].map(([, id]) => id);
      return `${ids.map((id) => job(`failed ${id}`, STEP_FILE)).join('')}${END}`;
    },
    close: async () => {},
  };
  const executor = createShellExecutor(shell);
  const states = await Promise.all(
    Array.from({ length: 50 }, (_, id) =>
      executor.poll('n1', [{ subject: 's', id: String(id) }], 0),
    ),
  );
  expect(states.map(([state]) => state)).toEqual(
    Array.from({ length: 50 }, (_, exit) => ({ state: 'failed', step: STEP, exit, output: '' })),
  );
  expect(scripts).toHaveLength(2);
  await Promise.all(
    ['n1', 'n2'].map((node) => executor.poll(node, [{ subject: 's', id: '1' }], 0)),
  );
  expect(scripts).toHaveLength(4);
});

test('concurrent polls fail together, and later polls are sent again', async () => {
  let fails = true;
  const shell = {
    run: async (node: string) => {
      if (fails) throw new NodeError('unreachable', node, 'away');
      return `${job('succeeded')}${END}`;
    },
    close: async () => {},
  };
  const executor = createShellExecutor(shell);
  const poll = (id: string) => executor.poll('n1', [{ subject: 's', id }], 0);
  const answers = await Promise.allSettled(['a', 'b', 'c'].map(poll));
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  fails = false;
  expect(await poll('a')).toEqual([{ state: 'succeeded' }]);
});

describe('a request that a node did not run', () => {
  const denied = `${base64('stowage')} ${base64('losetup -d /dev/loop1')}`;
  const executor = (answer: string) =>
    createShellExecutor({ run: async () => answer + END, close: async () => {} });
  const key = { subject: 'a', id: 'b' };
  const said = 'sudo: a password is required';
  const LOOK = [{ name: 'a', argv: ['losetup', '-d', '/dev/loop1'] }];

  test.each([
    [
      'a probe',
      executor(`probe 0 1\n0\n\n${counted(said)}denied ${base64('stowage')}\n`).observe('n1', LOOK),
    ],
    [
      'a step',
      executor(job(`denied ${denied}`, STEP_FILE, '', said)).submit('n1', { key, steps: [] }, 0),
    ],
    [
      'the jobs directory',
      executor(`denied ${denied} ${base64(said)}\n`).submit('n1', { key, steps: [] }, 0),
    ],
  ])('is an error with node, user and program if sudo refused: %s', async (_, answer) => {
    await expect(answer).rejects.toMatchObject({
      code: 'refused',
      message:
        "node n1: sudo does not let user stowage run 'losetup -d /dev/loop1' as root without a password: sudo: a password is required",
      hint: expect.stringContaining('stowage print sudoers'),
      reason: reason('SudoRefused', {
        ...{ node: 'n1', user: 'stowage', command: 'losetup -d /dev/loop1', said },
      }),
    });
  });

  test('has status 127 if the program is missing', () => {
    expect(readObservation(`probe 0 1\n0\n\n0\n\nmissing\n${END}`, LOOK).get('a')?.exit).toBe(127);
  });

  test('is an error if another user owns the jobs directory', async () => {
    const found = 'drwx------ 2 root root 40 Jan 1 00:00 /run/stowage/jobs';
    const answer = executor(`foreign ${base64('stowage')} ${base64(found)}\n`);
    for (const asked of [
      answer.poll('n1', [key], 0),
      answer.purge('n1', 'a'),
      answer.subjects('n1'),
    ]) {
      await expect(asked).rejects.toMatchObject({
        code: 'refused',
        message: expect.stringContaining(found),
        reason: reason('JobsFolderForeign', {
          ...{ node: 'n1', folder: '/run/stowage/jobs', user: 'stowage', found },
        }),
      });
    }
  });
});

test('the names of subjects are unchanged', async () => {
  const answer = `subject ${base64('a')}\nsubject ${base64('.\n é')}\n${END}`;
  const shell = { run: async () => answer, close: async () => {} };
  expect(await createShellExecutor(shell).subjects('n1')).toEqual(['a', '.\n é']);
});
