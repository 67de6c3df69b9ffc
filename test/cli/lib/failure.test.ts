import { describe, expect, test } from '@jest/globals';
import { StowageError } from '../../../src/api/errors.ts';
import { SignalError } from '../../../src/cli/lib/signals.ts';
import { stowage, type World } from '../../support/fake-io.ts';

const failing = (failure: Error, world: World = {}) =>
  stowage(['get', 'volumes', 'data1', '--no-color'], {
    failures: { 'get volumes/data1': failure },
    ...world,
  });

describe('the exit status', () => {
  test('depends on the code of the error, not on its class', async () => {
    const error = Object.assign(new Error('node n1 is gone'), {
      code: 'timeout',
      hint: 'Look at it.',
    });
    expect(await failing(error)).toMatchObject({
      code: 6,
      err: 'error: node n1 is gone\nhint: Look at it.\n',
    });
  });

  test('is 1 for system errors', async () => {
    expect(await failing(Object.assign(new Error('x'), { code: 'ENOENT' }))).toMatchObject({
      code: 1,
    });
    expect(await failing(Object.assign(new Error('x'), { code: 'toString' }))).toMatchObject({
      code: 1,
    });
  });

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('after %s is %d, regardless of the error that follows', async (name, status) => {
    const signal = AbortSignal.abort(new SignalError(name));
    expect(await failing(new Error('aborted'), { signal })).toMatchObject({
      code: status,
      err: '',
    });
  });
});

test('error messages contain no control characters', async () => {
  const { err } = await failing(new StowageError('failed', 'a\u001b[2Jb', { hint: '\u0007' }));
  expect(err).toBe('error: a\ufffd[2Jb\nhint: \ufffd\n');
});

test('-v shows where an error comes from, and what caused it', async () => {
  const error = new StowageError('failed', 'It broke', { cause: new Error('the disk is full') });
  const { err } = await stowage(['-v', 'get', 'volumes', 'data1'], {
    failures: { 'get volumes/data1': error },
  });
  expect(err).toMatch(/failure\.test\.ts[\s\S]*caused by: Error: the disk is full/);
  expect((await failing(error)).err).not.toContain('failure.test.ts');
});

describe('colors', () => {
  const run = (world: World, ...flags: string[]) =>
    stowage([...flags, 'get', 'volumes', 'data1'], {
      failures: { 'get volumes/data1': new StowageError('failed', 'x') },
      ...world,
    });

  test('are used on a terminal', async () => {
    expect((await run({ tty: true })).err).toBe('\u001b[31merror:\u001b[39m x\n');
  });

  test.each<[string, World, string[]]>([
    ['a file', {}, []],
    ['NO_COLOR', { tty: true, env: { NO_COLOR: '1' } }, []],
    ['--no-color', { tty: true }, ['--no-color']],
    ['a dumb terminal', { tty: true, env: { TERM: 'dumb' } }, []],
  ])('are not used with %s', async (_, world, flags) => {
    expect((await run(world, ...flags)).err).toBe('error: x\n');
  });
});

describe('commands in hints', () => {
  const CLUSTER = ['--kubeconfig', '/k', '--context', 'c'];
  const lost = (name: string) =>
    new StowageError('failed', 'It broke', { hint: `See why: stowage why volume ${name}` });
  const failures = { 'get volumes/a': lost('a'), 'get volumes/b': lost('b') };

  test('name the cluster of the run', async () => {
    const { err } = await stowage(['get', 'volumes', 'a', 'b', ...CLUSTER], { failures });
    expect(err.match(/^hint: .*$/gm)).toEqual([
      'hint: See why: stowage --kubeconfig /k --context c why volume a',
      'hint: See why: stowage --kubeconfig /k --context c why volume b',
    ]);
  });

  test('name it with -o json, too', async () => {
    const argv = ['get', 'volumes', 'a', 'b', '-o', 'json', ...CLUSTER];
    const { errors } = JSON.parse((await stowage(argv, { failures })).err);
    expect(errors).toMatchObject([
      { hint: 'See why: stowage --kubeconfig /k --context c why volume a' },
      { hint: 'See why: stowage --kubeconfig /k --context c why volume b' },
    ]);
  });
});
