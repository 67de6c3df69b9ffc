import { expect, test } from '@jest/globals';
import type { NodeError } from '../../../src/nodes/errors.ts';
import type { Job } from '../../../src/nodes/job.ts';
import { stepJson } from '../../../src/nodes/step-json.ts';
import { createGuardExecutor } from '../../../src/nodes/transport/guard-executor.ts';

const JOB: Job = {
  key: { subject: 'v1', id: 'prepare-1' },
  steps: [{ name: 'do', argv: ['true', "it's $(id)"], preconditions: [] }],
};

/** Creates a node that responds the same to each request. */
function node(said: unknown) {
  const asked: unknown[] = [];
  const executor = createGuardExecutor({
    async run(name, request) {
      asked.push([name, JSON.parse(request)]);
      return typeof said === 'string' ? said : JSON.stringify(said);
    },
    close: async () => {},
  });
  return { executor, asked };
}

const failure = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: NodeError) => error,
  );

test('observes by a request with the node, the version and the commands', async () => {
  const { executor, asked } = node({ version: 1, answer: [[0, 'b25l', '']] });
  const seen = await executor.observe('n1', [{ name: 'a', argv: ['cat', 'x'] }]);
  expect(seen.get('a')).toEqual({ exit: 0, stdout: 'one', stderr: '' });
  const args = { node: 'n1', version: 1, probes: [['cat', 'x']] };
  expect(asked).toEqual([['n1', { function: 'observe', arguments: args }]]);
});

test('submits, polls and purges a job by its key', async () => {
  const { executor, asked } = node({ version: 1, answer: [{ state: 'succeeded' }] });
  expect(await executor.submit('n1', JOB, 2000)).toEqual({ state: 'succeeded' });
  expect(await executor.poll('n1', [JOB.key], 500)).toEqual([{ state: 'succeeded' }]);
  expect(await executor.poll('n1', [], 500)).toEqual([]);
  const common = { node: 'n1', version: 1 };
  const steps = JOB.steps.map(stepJson);
  expect(asked).toEqual([
    [
      'n1',
      {
        function: 'submit',
        arguments: { ...common, subject: 'v1', job: 'prepare-1', steps, wait: 2 },
      },
    ],
    ['n1', { function: 'poll', arguments: { ...common, keys: [['v1', 'prepare-1']], wait: 0.5 } }],
  ]);
  const other = node({ version: 1, answer: false });
  expect(await other.executor.purge('n1', 'v1')).toBe(false);
});

test('submits a job with probes, and returns their results with its end', async () => {
  const seen = [[0, 'b25l', '']];
  const { executor, asked } = node({ version: 1, answer: [{ state: 'succeeded', seen }] });
  const look = [{ name: 'a', argv: ['cat', 'x'] }];
  expect(await executor.submit('n1', { ...JOB, finalProbes: look }, 0)).toEqual({
    state: 'succeeded',
    seen: new Map([['a', { exit: 0, stdout: 'one', stderr: '' }]]),
  });
  expect(asked).toMatchObject([['n1', { arguments: { probes: [['cat', 'x']] } }]]);
});

test('reports which command the node refuses, with a hint', async () => {
  const { executor } = node({
    version: 1,
    refused: 'command',
    found: 'the command is not on its list',
    command: 'sh -c x',
  });
  expect(await failure(executor.submit('n1', JOB, 0))).toMatchObject({
    code: 'refused',
    message: "node n1 refuses 'sh -c x': the command is not on its list",
    hint: expect.stringMatching(/device PATH.*docs\/ssh-guard\.md/s),
    reason: {
      code: 'CommandNotListed',
      parameters: { node: 'n1', command: 'sh -c x', page: 'docs/ssh-guard.md' },
    },
  });
});

test.each([
  ['version', 'ModuleVersionOther', /^Copy salt\/ of this version of Stowage to the node, as /],
  ['file', 'AllowedListInvalid', /^Write that file as root, /],
  ['node', 'NodeNotListed', /^Correct the address or minion ID of the node; /],
  ['jobs', 'ModuleJobsForeign', /^Log in as the user /],
  [
    'what no version has yet',
    'ModuleRefused',
    /^Copy salt\/ of this version of Stowage to the node, as /,
  ],
])('reports a refusal for %s as %s', async (refused, code, hint) => {
  const { executor } = node({ version: 1, refused, found: 'this and that' });
  expect(await failure(executor.submit('n1', JOB, 0))).toMatchObject({
    code: 'refused',
    message: 'node n1 refuses: this and that',
    hint: expect.stringMatching(hint),
    reason: { code, parameters: { node: 'n1', found: 'this and that' } },
  });
});

test.each(['', 'Welcome!\n{}', { version: 1 }, { version: 1, answer: [] }])(
  '%j is an invalid response',
  async (said) => {
    expect(await failure(node(said).executor.submit('n1', JOB, 0))).toMatchObject({
      code: 'protocol',
      reason: { code: 'ModuleAnswerUnclear', parameters: { page: 'docs/ssh-guard.md' } },
    });
  },
);
