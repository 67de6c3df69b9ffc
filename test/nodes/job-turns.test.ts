import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { refuse } from '../../src/api/reasons.ts';
import type { Executor, Job, Precondition, Step } from '../../src/nodes/job.ts';
import { localJobs } from '../support/local-jobs.ts';
import { until } from '../support/until.ts';

/** Timeout in ms, longer than any of these jobs: polls return as soon as one has ended. */
const LONG = 120_000;

let node: Awaited<ReturnType<typeof localJobs>>;
let executor: Executor;
afterEach(() => node.remove());

/**
 * Creates a node whose user is root, or one whose programs run through sudo, which closes the
 * locks' descriptors.
 */
async function nodeOf(user: 'root' | 'a user with sudo'): Promise<void> {
  const sudo = 'while [ "$1" != -- ]; do shift; done; shift; exec 6>&- 7>&- 8>&- 9>&-; exec "$@"';
  node = await localJobs({ sudo, id: 'echo stowage' }, user === 'root' ? 0 : 1000);
  ({ executor } = node);
}

const step = (script: string, preconditions: Precondition[] = []): Step => ({
  ...{ name: 'run sh', argv: ['sh', '-c', script, 'sh', node.path], preconditions },
});
const job = (id: string, ...steps: Step[]): Job => ({ key: { subject: 'v1', id }, steps });
const start = (each: Job) => executor.submit('n1', each, 0);
const end = async ({ key }: Job) => (await executor.poll('n1', [key], LONG))[0];
const file = (name: string) => readFile(join(node.path, name), 'utf8').catch(() => '');
const writeGo = () => writeFile(join(node.path, 'go'), '');

/**
 * Records the PIDs of its shell and program, then waits for the file `go`, or for the end of the
 * test.
 */
const WAIT =
  'echo $PPID $$ >"$1/pids"; until [ -e "$1/go" ] || [ ! -d "$1" ]; do sleep 0.02; done; echo waited >>"$1/log"';
const pids = () =>
  until('the job waits', async () => {
    const [shell = 0, program = 0] = (await file('pids')).trim().split(' ').map(Number);
    return program > 0 ? { shell, program } : undefined;
  });

describe.each(['root', 'a user with sudo'] as const)('jobs as %s', (user) => {
  beforeEach(() => nodeOf(user));

  test('run one after the other for one subject', async () => {
    await start(job('first', step(WAIT)));
    await pids();
    const others = ['a', 'b', 'c'].map((name) =>
      job(name, step(`echo ${name} begins >>"$1/log"; sleep 0.1; echo ${name} ends >>"$1/log"`)),
    );
    for (const other of others) expect(await start(other)).toEqual({ state: 'running' });
    expect(await file('log')).toBe('');
    await writeGo();
    for (const other of others) expect(await end(other)).toEqual({ state: 'succeeded' });
    const [first, ...lines] = (await file('log')).trim().split('\n');
    expect(first).toBe('waited');
    // Regardless of their order, no two jobs overlap.
    const pairs = [lines.slice(0, 2), lines.slice(2, 4), lines.slice(4, 6)].map((pair) =>
      pair.join(', '),
    );
    expect(pairs.sort()).toEqual(['a begins, a ends', 'b begins, b ends', 'c begins, c ends']);
  });

  test('wait for a program whose shell was killed, and then report its job as died', async () => {
    const killed = job('killed', step(WAIT));
    const next = job('next', step('echo next >>"$1/log"'));
    await start(killed);
    process.kill((await pids()).shell, 'SIGKILL');
    expect(await executor.purge('n1', 'v1')).toBe(false);
    expect(await start(next)).toEqual({ state: 'running' });
    expect(await executor.poll('n1', [next.key], 200)).toEqual([{ state: 'running' }]);
    await writeGo();
    expect(await end(next)).toEqual({ state: 'succeeded' });
    expect(await file('log')).toBe('waited\nnext\n');
    expect(await end(killed)).toMatchObject({ state: 'died', step: { name: 'run sh' } });
  });

  test('do not run if purged while they wait', async () => {
    await start(job('first', step(WAIT)));
    await pids();
    await start(job('purged', step('echo purged >>"$1/log"')));
    await rm(join(node.jobs, 'v1/purged'), { recursive: true });
    await writeGo();
    const last = job('last', step('echo last >>"$1/log"'));
    await start(last);
    expect(await end(last)).toEqual({ state: 'succeeded' });
    // The purged job has ended, or never runs.
    await until('no job is left', async () =>
      (await executor.purge('n1', 'v1')) ? true : undefined,
    );
    expect(await file('log')).toBe('waited\nlast\n');
  });
});

describe('a step as root', () => {
  beforeEach(() => nodeOf('root'));

  test('ends the job as raced if its program is killed', async () => {
    const killed = job('killed', step('kill -KILL $$'), step('echo after >>"$1/log"'));
    await start(killed);
    expect(await end(killed)).toMatchObject({ state: 'raced', exit: 137 });
    expect(await file('log')).toBe('');
  });

  test('fails before its program starts if its lock is not a block device', async () => {
    const locked = job('locked', { ...step('echo ran >>"$1/log"'), lock: node.path });
    await start(locked);
    expect(await end(locked)).toMatchObject({
      state: 'failed',
      output: expect.stringMatching(/is no block device/),
    });
    expect(await file('log')).toBe('');
  });

  test.each<[string, Omit<Precondition, 'refusal'>, string]>([
    ['an exit status', { argv: ['false'], expect: { exit: 1 } }, 'succeeded'],
    ['another exit status', { argv: ['true'], expect: { exit: 1 } }, 'guarded'],
    ['a text', { argv: ['echo', 'a'], expect: { stdout: { is: 'a' } } }, 'succeeded'],
    ['another text', { argv: ['echo', 'a b'], expect: { stdout: { is: 'a' } } }, 'guarded'],
    [
      'a required text',
      { argv: ['echo', 'a b'], expect: { stdout: { has: 'a', lacks: 'c' } } },
      'succeeded',
    ],
    [
      'no required text',
      { argv: ['echo', 'b'], expect: { stdout: { has: 'a', lacks: 'c' } } },
      'guarded',
    ],
    [
      'a required and a forbidden text',
      { argv: ['echo', 'a c'], expect: { stdout: { has: 'a', lacks: 'c' } } },
      'guarded',
    ],
  ])('runs only if its precondition holds: it returns %s', async (_, precondition, state) => {
    const guarded = job(
      'guarded',
      step('echo ran >>"$1/log"', [{ ...precondition, refusal: 'no' }]),
    );
    await start(guarded);
    expect(await end(guarded)).toMatchObject({ state });
    expect(await file('log')).toBe(state === 'succeeded' ? 'ran\n' : '');
  });
});

test.each(['root', 'a user with sudo'] as const)(
  'a precondition that does not hold reports its reason and refusal: as %s',
  async (user) => {
    await nodeOf(user);
    const refused = refuse('DeviceCarriesData', {
      ...{ device: "/dev/it's", content: 'ext4 "a\\b"', overwrite: '"x"' },
    });
    const look = { argv: ['echo', 'ext4'], expect: { stdout: { is: '' } } };
    await start(job('a', step('true', [{ ...look, ...refused }])));
    const { refusal, reason } = refused;
    expect(await end(job('a'))).toMatchObject({ state: 'guarded', refusal, reason });
  },
);
