import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { systemClock } from '../../src/control/clock.ts';
import { NodeError } from '../../src/nodes/errors.ts';
import type { Executor, Guard, Job, Step } from '../../src/nodes/job.ts';
import { createLocalShell } from '../../src/nodes/local-shell.ts';
import { limitNodes } from '../../src/nodes/node-gate.ts';
import { createShellExecutor } from '../../src/nodes/shell-executor.ts';
import { createSshShell, type SshAddress } from '../../src/nodes/ssh-shell.ts';
import { leftovers } from '../support/leftovers.ts';
import { describeAsRoot } from '../support/root.ts';
import { childrenOf, type Sshd, startSshd } from '../support/sshd.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const NODE = 'n1';
/** Longer than a test may take, in ms: an answer that waits for it fails the test. */
const WITHIN = 600_000;

describeAsRoot('jobs', () => {
  let sshd: Sshd;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  /** Of the test that runs; every subject is forgotten after it. */
  let here: string;
  let subject: string;

  beforeAll(async () => {
    folder = await temporaryFolder('jobs');
    // `changed` has a host key that is not the server's.
    sshd = await startSshd({ nodes: [NODE, 'changed'] });
    const knownHosts = await readFile(join(sshd.folder, 'known_hosts'), 'utf8');
    const otherKey = await readFile(join(sshd.folder, 'client_key.pub'), 'utf8');
    const lines = knownHosts.split('\n').filter((line) => !line.startsWith('changed '));
    await writeFile(join(sshd.folder, 'known_hosts'), `${lines.join('\n')}changed ${otherKey}`);
  });
  afterAll(async () => {
    await sshd?.stop();
    await folder?.remove();
  });
  beforeEach(async () => {
    subject = randomUUID();
    here = join(folder.path, subject);
    await mkdir(here);
  });

  const overSsh = (address: SshAddress = {}) =>
    createShellExecutor(createSshShell({ configFile: sshd.configFile, addressOf: () => address }));

  /** `cut` kills what connects us with the node. */
  const transports: [string, { make(): Executor; cut(): Promise<void>; lost: string }][] = [
    [
      'local',
      {
        make: () => createShellExecutor(createLocalShell([NODE])),
        cut: () => kill(process.pid, 'sh'),
        lost: 'protocol',
      },
    ],
    ['ssh', { make: () => overSsh(), cut: () => kill(sshd.pid, 'sshd'), lost: 'unreachable' }],
  ];

  describe.each(transports)('over %s', (_, transport) => {
    let executor: Executor;
    beforeAll(() => {
      executor = transport.make();
    });
    afterAll(() => executor.close());
    afterEach(async () => {
      await writeFile(join(here, 'go'), '');
      await until('the jobs of the test end', async () =>
        (await executor.forget(NODE, subject)) ? true : undefined,
      );
      expect((await leftovers()).filter((fault) => fault.includes(subject))).toEqual([]);
    });

    let numbers = 0;
    const job = (...steps: Step[]): Job => ({ key: { subject, id: `job-${numbers++}` }, steps });
    const step = (...argv: string[]): Step => ({ name: `run ${argv[0]}`, argv, guards: [] });
    const script = (text: string, ...args: string[]) =>
      step('sh', '-c', `cd '${here}' && ${text}`, 'sh', ...args);
    /** Runs until the test lets it go; `pids` has the job's shell and the program. */
    const waiting = () =>
      script('echo $PPID $$ >pids.new; mv pids.new pids; until [ -e go ]; do sleep 0.02; done');
    const text = (name: string) => readFile(join(here, name), 'utf8').catch(() => '');
    const run = (submitted: Job) => executor.submit(NODE, submitted, WITHIN);
    const pids = () =>
      until('the program runs', async () => {
        const [shell, program] = (await text('pids')).split(' ').map(Number);
        return shell && program ? { shell, program } : undefined;
      });
    const ended = (submitted: Job) =>
      until('the job ends', async () => {
        const [state] = await executor.poll(NODE, [submitted.key], 1000);
        return state?.state === 'running' ? undefined : state;
      });

    test('the same key twice at the same time runs once', async () => {
      const once = job(script('echo ran >>log'));
      const states = await Promise.all(Array.from({ length: 6 }, () => run(once)));
      expect(states).toEqual(Array.from({ length: 6 }, () => ({ state: 'succeeded' })));
      expect(await run(once)).toEqual({ state: 'succeeded' });
      expect(await text('log')).toBe('ran\n');
    });

    test('states: not found, running, succeeded, in the order asked, as soon as one has ended', async () => {
      const long = job(waiting());
      const never = job();
      expect(await executor.submit(NODE, long, 0)).toMatchObject({ state: 'running' });
      await pids();
      const poll = (waitMs: number) => executor.poll(NODE, [long.key, never.key, long.key], waitMs);
      const running = {
        state: 'running',
        step: { name: 'run sh', command: expect.stringContaining('until [ -e go ]') },
      };
      expect(await poll(WITHIN)).toEqual([running, { state: 'not-found' }, running]);
      expect(await executor.poll(NODE, [long.key], 100)).toEqual([running]);
      const answer = executor.poll(NODE, [long.key], WITHIN);
      await writeFile(join(here, 'go'), '');
      expect(await answer).toEqual([{ state: 'succeeded' }]);
      expect(await run(job())).toEqual({ state: 'succeeded' });
    });

    test.each<[string, Partial<Step>, object]>([
      ['failed', {}, { state: 'failed', exit: 3, output: 'out\nerr\n' }],
      ['raced', { mayRace: true }, { state: 'raced', exit: 3, output: 'out\nerr\n' }],
    ])('%s: its status and what it printed, and no later step runs', async (__, more, state) => {
      const failing = { ...script('echo out; echo err >&2; exit 3'), ...more };
      expect(await run(job(script('echo earlier'), failing, script('echo later >later')))).toMatchObject({
        ...state,
        step: { name: 'run sh', command: expect.stringContaining("'sh' '-c'") },
      });
      expect(await text('later')).toBe('');
    });

    test('a program that something killed is to be tried again, and no later step runs', async () => {
      const killed = script('echo out; kill -9 $$');
      expect(await run(job(killed, script('echo later >later')))).toMatchObject({
        // Some shells say so, too.
        ...{ state: 'raced', exit: 137, output: expect.stringMatching(/^out\n(Killed\n)?$/) },
      });
      expect(await text('later')).toBe('');
    });

    test('a status above those of signals is a failure of the program', async () => {
      expect(await run(job(script('exit 255')))).toMatchObject({ state: 'failed', exit: 255 });
    });

    test('a program that the node lacks', async () => {
      expect(await run(job(step('no-such-program')))).toMatchObject({ state: 'failed', exit: 127 });
      const [probe] = (await executor.observe(NODE, [{ name: 'a', argv: ['no-such-program'] }])).values();
      expect(probe).toMatchObject({ exit: 127, stdout: '', stderr: expect.stringContaining('not found') });
    });

    const print = (what: string, exit = 0) => ['sh', '-c', `printf '${what}'; exit ${exit}`];
    test.each<[string, Omit<Guard, 'refusal'>, boolean]>([
      ['the status wanted', { argv: print('x', 2), expect: { exit: 2 } }, true],
      ['another status', { argv: print('x'), expect: { exit: 2 } }, false],
      ['the text wanted', { argv: print('a\\nb\\n\\n', 1), expect: { stdout: { is: 'a\nb' } } }, true],
      ['another text', { argv: print('a*'), expect: { stdout: { is: 'a' } } }, false],
      ['nothing, as wanted', { argv: print(''), expect: { exit: 0, stdout: { is: '' } } }, true],
      [
        'the text, but not the status',
        { argv: print('a', 1), expect: { exit: 0, stdout: { is: 'a' } } },
        false,
      ],
      [
        'nothing of what it must lack',
        { argv: print('abc', 1), expect: { stdout: { has: 'b', lacks: 'a*c' } } },
        true,
      ],
      [
        'what it must lack',
        { argv: print('x\\n/7:3/\\n'), expect: { stdout: { has: 'x', lacks: '/7:3/' } } },
        false,
      ],
      [
        'not what it must have',
        { argv: print('', 0), expect: { stdout: { has: 'x', lacks: '/7:3/' } } },
        false,
      ],
      ['no program', { argv: ['no-such-program'], expect: { exit: 0 } }, false],
    ])('a guard that answers %s', async (__, guard, holds) => {
      const refusal = 'it\'s not \\ as "expected"\n%s';
      const state = await run(
        job({ ...script('echo ran >>log'), guards: [{ ...guard, refusal }] }, script('echo next >>log')),
      );
      expect(state).toMatchObject(holds ? { state: 'succeeded' } : { state: 'guarded', refusal });
      expect(await text('log')).toBe(holds ? 'ran\nnext\n' : '');
    });

    test('of a long output the end comes back', async () => {
      const state = await run(job(script('seq 1 10000; false')));
      const output = 'output' in state ? state.output : '';
      expect(output).toHaveLength(4096);
      expect(output.endsWith('\n9999\n10000\n')).toBe(true);
    });

    test.each([
      ['nothing', ''],
      ['a line that does not end', 'no newline'],
      ['hostile lines', "\n\n' \\ $x `id` %s é 漢\n\n"],
      ['many bytes', 'é'.repeat(20_000)],
    ])('standard input of %s arrives as it is', async (__, stdin) => {
      expect(await run(job({ ...script('cat >input; wc -c <input >size'), stdin }))).toEqual({
        state: 'succeeded',
      });
      expect(await text('input')).toBe(stdin);
      expect(Number(await text('size'))).toBe(Buffer.byteLength(stdin));
    });

    test('without any it is empty', async () => {
      expect(await run(job(script('cat >input')))).toEqual({ state: 'succeeded' });
      expect(await text('input')).toBe('');
    });

    test('hostile arguments arrive as one each, in steps, guards and probes', async () => {
      const hostile = [
        '',
        "'; touch owned; '",
        '$(touch owned)',
        '`id`',
        'a\nb',
        '-n',
        '*',
        '\\',
        'é\u202e',
        '"',
      ];
      const argv = ['sh', '-c', 'printf "<%s>" "$@"', 'sh', ...hostile];
      const printed = hostile.map((each) => `<${each}>`).join('');
      const seen = await executor.observe(NODE, [{ name: 'a', argv }]);
      expect(seen.get('a')).toEqual({ exit: 0, stdout: printed, stderr: '' });
      const guard = { argv, expect: { stdout: { is: printed } }, refusal: 'other' };
      const written = { ...script('printf "<%s>" "$@" >args', ...hostile), guards: [guard] };
      expect(await run(job(written))).toEqual({ state: 'succeeded' });
      expect(await text('args')).toBe(printed);
    });

    test('probes answer with their own status, output and errors', async () => {
      const seen = await executor.observe(NODE, [
        { name: 'a', argv: ['sh', '-c', 'echo out; echo err >&2; exit 4'] },
        { name: 'b', argv: ['cat'] },
        { name: 'c', argv: ['seq', '1', '20000'] },
      ]);
      expect(seen.get('a')).toEqual({ exit: 4, stdout: 'out', stderr: 'err' });
      expect(seen.get('b')).toEqual({ exit: 0, stdout: '', stderr: '' });
      expect(seen.get('c')?.stdout.split('\n')).toHaveLength(20_000);
    });

    test('a job outlives the connection that submitted it', async () => {
      const long = job(waiting(), script('echo after >after'));
      const answer = executor.submit(NODE, long, WITHIN).then(String, (error: unknown) => error);
      await pids();
      await transport.cut();
      expect(await executor.poll(NODE, [long.key], 0)).toMatchObject([{ state: 'running' }]);
      await writeFile(join(here, 'go'), '');
      // Locally what waits for the job has the pipe for as long as that runs.
      const lost = await answer;
      expect(lost).toBeInstanceOf(NodeError);
      expect(lost).toMatchObject({ code: transport.lost });
      expect(await ended(long)).toEqual({ state: 'succeeded' });
      expect(await text('after')).toBe('after\n');
    });

    test('a job whose shell was killed runs as long as its program, then has died', async () => {
      const killed = job(waiting(), script('echo after >after'));
      await executor.submit(NODE, killed, 0);
      const { shell } = await pids();
      process.kill(shell, 'SIGKILL');
      await until('the shell is gone', async () =>
        (await readFile(`/proc/${shell}/stat`).catch(() => undefined)) === undefined ? true : undefined,
      );
      expect(await executor.poll(NODE, [killed.key], 200)).toMatchObject([{ state: 'running' }]);
      expect(await executor.forget(NODE, subject)).toBe(false);
      const next = job(script('echo next >next'));
      expect(await executor.submit(NODE, next, 200)).toEqual({ state: 'running' });
      await writeFile(join(here, 'go'), '');
      expect(await ended(killed)).toEqual({
        state: 'died',
        step: expect.objectContaining({ name: 'run sh' }),
      });
      expect(await ended(next)).toEqual({ state: 'succeeded' });
      expect(await text('after')).toBe('');
    });

    test('a wait answers as soon as one of many jobs ends, and leaves no process behind', async () => {
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
        for (const each of all) await executor.submit(NODE, each, 0);
        const answer = executor.poll(
          NODE,
          all.map(({ key }) => key),
          WITHIN,
        );
        await until('it waits for all', async () => ((await waiters(all)) === all.length ? true : undefined));
        await writeFile(join(here, 'go-first'), '');
        const states = await answer;
        expect(states.map(({ state }) => state)).toEqual(
          [...others, first].map(() => 'running').concat('succeeded'),
        );
        // They were sent a signal before the answer; a busy machine lets them end later.
        await until('nobody waits', async () => ((await waiters(all)) === 0 ? true : undefined));
      } finally {
        await writeFile(join(here, 'go-first'), '');
        await writeFile(join(here, 'go'), '');
        for (const { key } of all) {
          await until('the job ends', async () =>
            (await executor.forget(NODE, key.subject)) ? true : undefined,
          );
        }
      }
    });

    test('a wait whose connection is gone leaves no process behind once its time is over', async () => {
      const long = job(waiting());
      await executor.submit(NODE, long, 0);
      await pids();
      const answer = executor.poll(NODE, [long.key], 2000).then(String, (error: unknown) => error);
      await until('it waits', async () => ((await waiters([long])) === 1 ? true : undefined));
      await transport.cut();
      expect(await answer).toBeInstanceOf(NodeError);
      await until('nobody waits', async () => ((await waiters([long])) === 0 ? true : undefined));
      expect(await executor.poll(NODE, [long.key], 0)).toMatchObject([{ state: 'running' }]);
    });

    test('half a submission of a crash goes with the next one, and one that is under way does not', async () => {
      const folder = `/run/stowage/jobs/${subject}`;
      await run(job());
      for (const name of ['old', 'young', 'busy']) await mkdir(join(folder, `.new.${name}`));
      for (const name of ['old', 'busy'])
        await execa('touch', ['-d', '-5 min', join(folder, `.new.${name}`)]);
      const busy = execa('flock', [join(folder, '.new.busy/output'), 'cat'], { stdin: 'pipe' });
      await until('it is held', async () =>
        existsSync(join(folder, '.new.busy/output')) ? true : undefined,
      );
      await execa('touch', ['-d', '-5 min', join(folder, '.new.busy')]);
      await run(job());
      const left = (await readdir(folder, { withFileTypes: true })).map(({ name }) => name);
      busy.stdin?.end();
      await busy;
      expect(left.filter((name) => name.startsWith('.new')).sort()).toEqual(['.new.busy', '.new.young']);
    });

    test('subjects are those that the node keeps anything of', async () => {
      expect(await executor.subjects(NODE)).not.toContain(subject);
      await run(job());
      expect(await executor.subjects(NODE)).toContain(subject);
      await executor.forget(NODE, subject);
      expect(await executor.subjects(NODE)).not.toContain(subject);
    });

    test('jobs of one subject run one after the other', async () => {
      const log = (line: string) => script(`echo ${line} >>log`);
      const first = job(waiting(), log('first'));
      await executor.submit(NODE, first, 0);
      await pids();
      const others = ['b', 'c', 'd'].map((name) =>
        job(log(`${name}+`), script('sleep 0.05'), log(`${name}-`)),
      );
      for (const other of others) expect(await executor.submit(NODE, other, 0)).toEqual({ state: 'running' });
      expect(await text('log')).toBe('');
      await writeFile(join(here, 'go'), '');
      for (const each of [first, ...others]) expect(await ended(each)).toEqual({ state: 'succeeded' });
      const lines = (await text('log')).trim().split('\n');
      expect(lines[0]).toBe('first');
      // Whichever was next, none began inside another.
      const pairs = [lines.slice(1, 3), lines.slice(3, 5), lines.slice(5, 7)].map((pair) => pair.join(' '));
      expect(pairs.sort()).toEqual(['b+ b-', 'c+ c-', 'd+ d-']);
    });

    test('a subject is forgotten once none of its jobs runs', async () => {
      const done = job(script('true'));
      await run(done);
      const long = job(waiting());
      await executor.submit(NODE, long, 0);
      await pids();
      expect(await executor.forget(NODE, subject)).toBe(false);
      expect(await executor.poll(NODE, [done.key], 0)).toEqual([{ state: 'succeeded' }]);
      await writeFile(join(here, 'go'), '');
      await ended(long);
      expect(await executor.forget(NODE, subject)).toBe(true);
      expect(await executor.poll(NODE, [done.key, long.key], 0)).toEqual([
        { state: 'not-found' },
        { state: 'not-found' },
      ]);
      expect(await executor.forget(NODE, subject)).toBe(true);
    });
  });

  test('20 observations at once do not exceed the sessions of one connection', async () => {
    const shell = createSshShell({ configFile: sshd.configFile, addressOf: () => ({}) });
    const executor = createShellExecutor(limitNodes(shell, systemClock));
    const log = join(here, 'log');
    await appendFile(log, '');
    const argv = ['sh', '-c', 'echo 1 >>"$0"; sleep 0.1; echo -1 >>"$0"', log];
    const seen = await Promise.all(
      Array.from({ length: 20 }, () => executor.observe(NODE, [{ name: 'a', argv }])),
    );
    await executor.close();
    expect(seen.map((each) => each.get('a')?.exit)).toEqual(Array.from({ length: 20 }, () => 0));
    let now = 0;
    const counts = (await readFile(log, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => (now += Number(line)));
    expect(Math.max(...counts)).toBeLessThanOrEqual(8);
    expect(Math.max(...counts)).toBeGreaterThan(1);
    expect(now).toBe(0);
  });

  describe('a node that does not let us in or is not there', () => {
    const fails = async (node: string, executor: Executor) => {
      const error = await executor.observe(node, []).catch((thrown: unknown) => thrown);
      await executor.close();
      expect(error).toBeInstanceOf(NodeError);
      return error;
    };

    test('unknown host key', async () => {
      expect(await fails('unknown', overSsh({ host: '127.0.0.1' }))).toMatchObject({
        code: 'refused',
        node: 'unknown',
        message: 'node unknown: its host key is not known (of the kind ED25519)',
        hint: expect.stringContaining('to known_hosts under the name unknown'),
      });
    });

    test('changed host key', async () => {
      expect(await fails('changed', overSsh())).toMatchObject({
        code: 'refused',
        node: 'changed',
        message: expect.stringMatching(
          /^node changed: its host key is another than the known one: the ED25519 key .* is SHA256:\S{43}$/,
        ),
        hint: expect.stringMatching(/known_hosts:\d+\): ssh-keygen -R changed/),
      });
    });

    test('refused key', async () => {
      const keys = join(sshd.folder, 'authorized_keys');
      const content = await readFile(keys);
      await writeFile(keys, '');
      try {
        expect(await fails(NODE, overSsh())).toMatchObject({
          code: 'refused',
          message: expect.stringMatching(/^node n1: root@127.0.0.1: Permission denied \(publickey\)/),
          hint: expect.stringContaining("'ssh n1 true' works for this user"),
        });
      } finally {
        await writeFile(keys, content);
      }
    });

    test('nobody at the port', async () => {
      expect(await fails(NODE, overSsh({ port: 1 }))).toMatchObject({
        code: 'unreachable',
        message: expect.stringContaining('Connection refused'),
      });
    });

    test('local, for a node that is another machine', async () => {
      expect(await fails('n2', createShellExecutor(createLocalShell([NODE])))).toMatchObject({
        code: 'not-ours',
        hint: expect.stringContaining('Named now: n1'),
      });
    });
  });
});

/** How many processes of the machine wait for the end of these jobs: other tests that run meanwhile wait for theirs. */
async function waiters(jobs: readonly Job[]): Promise<number> {
  const folders = jobs.map(({ key }) => `/${key.subject}/`);
  let count = 0;
  for (const pid of await readdir('/proc')) {
    const argv = /^\d+$/.test(pid) ? await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '') : '';
    if (argv.startsWith('flock\0-s\0-w\0') && folders.some((each) => argv.includes(each))) count++;
  }
  return count;
}

/** The children of a process that have this name, by id. */
async function kill(parent: number, name: string): Promise<void> {
  for (const pid of await childrenOf(parent)) {
    if ((await readFile(`/proc/${pid}/comm`, 'utf8')).trim() === name) process.kill(pid, 'SIGKILL');
  }
}
