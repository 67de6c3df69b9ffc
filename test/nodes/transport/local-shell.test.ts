import { expect, test } from '@jest/globals';
import { reason } from '../../../src/api/reasons.ts';
import { createLocalShell } from '../../../src/nodes/transport/local-shell.ts';

const shell = createLocalShell(['n1', 'n2']);

test('refuses nodes that are not this machine', async () => {
  await expect(shell.run('n3', 'true', 5000)).rejects.toMatchObject({
    code: 'not-ours',
    message: 'node n3 is not this machine',
    hint: 'If it is, add it to --local-node; otherwise use --transport ssh. Current local nodes: n1, n2.',
    reason: reason('NodeNotLocal', { node: 'n3', named: 'n1, n2' }),
  });
});

test.each([
  ['that fails', 'echo no >&2; exit 3', 60_000, 'no'],
  ['that takes too long', 'sleep 60', 100, 'no answer within 0.1 s'],
])('a script %s is an error of the node', async (_, script, timeoutMs, said) => {
  await expect(shell.run('n1', script, timeoutMs)).rejects.toMatchObject({
    code: 'protocol',
    message: `node n1: sh failed: ${said}`,
    reason: reason('LocalShellFailed', { node: 'n1', said }),
  });
});
