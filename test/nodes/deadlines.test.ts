import { expect, test } from '@jest/globals';
import type { Executor } from '../../src/nodes/job.ts';
import { createGuardExecutor } from '../../src/nodes/transport/guard-executor.ts';
import type { Shell } from '../../src/nodes/transport/shell.ts';
import { createShellExecutor } from '../../src/nodes/transport/shell-executor.ts';

const key = { subject: 'v1', id: 'prepare-1' };

/** Each method, with the time (ms) that the node may wait. */
const ROUND_TRIPS: [string, number, (executor: Executor) => Promise<unknown>][] = [
  ['observe', 0, (executor) => executor.observe('n1', [{ name: 'a', argv: ['true'] }])],
  ['submit', 1500, (executor) => executor.submit('n1', { key, steps: [] }, 1500)],
  ['poll', 2000, (executor) => executor.poll('n1', [key], 2000)],
  ['forget', 0, (executor) => executor.purge('n1', 'v1')],
  ['subjects', 0, (executor) => executor.subjects('n1')],
];

test.each([
  ['shell', createShellExecutor],
  ['forced command', createGuardExecutor],
])(
  'each request over a %s has a deadline 30 s after the response is due',
  async (_, createExecutor) => {
    for (const [, wait, ask] of ROUND_TRIPS) {
      const deadlines: number[] = [];
      const shell: Shell = {
        async run(_node, _asked, timeoutMs) {
          deadlines.push(timeoutMs);
          return '';
        },
        close: async () => {},
      };
      await ask(createExecutor(shell)).catch(() => {});
      expect(deadlines).toEqual([wait + 30_000]);
    }
  },
);
