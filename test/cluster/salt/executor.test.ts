import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { NodeError } from '../../../src/nodes/errors.ts';
import type { Executor, Job, Step } from '../../../src/nodes/job.ts';
import { createSaltExecutor } from '../../../src/nodes/transport/salt/executor.ts';
import { systemClock } from '../../../src/workqueue/clock.ts';
import { describeAsRoot } from '../../support/root.ts';
import { until } from '../../support/until.ts';
import { type Restartable, type Salt, startSalt } from './salt.ts';

jest.setTimeout(200_000);

const step = (...argv: string[]): Step => ({ name: argv[0] ?? '', argv, preconditions: [] });
/** A step that the allowlist always permits, and whose result does no harm. */
const HARMLESS = step(
  'install',
  '-d',
  '-m',
  '0700',
  '/var/lib/stowage',
  '/var/lib/stowage/volumes',
);

describeAsRoot('a node over Salt', () => {
  let salt: Salt;
  let executor: Executor;
  let count = 0;
  const subjects: string[] = [];

  beforeAll(async () => {
    salt = await startSalt({ minions: ['n1'] });
    executor = createSaltExecutor({
      access: salt.access,
      minionOf: (node) => node,
      clock: systemClock,
    });
  });
  afterEach(async () => {
    for (const subject of subjects.splice(0)) {
      await rm(`/run/stowage/jobs/${subject}`, { recursive: true, force: true });
    }
  });
  afterAll(async () => {
    await executor?.close();
    await salt?.stop();
  });

  function job(...steps: Step[]): Job {
    const subject = `salt-test-${process.pid}-${++count}`;
    subjects.push(subject);
    return { key: { subject, id: 'prepare-1' }, steps };
  }

  test('observes several commands at once, each with exit status, output and errors', async () => {
    const seen = await executor.observe('n1', [
      { name: 'boot', argv: ['cat', '/proc/sys/kernel/random/boot_id'] },
      {
        name: 'none',
        argv: ['cat', '/var/lib/stowage/volumes/00000000-0000-0000-0000-000000000000.intent'],
      },
    ]);
    const id = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
    expect(seen.get('boot')).toEqual({ exit: 0, stdout: id.trim(), stderr: '' });
    expect(seen.get('none')).toMatchObject({
      exit: 1,
      stderr: expect.stringContaining('No such file'),
    });
  });

  test('a job completes, is found by its key, and is purged', async () => {
    const one = job(HARMLESS);
    expect(await executor.submit('n1', one, 10_000)).toEqual({ state: 'succeeded' });
    expect(await executor.submit('n1', one, 10_000)).toEqual({ state: 'succeeded' });
    expect(await executor.subjects('n1')).toContain(one.key.subject);
    expect(await executor.purge('n1', one.key.subject)).toBe(true);
    expect(await executor.poll('n1', [one.key], 0)).toEqual([{ state: 'not-found' }]);
    expect(await readdir('/run/stowage/jobs')).not.toContain(one.key.subject);
  });

  /** A hundred such steps take some seconds. The result of the precondition is irrelevant. */
  const SLOW: Step = {
    ...HARMLESS,
    preconditions: [
      {
        argv: [
          ...[
            'find',
            '/proc',
            '-maxdepth',
            '2',
            '-path',
            '/proc/[0-9]*/mountinfo',
            '-exec',
            'grep',
            '-hs',
          ],
          ...[
            '-e',
            '[[:space:]]7:7[[:space:]]',
            '-e',
            '[[:space:]]/[[:space:]]/proc[[:space:]]',
            '{}',
            '+',
          ],
        ],
        expect: {},
        refusal: '',
      },
    ],
  };

  test.each<[string, () => Restartable]>([
    ['salt-api', () => salt.api],
    ['the salt-master', () => salt.master],
    ['the minion', () => salt.minion('n1')],
  ])(
    'a job keeps running while %s is down, and a resubmission with its key joins it',
    async (_what, part) => {
      const one = job(...Array.from({ length: 100 }, () => SLOW));
      const folder = `/run/stowage/jobs/${one.key.subject}/${one.key.id}`;
      expect(await executor.submit('n1', one, 0)).toMatchObject({ state: 'running' });
      const begun = await stat(folder);
      await part().stop();
      await expect(executor.poll('n1', [one.key], 0)).rejects.toBeInstanceOf(NodeError);
      await expect(executor.submit('n1', one, 0)).rejects.toBeInstanceOf(NodeError);
      await part().start();
      // Resubmits the job, as a daemon does that does not know of its submission.
      const seen = new Set<string>();
      const ended = await until('the job ends', async () => {
        const state = await executor.submit('n1', one, 1000).catch((error: NodeError) => error);
        if (state instanceof NodeError) {
          expect(state.code).toBe('unreachable');
          return undefined;
        }
        seen.add(state.state);
        return state.state === 'running' ? undefined : state;
      });
      expect(ended).toEqual({ state: 'succeeded' });
      expect([...seen].filter((state) => state !== 'running')).toEqual(['succeeded']);
      expect((await stat(folder)).ino).toBe(begun.ino);
      const kept = (await readdir(`${folder}/..`)).filter((name) => name !== 'lock');
      expect(kept).toEqual([one.key.id]);
    },
  );
});
