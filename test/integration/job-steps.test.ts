import { expect, test } from '@jest/globals';
import type { Precondition, Step } from '../../src/nodes/job.ts';
import { jobScene, NODE, TRANSPORTS } from '../support/job-scene.ts';
import { describeAsRoot } from '../support/root.ts';

describeAsRoot.each(TRANSPORTS)('steps, preconditions and probes over %s', (_, transport) => {
  const scene = jobScene('job-steps', transport);
  const { job, step, script, text, run } = scene;

  test.each<[string, Partial<Step>, object]>([
    ['failed', {}, { state: 'failed', exit: 3, output: 'out\nerr\n' }],
    ['raced', { failureMeansConflict: true }, { state: 'raced', exit: 3, output: 'out\nerr\n' }],
  ])('a %s step returns its status and output, and no later step runs', async (__, more, state) => {
    const failing = { ...script('echo out; echo err >&2; exit 3'), ...more };
    expect(
      await run(job(script('echo earlier'), failing, script('echo later >later'))),
    ).toMatchObject({
      ...state,
      step: { name: 'run sh', command: expect.stringContaining("'sh' '-c'") },
    });
    expect(await text('later')).toBe('');
  });

  test('a killed program is a conflict to retry, and no later step runs', async () => {
    const killed = script('echo out; kill -9 $$');
    expect(await run(job(killed, script('echo later >later')))).toMatchObject({
      // Some shells report the kill, too.
      ...{ state: 'raced', exit: 137, output: expect.stringMatching(/^out\n(Killed\n)?$/) },
    });
    expect(await text('later')).toBe('');
  });

  test('an exit status above the range of signals is a failure', async () => {
    expect(await run(job(script('exit 255')))).toMatchObject({ state: 'failed', exit: 255 });
  });

  test('a program that the node lacks fails with 127', async () => {
    expect(await run(job(step('no-such-program')))).toMatchObject({ state: 'failed', exit: 127 });
    const [probe] = (
      await scene.executor.observe(NODE, [{ name: 'a', argv: ['no-such-program'] }])
    ).values();
    expect(probe).toMatchObject({
      exit: 127,
      stdout: '',
      stderr: expect.stringContaining('not found'),
    });
  });

  const print = (what: string, exit = 0) => ['sh', '-c', `printf '${what}'; exit ${exit}`];
  test.each<[string, Omit<Precondition, 'refusal'>, boolean]>([
    ['the expected status', { argv: print('x', 2), expect: { exit: 2 } }, true],
    ['another status', { argv: print('x'), expect: { exit: 2 } }, false],
    [
      'the expected text',
      { argv: print('a\\nb\\n\\n', 1), expect: { stdout: { is: 'a\nb' } } },
      true,
    ],
    ['another text', { argv: print('a*'), expect: { stdout: { is: 'a' } } }, false],
    ['no output, as expected', { argv: print(''), expect: { exit: 0, stdout: { is: '' } } }, true],
    [
      'the expected text with another status',
      { argv: print('a', 1), expect: { exit: 0, stdout: { is: 'a' } } },
      false,
    ],
    [
      'no forbidden text',
      { argv: print('abc', 1), expect: { stdout: { has: 'b', lacks: 'a*c' } } },
      true,
    ],
    [
      'a forbidden text',
      { argv: print('x\\n/7:3/\\n'), expect: { stdout: { has: 'x', lacks: '/7:3/' } } },
      false,
    ],
    [
      'output without a required text',
      { argv: print('', 0), expect: { stdout: { has: 'x', lacks: '/7:3/' } } },
      false,
    ],
    ['an error (no such program)', { argv: ['no-such-program'], expect: { exit: 0 } }, false],
  ])('a step depends on a precondition that returns %s', async (__, precondition, holds) => {
    const refusal = 'it\'s not \\ as "expected"\n%s';
    const state = await run(
      job(
        { ...script('echo ran >>log'), preconditions: [{ ...precondition, refusal }] },
        script('echo next >>log'),
      ),
    );
    expect(state).toMatchObject(holds ? { state: 'succeeded' } : { state: 'guarded', refusal });
    expect(await text('log')).toBe(holds ? 'ran\nnext\n' : '');
  });

  test('the end of a long output is returned', async () => {
    const state = await run(job(script('seq 1 10000; false')));
    const output = 'output' in state ? state.output : '';
    expect(output).toHaveLength(4096);
    expect(output.endsWith('\n9999\n10000\n')).toBe(true);
  });

  test.each([
    ['nothing', ''],
    ['an unterminated line', 'no newline'],
    ['hostile lines', "\n\n' \\ $x `id` %s é 漢\n\n"],
    ['many bytes', 'é'.repeat(20_000)],
  ])('standard input of %s arrives unchanged', async (__, stdin) => {
    expect(await run(job({ ...script('cat >input; wc -c <input >size'), stdin }))).toEqual({
      state: 'succeeded',
    });
    expect(await text('input')).toBe(stdin);
    expect(Number(await text('size'))).toBe(Buffer.byteLength(stdin));
  });

  test('standard input is empty where a step has none', async () => {
    expect(await run(job(script('cat >input')))).toEqual({ state: 'succeeded' });
    expect(await text('input')).toBe('');
  });

  test('hostile arguments stay separate in steps, preconditions and probes', async () => {
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
    const seen = await scene.executor.observe(NODE, [{ name: 'a', argv }]);
    expect(seen.get('a')).toEqual({ exit: 0, stdout: printed, stderr: '' });
    const precondition = { argv, expect: { stdout: { is: printed } }, refusal: 'other' };
    const written = {
      ...script('printf "<%s>" "$@" >args', ...hostile),
      preconditions: [precondition],
    };
    expect(await run(job(written))).toEqual({ state: 'succeeded' });
    expect(await text('args')).toBe(printed);
  });

  test('probes return their own status, output and errors', async () => {
    const seen = await scene.executor.observe(NODE, [
      { name: 'a', argv: ['sh', '-c', 'echo out; echo err >&2; exit 4'] },
      { name: 'b', argv: ['cat'] },
      { name: 'c', argv: ['seq', '1', '20000'] },
    ]);
    expect(seen.get('a')).toEqual({ exit: 4, stdout: 'out', stderr: 'err' });
    expect(seen.get('b')).toEqual({ exit: 0, stdout: '', stderr: '' });
    expect(seen.get('c')?.stdout.split('\n')).toHaveLength(20_000);
  });
});
