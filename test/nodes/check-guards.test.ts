import { expect, test } from '@jest/globals';
import { checkGuards, holds } from '../../src/nodes/check-guards.ts';
import type { Expect, Guard, Probe, ProbeResult } from '../../src/nodes/job.ts';

const guard = (argv: string, refusal: string, wanted: Expect = { exit: 0 }): Guard => ({
  argv: argv.split(' '),
  expect: wanted,
  refusal,
});

/** A node that answers by the command. */
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
])('%j of %j holds: %j', (wanted, result, expected) => {
  expect(holds(wanted, { exit: 0, stdout: '', ...result })).toBe(expected);
});

test('guards that hold are asked in one round trip, each command once', async () => {
  const node = nodeWith({});
  expect(
    await checkGuards(node, 'n1', [guard('a b', 'A'), guard('c', 'C'), guard('a b', 'again')]),
  ).toBeUndefined();
  expect(node.asked.map((probes) => probes.map(({ argv }) => argv))).toEqual([[['a', 'b'], ['c']]]);
});

test('two guards that share a command are each held to what they expect of it', async () => {
  const node = nodeWith({ a: { stdout: '/dev/sda ' } });
  const guards = ['/dev/sdb ', '/dev/sda '].map((lacks) =>
    guard('a', lacks, { stdout: { has: '', lacks } }),
  );
  expect(await checkGuards(node, 'n1', guards)).toBe('/dev/sda ');
});

test('returns the refusal of the first guard that does not hold', async () => {
  const node = nodeWith({ b: { exit: 1 }, c: { exit: 1 } });
  expect(await checkGuards(node, 'n1', [guard('a', 'A'), guard('b', 'B'), guard('c', 'C')])).toBe(
    'B',
  );
});

test('a program that the node lacks holds nothing', async () => {
  const node = nodeWith({ a: { exit: 127 } });
  const refused = guard('a', 'A', { stdout: { has: 'x', lacks: 'y' } });
  expect(await checkGuards(node, 'n1', [refused])).toBe('A');
  expect(await checkGuards(node, 'n1', [{ ...refused, hint: 'Do this.' }])).toBe('A. Do this.');
});

test('what was not answered does not hold', async () => {
  expect(await checkGuards({ observe: async () => new Map() }, 'n1', [guard('a', 'A', {})])).toBe(
    'A',
  );
});

test('without guards the node is not asked', async () => {
  const node = nodeWith({});
  expect(await checkGuards(node, 'n1', [])).toBeUndefined();
  expect(node.asked).toEqual([]);
});

test('a node that cannot be asked is an error', async () => {
  const gone = { observe: () => Promise.reject(new Error('unreachable')) };
  await expect(checkGuards(gone, 'n1', [guard('a', 'A')])).rejects.toThrow('unreachable');
});

test.each<[string, Partial<ProbeResult>, string | undefined]>([
  ['was ended, whatever it had printed by then', { exit: 137, stdout: '/1:3/' }, 'late'],
  ['could not be run', { exit: 127 }, 'late'],
  ['found the device', { exit: 1, stdout: '/1:3/7:3/' }, 'refused'],
  ['did not look', { exit: 1 }, 'refused'],
  ['found nothing, though a process ended meanwhile', { exit: 1, stdout: '/1:3/' }, undefined],
])('a command that may hang is bounded: one that %s', async (_, result, said) => {
  const node = nodeWith({ 'timeout -s KILL 10 find x': result });
  const wanted = { stdout: { has: '/1:3/', lacks: '7:3' } };
  expect(
    await checkGuards(node, 'n1', [{ ...guard('find x', 'refused', wanted), late: 'late' }]),
  ).toBe(said);
});
