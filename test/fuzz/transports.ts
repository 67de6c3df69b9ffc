import fc from 'fast-check';
import { NodeError } from '../../src/nodes/errors.ts';
import type { Executor, Probe } from '../../src/nodes/job.ts';
import { createGuardExecutor } from '../../src/nodes/transport/guard-executor.ts';
import { createShellExecutor } from '../../src/nodes/transport/shell-executor.ts';
import { UID } from '../support/volume-input.ts';
import { answer, anything, text } from './hostile.ts';
import { type Target, tame } from './target.ts';

const PROBES: readonly Probe[] = [
  { name: 'a', argv: ['true'] },
  { name: 'b', argv: ['true'] },
];
const KEY = { subject: UID, id: 'prepare-1' };
async function askAll(executor: Executor): Promise<void> {
  for (const ask of [
    () => executor.observe('n1', PROBES),
    () => executor.poll('n1', [KEY], 1000),
    () => executor.submit('n1', { key: KEY, steps: [] }, 0),
    () => executor.purge('n1', UID),
    () => executor.subjects('n1'),
  ])
    await tame(ask, NodeError);
}

/** Targets for answers of nodes over a transport. */
export const TRANSPORTS: readonly Target[] = [
  {
    name: 'answers of a shell on a node',
    share: 0.2,
    property: () =>
      fc.asyncProperty(answer, (said) =>
        askAll(createShellExecutor({ run: async () => said, close: async () => {} })),
      ),
  },
  {
    name: 'answers of the forced command',
    share: 0.1,
    property: () =>
      fc.asyncProperty(
        fc.oneof(
          text,
          anything.map((each) => JSON.stringify(each) ?? ''),
        ),
        (said) => askAll(createGuardExecutor({ run: async () => said, close: async () => {} })),
      ),
  },
];
