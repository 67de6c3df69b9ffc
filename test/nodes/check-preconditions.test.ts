import { expect, test } from '@jest/globals';
import { refuse } from '../../src/api/reasons.ts';
import { checkPreconditions, holds } from '../../src/nodes/check-preconditions.ts';
import type { Expect, Precondition, Probe, ProbeResult } from '../../src/nodes/job.ts';

const precondition = (
  argv: string,
  refusal: string,
  wanted: Expect = { exit: 0 },
): Precondition => ({
  argv: argv.split(' '),
  expect: wanted,
  refusal,
});

/** Creates a node with responses by command. */
function nodeWith(answers: Record<string, Partial<ProbeResult>>) {
  const asked: (readonly Probe[])[] = [];
  return {
    asked,
    observe: async (node: string, probes: readonly Probe[]) => {
      expect(node).toBe('n1');
      asked.push(probes);
      return new Map(
        probes.map(({ name, argv }) => [
          name,
          { exit: 0, stdout: '', stderr: '', ...answers[argv.join(' ')] },
        ]),
      );
    },
  };
}

test.each<[Expect, Partial<ProbeResult>, boolean]>([
  [{}, { exit: 1, stdout: 'x' }, true],
  [{ exit: 0 }, {}, true],
  [{ exit: 2 }, { exit: 2 }, true],
  [{ exit: 0 }, { exit: 1 }, false],
  [{ stdout: { is: '' } }, { stdout: '\n' }, true],
  [{ stdout: { is: 'a' } }, { stdout: 'a\n\n' }, true],
  [{ stdout: { is: 'a' } }, { stdout: ' a' }, false],
  [{ exit: 0, stdout: { is: 'a' } }, { exit: 1, stdout: 'a' }, false],
  [{ stdout: { has: 'a', lacks: 'b' } }, { exit: 1, stdout: 'xax' }, true],
  [{ stdout: { has: 'a', lacks: 'b' } }, { stdout: 'xabx' }, false],
  [{ stdout: { has: 'a', lacks: 'b' } }, { stdout: '' }, false],
])('expectation %j for result %j holds: %j', (wanted, result, expected) => {
  expect(holds(wanted, { exit: 0, stdout: '', ...result })).toBe(expected);
});

test('preconditions take one round trip, with each command once', async () => {
  const node = nodeWith({});
  expect(
    await checkPreconditions(node, 'n1', [
      precondition('a b', 'A'),
      precondition('c', 'C'),
      precondition('a b', 'again'),
    ]),
  ).toBeUndefined();
  expect(node.asked.map((probes) => probes.map(({ argv }) => argv))).toEqual([[['a', 'b'], ['c']]]);
});

test('two preconditions that share a command are both checked', async () => {
  const node = nodeWith({ a: { stdout: '/dev/sda ' } });
  const preconditions = ['/dev/sdb ', '/dev/sda '].map((lacks) =>
    precondition('a', lacks, { stdout: { has: '', lacks } }),
  );
  expect(await checkPreconditions(node, 'n1', preconditions)).toMatchObject({
    refusal: '/dev/sda ',
  });
});

test('returns the refusal of the first precondition that does not hold', async () => {
  const node = nodeWith({ b: { exit: 1 }, c: { exit: 1 } });
  expect(
    await checkPreconditions(node, 'n1', [
      precondition('a', 'A'),
      precondition('b', 'B'),
      precondition('c', 'C'),
    ]),
  ).toMatchObject({ refusal: 'B' });
});

test('a precondition whose program is missing does not hold', async () => {
  const node = nodeWith({ a: { exit: 127 } });
  const refused = precondition('a', 'A', { stdout: { has: 'x', lacks: 'y' } });
  expect(await checkPreconditions(node, 'n1', [refused])).toMatchObject({ refusal: 'A' });
  expect(await checkPreconditions(node, 'n1', [{ ...refused, hint: 'Do this.' }])).toMatchObject({
    refusal: 'A',
    hint: 'Do this.',
  });
});

test('a precondition without a result does not hold', async () => {
  expect(
    await checkPreconditions({ observe: async () => new Map() }, 'n1', [
      precondition('a', 'A', {}),
    ]),
  ).toMatchObject({ refusal: 'A' });
});

test('needs no round trip without preconditions', async () => {
  const node = nodeWith({});
  expect(await checkPreconditions(node, 'n1', [])).toBeUndefined();
  expect(node.asked).toEqual([]);
});

test('an unreachable node is an error', async () => {
  const gone = { observe: () => Promise.reject(new Error('unreachable')) };
  await expect(checkPreconditions(gone, 'n1', [precondition('a', 'A')])).rejects.toThrow(
    'unreachable',
  );
});

test.each<[string, Partial<ProbeResult>, string | undefined]>([
  [
    'was killed after it printed a result',
    { exit: 137, stdout: '/1:3/' },
    'cannot determine whether',
  ],
  ['could not be run', { exit: 127 }, 'cannot determine whether'],
  ['found the device', { exit: 1, stdout: '/1:3/7:3/' }, 'refused'],
  ['printed nothing', { exit: 1 }, 'refused'],
  ['found nothing, though a process ended meanwhile', { exit: 1, stdout: '/1:3/' }, undefined],
])('a command that may hang runs with a timeout: one that %s', async (_, result, said) => {
  const node = nodeWith({ 'timeout -s KILL 10 find x': result });
  const wanted = { stdout: { has: '/1:3/', lacks: '7:3' } };
  expect(
    await checkPreconditions(node, 'n1', [
      { ...precondition('find x', 'refused', wanted), late: refuse('UseUnknown', { device: 'x' }) },
    ]),
  ).toEqual(said && expect.objectContaining({ refusal: expect.stringContaining(said) }));
});
