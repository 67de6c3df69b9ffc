import { describe, expect, test } from '@jest/globals';
import { StowageError } from '../../../src/api/errors.ts';
import { SignalError } from '../../../src/cli/lib/signals.ts';
import { wantsJson } from '../../../src/cli/lib/wants-json.ts';
import { ConnectionError } from '../../../src/kube/errors.ts';
import { NodeError } from '../../../src/nodes/errors.ts';
import { fakeExecutor } from '../../support/fake-executor.ts';
import { stowage, type World } from '../../support/fake-io.ts';
import { expectPrintable } from '../../support/printable-text.ts';
import { refusal } from '../../support/refusals.ts';
import { classNamed, pvOf, volumeNamed } from '../../support/volumes.ts';

/** Returns the error that a command prints to standard error, which must be one line. */
async function errorOf(argv: string[], world: World = {}) {
  const { code, err, out } = await stowage(argv, world);
  expect(err).toMatch(/^[^\n]+\n$/);
  return { code, out, error: JSON.parse(err) };
}

const failing = (failure: Error) =>
  errorOf(['get', 'volumes', 'a', '-o', 'json'], { failures: { 'get volumes/a': failure } });

test('an error of the API server keeps its reason, and names the object', async () => {
  const details = { name: 'a', group: 'storage.metalk8s.scality.com', kind: 'volumes' };
  const message = 'volumes.storage.metalk8s.scality.com "a" not found';
  const { code, error, out } = await failing(
    refusal(404, message, { reason: 'NotFound', details }),
  );
  expect({ code, out }).toEqual({ code: 3, out: '' });
  expect(error).toEqual({
    code: 'not-found',
    reason: 'NotFound',
    message,
    object: { kind: 'Volume', name: 'a' },
  });
});

test.each([
  ['failed', 'Failed', 1],
  ['usage', 'Usage', 2],
  ['not-found', 'NotFound', 3],
  ['forbidden', 'Forbidden', 4],
  ['conflict', 'Refused', 5],
  ['timeout', 'Timeout', 6],
  ['partial', 'PartlyDone', 7],
] as const)('an error of code %s has the reason %s', async (code, reason, exit) => {
  const found = await failing(new StowageError(code, 'It broke', { hint: 'Mend it.' }));
  const object = { kind: 'Volume', name: 'a' };
  expect(found).toEqual({
    code: exit,
    out: '',
    error: { code, reason, message: 'It broke', hint: 'Mend it.', object },
  });
});

test('an unreachable server has the reason ServerUnreachable', async () => {
  const { error } = await failing(new ConnectionError('https://x', 'refused'));
  expect(error).toMatchObject({ code: 'failed', reason: 'ServerUnreachable' });
});

test('an unreachable node has the reason NodeUnreachable and names the Node', async () => {
  const { error } = await errorOf(
    [
      ...'create volume a --node n1 --size 1Gi --storage-class fast'.split(' '),
      '--dry-run=plan',
      '-ojson',
    ],
    {
      objects: { 'storageclasses/fast': classNamed('fast') },
      executor: fakeExecutor({ n1: new NodeError('unreachable', 'n1', 'node n1 is away') }),
    },
  );
  expect(error).toEqual({
    code: 'failed',
    reason: 'NodeUnreachable',
    message: 'node n1 is away',
    object: { kind: 'Node', name: 'n1' },
  });
});

test('the errors of a batch are in one document', async () => {
  const bound = {
    'volumes/a': volumeNamed('a'),
    'persistentvolumes/a': pvOf(volumeNamed('a'), 'Bound'),
  };
  const { code, error, out } = await errorOf(['delete', 'volume', 'a', 'b', '-o', 'json'], {
    objects: bound,
  });
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(error).toMatchObject({
    code: 'failed',
    reason: 'Failed',
    message: '2 of 2 failed',
    errors: [
      { code: 'conflict', reason: 'Refused', object: { kind: 'Volume', name: 'a' } },
      { code: 'not-found', reason: 'NotFound', object: { kind: 'Volume', name: 'b' } },
    ],
  });
});

describe('wrong usage', () => {
  test.each<[string[], object]>([
    [
      ['get', 'volumez', '-o', 'json'],
      {
        message: "unknown kind 'volumez'",
        hint: expect.stringMatching(
          /^Did you mean one of volume, volumes\? stowage get takes volumes\|volume\|vol/,
        ),
      },
    ],
    [
      ['get', 'volumes', '--outptu', '-ojson'],
      { message: "unknown option '--outptu'", hint: 'Did you mean --output?' },
    ],
    [
      ['get', '-o', 'json'],
      { message: "unknown option '-o'", hint: expect.stringContaining('follow the kind') },
    ],
    [
      ['create', '-f', 'a', '-o', 'json', '--', '-'],
      { message: expect.stringContaining('cannot be given') },
    ],
    [
      ['delete', '-o', 'json'],
      {
        message: 'A kind or --filename is required',
        hint: expect.stringContaining('follow the kind'),
      },
    ],
    [['watch', '-o', 'json'], { message: "unknown option '-o'" }],
    [
      ['get', 'volumes', 'a', '-l', 'x', '-o', 'json'],
      { message: 'Names and --selector cannot be given together' },
    ],
    [
      ['create', '-f', 'nowhere', 'volume', '-o', 'json'],
      { message: expect.stringContaining('cannot be given') },
    ],
  ])('is reported as JSON for %j', async (argv, wanted) => {
    const { code, error, out } = await errorOf(argv);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(error).toEqual({ code: 'usage', reason: 'Usage', ...wanted });
  });
});

test('errors in JSON have no bare control characters', async () => {
  const { error } = await failing(new StowageError('failed', 'a\u009b2J\u001b'));
  expect(error.message).toBe('a\u009b2J\u001b');
  const { err } = await stowage(['get', 'volumes', '\u009b2J', '-o', 'json']);
  expectPrintable(err);
});

test('prints nothing after a signal', async () => {
  const signal = AbortSignal.abort(new SignalError('SIGINT'));
  const failures = { 'get volumes/a': new Error('aborted') };
  expect(await stowage(['get', 'volumes', 'a', '-o', 'json'], { failures, signal })).toMatchObject({
    code: 130,
    err: '',
  });
});

test.each<[string[], boolean]>([
  [['get', '-o', 'json'], true],
  [['get', '-ojson'], true],
  [['get', '-wo', 'json'], true],
  [['get', '-wojson'], true],
  [['get', '--output', 'json'], true],
  [['get', '--output=json'], true],
  [['get', '-o', 'yaml', '-o', 'json'], true],
  [['get', '-o', 'json', '-o', 'yaml'], false],
  [['get', '-o', 'jsonl'], false],
  [['get', '--', '-o', 'json'], false],
  [['get', '-o'], false],
  [['get', '-n', 'json'], false],
])('wantsJson reads the output format from %j', (argv, wanted) => {
  expect(wantsJson(argv)).toBe(wanted);
});
