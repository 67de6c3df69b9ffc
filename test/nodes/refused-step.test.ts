import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Executor, Job, Step } from '../../src/nodes/job.ts';
import { localJobs } from '../support/local-jobs.ts';

/** Runs each program except `refused`. */
const SUDO = `shift; [ "$1" != -l ] || shift; [ "$1" != -- ] || shift
case $1 in refused) echo "sudo: a password is required" >&2; exit 1 ;; esac
exec "$@"`;

let folder: Awaited<ReturnType<typeof localJobs>>;
let executor: Executor;

/** Uses the shell of a user who is not root. */
beforeAll(async () => {
  folder = await localJobs({ sudo: SUDO, id: 'echo stowage', refused: 'true' }, 1000);
  ({ executor } = folder);
});
afterAll(() => folder.remove());

const step = (...argv: string[]): Step => ({ name: `run ${argv[0]}`, argv, preconditions: [] });
const job = (id: string, ...steps: Step[]): Job => ({ key: { subject: 'v1', id }, steps });
const poll = (...jobs: Job[]) =>
  executor.poll(
    'n1',
    jobs.map(({ key }) => key),
    2000,
  );

test('ends the job at a refused later step, and reports the reason until the purge', async () => {
  const made = join(folder.path, 'made');
  const a = job('a', step('true'), step('refused', "it's"), step('touch', made));
  const b = job('b', step('true'));
  const guarded = {
    state: 'guarded',
    step: { name: 'run refused', command: expect.stringContaining('refused') },
    refusal:
      "node n1 refuses 'refused it's': sudo does not let user stowage run it as root without a password: sudo: a password is required",
    reason: { code: 'SudoRefused', parameters: { node: 'n1', user: 'stowage' } },
    output: 'sudo: a password is required\n',
  };
  expect(await executor.submit('n1', a, 5000)).toEqual(guarded);
  expect(await executor.submit('n1', b, 5000)).toEqual({ state: 'succeeded' });
  expect(await poll(a, b)).toEqual([guarded, { state: 'succeeded' }]);
  expect(await poll(a, b)).toEqual([guarded, { state: 'succeeded' }]);
  expect(await executor.submit('n1', a, 5000)).toEqual(guarded);
  expect(await readdir(folder.path)).not.toContain('made');
  expect(await executor.purge('n1', 'v1')).toBe(true);
  expect(await poll(a)).toEqual([{ state: 'not-found' }]);
});

test('a user name that JSON must escape is in the refusal, which has no reason', async () => {
  const id = "printf '%s\\n' 'DOM\\user'";
  const other = await localJobs({ sudo: SUDO, id, refused: 'true' }, 1000);
  const refused = job('a', step('true'), step('refused'));
  expect(await other.executor.submit('n1', refused, 5000)).toEqual({
    state: 'guarded',
    step: { name: 'run refused', command: expect.stringContaining('refused') },
    refusal: expect.stringContaining('does not let user DOM\\user run it as root'),
    output: expect.any(String),
  });
  await other.remove();
});

test.each<[string, Step]>([
  ['the first step', step('refused')],
  [
    'a precondition of the first step',
    {
      ...step('true'),
      preconditions: [{ argv: ['refused'], expect: { exit: 0 }, refusal: 'other' }],
    },
  ],
])(
  'submit fails, and no job remains, if sudo refuses %s before any program has run',
  async (_, first) => {
    const refused = job('a', first, step('true'));
    await expect(executor.submit('n1', refused, 5000)).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringContaining("does not let user stowage run 'refused' as root"),
    });
    expect(await poll(refused)).toEqual([{ state: 'not-found' }]);
  },
);

test('submit fails even if a poll has reported the refusal before', async () => {
  const refused = job('a', step('refused'));
  const over = join(folder.path, 'over');
  await executor.submit(
    'n1',
    job('before', step('sh', '-c', `until test -e '${over}'; do sleep 0.02; done`)),
    0,
  );
  expect(await executor.submit('n1', refused, 0)).toMatchObject({ state: 'running' });
  await writeFile(over, '');
  const why = { state: 'guarded', refusal: expect.stringMatching(/^node n1 refuses 'refused':/) };
  expect(await poll(refused)).toEqual([expect.objectContaining(why)]);
  expect(await poll(refused)).toEqual([expect.objectContaining(why)]);
  await expect(executor.submit('n1', refused, 0)).rejects.toMatchObject({ code: 'refused' });
});
