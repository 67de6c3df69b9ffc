import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { execa } from 'execa';
import { NodeError } from '../../src/nodes/errors.ts';
import type { Job } from '../../src/nodes/job.ts';
import { jobScene, NODE, TRANSPORTS, WITHIN } from '../support/job-scene.ts';
import { describeAsRoot } from '../support/root.ts';
import { until } from '../support/until.ts';

describeAsRoot.each(TRANSPORTS)('jobs over %s', (_, transport) => {
  const scene = jobScene('jobs', transport);
  const { job, script, waiting, text, run, pids, ended } = scene;

  test('a job submitted several times concurrently runs once', async () => {
    const once = job(script('echo ran >>log'));
    const states = await Promise.all(Array.from({ length: 6 }, () => run(once)));
    expect(states).toEqual(Array.from({ length: 6 }, () => ({ state: 'succeeded' })));
    expect(await run(once)).toEqual({ state: 'succeeded' });
    expect(await text('log')).toBe('ran\n');
  });

  test('a poll returns states in request order, as soon as one job has ended', async () => {
    const long = job(waiting());
    const never = job();
    expect(await scene.executor.submit(NODE, long, 0)).toMatchObject({ state: 'running' });
    await pids();
    const poll = (waitMs: number) =>
      scene.executor.poll(NODE, [long.key, never.key, long.key], waitMs);
    const running = {
      state: 'running',
      step: { name: 'run sh', command: expect.stringContaining('until [ -e go ]') },
    };
    expect(await poll(WITHIN)).toEqual([running, { state: 'not-found' }, running]);
    expect(await scene.executor.poll(NODE, [long.key], 100)).toEqual([running]);
    const answer = scene.executor.poll(NODE, [long.key], WITHIN);
    await writeFile(join(scene.here, 'go'), '');
    expect(await answer).toEqual([{ state: 'succeeded' }]);
    expect(await run(job())).toEqual({ state: 'succeeded' });
  });

  test('a job outlives the connection that submitted it', async () => {
    const long = job(waiting(), script('echo after >after'));
    const answer = scene.executor
      .submit(NODE, long, WITHIN)
      .then(String, (error: unknown) => error);
    await pids();
    await transport.cut(scene.sshd);
    expect(await scene.executor.poll(NODE, [long.key], 0)).toMatchObject([{ state: 'running' }]);
    await writeFile(join(scene.here, 'go'), '');
    // With the local transport, the waiting process holds the pipe as long as the job runs.
    const lost = await answer;
    expect(lost).toBeInstanceOf(NodeError);
    expect(lost).toMatchObject({ code: transport.lost });
    expect(await ended(long)).toEqual({ state: 'succeeded' });
    expect(await text('after')).toBe('after\n');
  });

  test('a job whose shell was killed runs as long as its program, then has died', async () => {
    const killed = job(waiting(), script('echo after >after'));
    await scene.executor.submit(NODE, killed, 0);
    const { shell } = await pids();
    process.kill(shell, 'SIGKILL');
    await until('the shell is gone', async () =>
      (await readFile(`/proc/${shell}/stat`).catch(() => undefined)) === undefined
        ? true
        : undefined,
    );
    expect(await scene.executor.poll(NODE, [killed.key], 200)).toMatchObject([
      { state: 'running' },
    ]);
    expect(await scene.executor.purge(NODE, scene.subject)).toBe(false);
    const next = job(script('echo next >next'));
    expect(await scene.executor.submit(NODE, next, 200)).toEqual({ state: 'running' });
    await writeFile(join(scene.here, 'go'), '');
    expect(await ended(killed)).toEqual({
      state: 'died',
      step: expect.objectContaining({ name: 'run sh' }),
    });
    expect(await ended(next)).toEqual({ state: 'succeeded' });
    expect(await text('after')).toBe('');
  });

  test('a poll returns once one of many jobs ends, and leaves no process behind', async () => {
    const others = Array.from(
      { length: 5 },
      (_, n): Job => ({
        key: { subject: randomUUID(), id: `other-${n}` },
        steps: [script('until [ -e go ]; do sleep 0.02; done')],
      }),
    );
    const first = job(waiting(), script('true'));
    const ending = job();
    ending.key.subject = randomUUID();
    ending.steps = [script('until [ -e go-first ]; do sleep 0.02; done')];
    const all = [...others, first, ending];
    try {
      for (const each of all) await scene.executor.submit(NODE, each, 0);
      const answer = scene.executor.poll(
        NODE,
        all.map(({ key }) => key),
        WITHIN,
      );
      await until('the poll waits for all jobs', async () =>
        (await waiters(all)) === all.length ? true : undefined,
      );
      await writeFile(join(scene.here, 'go-first'), '');
      const states = await answer;
      expect(states.map(({ state }) => state)).toEqual(
        [...others, first].map(() => 'running').concat('succeeded'),
      );
      // The waiting processes were signaled before the response. On a busy machine they end later.
      await until('no process waits', async () => ((await waiters(all)) === 0 ? true : undefined));
    } finally {
      await writeFile(join(scene.here, 'go-first'), '');
      await writeFile(join(scene.here, 'go'), '');
      for (const { key } of all) {
        await until('the job ends', async () =>
          (await scene.executor.purge(NODE, key.subject)) ? true : undefined,
        );
      }
    }
  });

  test('a poll with a lost connection leaves no process behind after its timeout', async () => {
    const long = job(waiting());
    await scene.executor.submit(NODE, long, 0);
    await pids();
    const answer = scene.executor
      .poll(NODE, [long.key], 2000)
      .then(String, (error: unknown) => error);
    await until('the poll waits', async () => ((await waiters([long])) === 1 ? true : undefined));
    await transport.cut(scene.sshd);
    expect(await answer).toBeInstanceOf(NodeError);
    await until('no process waits', async () => ((await waiters([long])) === 0 ? true : undefined));
    expect(await scene.executor.poll(NODE, [long.key], 0)).toMatchObject([{ state: 'running' }]);
  });

  test('a submission removes an old incomplete one, but not an active one', async () => {
    const folder = `/run/stowage/jobs/${scene.subject}`;
    await run(job());
    for (const name of ['old', 'young', 'busy']) await mkdir(join(folder, `.new.${name}`));
    for (const name of ['old', 'busy'])
      await execa('touch', ['-d', '-5 min', join(folder, `.new.${name}`)]);
    const busy = execa('flock', [join(folder, '.new.busy/output'), 'cat'], { stdin: 'pipe' });
    await until('the lock is held', async () =>
      existsSync(join(folder, '.new.busy/output')) ? true : undefined,
    );
    await execa('touch', ['-d', '-5 min', join(folder, '.new.busy')]);
    await run(job());
    const left = (await readdir(folder, { withFileTypes: true })).map(({ name }) => name);
    busy.stdin?.end();
    await busy;
    expect(left.filter((name) => name.startsWith('.new')).sort()).toEqual([
      '.new.busy',
      '.new.young',
    ]);
  });

  test('subjects are listed while the node keeps jobs of them', async () => {
    expect(await scene.executor.subjects(NODE)).not.toContain(scene.subject);
    await run(job());
    expect(await scene.executor.subjects(NODE)).toContain(scene.subject);
    await scene.executor.purge(NODE, scene.subject);
    expect(await scene.executor.subjects(NODE)).not.toContain(scene.subject);
  });

  test('jobs of one subject run one after the other', async () => {
    const log = (line: string) => script(`echo ${line} >>log`);
    const first = job(waiting(), log('first'));
    await scene.executor.submit(NODE, first, 0);
    await pids();
    const others = ['b', 'c', 'd'].map((name) =>
      job(log(`${name}+`), script('sleep 0.05'), log(`${name}-`)),
    );
    for (const other of others)
      expect(await scene.executor.submit(NODE, other, 0)).toEqual({ state: 'running' });
    expect(await text('log')).toBe('');
    await writeFile(join(scene.here, 'go'), '');
    for (const each of [first, ...others])
      expect(await ended(each)).toEqual({ state: 'succeeded' });
    const lines = (await text('log')).trim().split('\n');
    expect(lines[0]).toBe('first');
    // Regardless of their order, no two jobs overlap.
    const pairs = [lines.slice(1, 3), lines.slice(3, 5), lines.slice(5, 7)].map((pair) =>
      pair.join(' '),
    );
    expect(pairs.sort()).toEqual(['b+ b-', 'c+ c-', 'd+ d-']);
  });

  test('a subject is purged only once none of its jobs runs', async () => {
    const done = job(script('true'));
    await run(done);
    const long = job(waiting());
    await scene.executor.submit(NODE, long, 0);
    await pids();
    expect(await scene.executor.purge(NODE, scene.subject)).toBe(false);
    expect(await scene.executor.poll(NODE, [done.key], 0)).toEqual([{ state: 'succeeded' }]);
    await writeFile(join(scene.here, 'go'), '');
    await ended(long);
    // The job's shell ends right after writing the result.
    await until('the job is purged', async () =>
      (await scene.executor.purge(NODE, scene.subject)) ? true : undefined,
    );
    expect(await scene.executor.poll(NODE, [done.key, long.key], 0)).toEqual([
      { state: 'not-found' },
      { state: 'not-found' },
    ]);
    expect(await scene.executor.purge(NODE, scene.subject)).toBe(true);
  });
});

/**
 * Returns the number of processes that wait for these jobs. Concurrent tests have their own waiting
 * processes.
 */
async function waiters(jobs: readonly Job[]): Promise<number> {
  const folders = jobs.map(({ key }) => `/${key.subject}/`);
  let count = 0;
  for (const pid of await readdir('/proc')) {
    const argv = /^\d+$/.test(pid)
      ? await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      : '';
    if (argv.startsWith('flock\0-s\0-w\0') && folders.some((each) => argv.includes(each))) count++;
  }
  return count;
}
