import { expect, test } from '@jest/globals';
import { type ReasonCode, reason, refuse } from '../../../src/api/reasons.ts';
import { createExecutorWork } from '../../../src/controllers/snapshot/snapshot-jobs.ts';
import { nodeError } from '../../../src/nodes/errors.ts';
import type { Executor, Job, JobState } from '../../../src/nodes/job.ts';
import { ObservationError } from '../../../src/storage/probe-results.ts';
import type { Plan, Refusal } from '../../../src/storage/types.ts';
import { CONTENT_UID, content, HANDLE, note, volume } from '../../support/snapshot-objects.ts';
import { NOW, UID } from '../../support/volume-input.ts';

const step = { name: 'copy', argv: ['cp'], preconditions: [] };
const failed: JobState = {
  state: 'failed',
  step: { name: 'copy', command: 'cp a b' },
  exit: 1,
  output: 'No space left on device',
};
const WHY = 'the step "copy" failed with status 1: cp a b: No space left on device';
const because = (code: ReasonCode) => ({ detail: expect.objectContaining({ code }) });
const AWAY = { node: 'n1', said: 'timed out' };
const ended: JobState = { state: 'succeeded' };
const COPY = { sizeBytes: 1024 };

interface Node {
  /** Results of each poll, and of the submit. */
  polled?: JobState;
  submitted?: JobState;
  /** Existence of the copy at each observation: before and after the job. */
  there?: boolean[];
  plan?: Plan;
  /** Reason that an unobserved copy may exist. */
  away?: Refusal;
  error?: Error;
}

/** Creates a node whose storage is one file that exists or not. */
function workOn({
  polled = { state: 'not-found' },
  submitted = ended,
  there = [false, true],
  plan,
  away,
  error,
}: Node) {
  const asked: string[] = [];
  let looks = 0;
  const jobs: Job[] = [];
  const ask = (what: string) => {
    asked.push(what);
    if (error !== undefined) throw error;
  };
  const executor: Executor = {
    async observe(node) {
      ask(`observe ${node}`);
      return new Map();
    },
    async poll(node, keys) {
      ask(`poll ${node} ${keys[0]?.subject} ${keys[0]?.id}`);
      return [polled];
    },
    async submit(node, job) {
      ask(`submit ${node} ${job.key.subject} ${job.key.id}`);
      jobs.push(job);
      return submitted;
    },
    async purge(node, subject) {
      ask(`forget ${node} ${subject}`);
      return true;
    },
    subjects: async () => [],
    close: async () => {},
  };
  const work = createExecutorWork<object, { isThere: boolean }>({
    executor,
    jobWatcher: { watch() {} },
    clock: { timeOfDay: () => NOW },
    storage: {
      before: () => [],
      probes: () => [],
      read() {
        const isThere = there[Math.min(looks, there.length - 1)] ?? false;
        looks += 1;
        return { isThere };
      },
      plan: (operation, _wanted, { isThere }) =>
        plan ?? { steps: isThere === (operation === 'take') ? [] : [step] },
      copyOf: (_wanted, { isThere }) => (isThere ? COPY : undefined),
      leftOf: () => LEFT.leftBytes,
      leavesFrozen: () => false,
      awayOf: () => away,
    },
    wantedOf: (_content, _volume, _node, handle) =>
      handle.type === 'lvm'
        ? { message: 'no such thing', detail: reason('SnapshotsOfKindNone', NONE) }
        : {},
  });
  return { work, asked, jobs };
}

const NONE = { volume: 'data1', kind: 'raw device' };

/** Size that a failed job left. */
const LEFT = { leftBytes: 4096n };

const current = async () => true;
const freeze = { seconds: 10, copy: false };
const key = `n1 ${UID} snapshot-${CONTENT_UID}-1`;
const SUBMITS = [`poll ${key}`, 'observe n1', `submit ${key}`];

test.each<[string, Node, object, string[]]>([
  [
    'a job is submitted, then observed',
    {},
    { is: 'whole', ...COPY, takenAt: NOW },
    [...SUBMITS, 'observe n1', `forget n1 ${UID}`],
  ],
  ['a longer job is running', { submitted: { state: 'running' } }, { is: 'running' }, SUBMITS],
  [
    'a running job is not submitted again',
    { polled: { state: 'running' } },
    { is: 'running' },
    [`poll ${key}`],
  ],
  [
    'an existing copy needs no job',
    { there: [true] },
    { is: 'whole', ...COPY },
    [`poll ${key}`, 'observe n1'],
  ],
  [
    'a refusal is reported',
    { plan: { refusal: 'mounted', hint: 'Wait.', reason: reason('UseUnknown', { device: 'x' }) } },
    {
      is: 'refused',
      message: 'mounted. Wait.',
      detail: reason('UseUnknown', { device: 'x' }),
    },
    [`poll ${key}`, 'observe n1'],
  ],
  [
    'a failed job is reported',
    { submitted: failed, there: [false] },
    { is: 'failed', message: WHY, ...because('NoSpaceLeft'), ...LEFT },
    [...SUBMITS, 'observe n1'],
  ],
  [
    'an earlier failed job is reported',
    { polled: failed, there: [false] },
    { is: 'failed', message: WHY, ...because('NoSpaceLeft'), ...LEFT },
    [`poll ${key}`, 'observe n1'],
  ],
  [
    'a failed job that completed the copy counts',
    { polled: failed, there: [true] },
    { is: 'whole', ...COPY },
    [`poll ${key}`, 'observe n1', `forget n1 ${UID}`],
  ],
  [
    'a succeeded job without a copy is reported',
    { polled: ended, there: [false] },
    { is: 'failed', message: 'steps remain, next: copy', ...because('StepsRemain'), ...LEFT },
    [`poll ${key}`, 'observe n1'],
  ],
  [
    'a node that does not answer is reported',
    { error: nodeError('unreachable', 'n1', refuse('NodeUnreachable', AWAY)) },
    {
      is: 'unknown',
      message:
        'node n1: node n1 is unreachable over ssh: timed out. Check the node: stowage check node n1',
      detail: reason('NodeUnreachable', AWAY),
    },
    [`poll ${key}`],
  ],
  [
    'an incomplete answer is reported',
    { error: new ObservationError(refuse('ProbeUnanswered', { probe: 'x' })) },
    {
      ...{ is: 'unknown', message: 'the answer of the node lacks x' },
      detail: reason('ProbeUnanswered', { probe: 'x' }),
    },
    [`poll ${key}`],
  ],
])('taking a snapshot: %s', async (_, node, expected, commands) => {
  const { work, asked } = workOn(node);
  expect(await work.take(content(), volume(), note(), freeze, current)).toEqual(expected);
  expect(asked).toEqual(commands);
});

test('no job is submitted if the cached content is outdated', async () => {
  const { work, asked } = workOn({});
  expect(await work.take(content(), volume(), note(), freeze, async () => false)).toBeUndefined();
  expect(asked).toEqual([`poll ${key}`, 'observe n1']);
});

test('an error that does not come from a node is thrown', async () => {
  const { work } = workOn({ error: new Error('a bug') });
  await expect(work.take(content(), volume(), note(), freeze, current)).rejects.toThrow('a bug');
});

test.each<[string, Node, object]>([
  ['is done by a job', { there: [true, false] }, { is: 'absent' }],
  ['needs no job if it does not exist', { there: [false] }, { is: 'absent' }],
  [
    'reports a failed job',
    { submitted: failed, there: [true] },
    { is: 'failed', message: WHY, ...because('NoSpaceLeft'), ...LEFT },
  ],
])('removing a snapshot %s', async (_, node, expected) => {
  const { work } = workOn(node);
  expect(await work.remove(content(), undefined, note({ do: 'delete' }), current)).toEqual(
    expected,
  );
});

test('a snapshot may exist while its directory is not mounted', async () => {
  const away = {
    ...{ refusal: 'not mounted', hint: 'Mount it.' },
    reason: reason('MountRequired', { directory: '/srv' }),
  };
  const { work } = workOn({ there: [false], away });
  expect(await work.observe(content(), 'n1', HANDLE, undefined)).toEqual({
    is: 'unknown',
    message: 'not mounted. Mount it.',
    ...because('MountRequired'),
  });
});

test('an observation waits only for a job on the same node', async () => {
  const running = workOn({ polled: { state: 'running' }, there: [true] });
  expect(await running.work.observe(content(), 'n1', HANDLE, note())).toEqual({ is: 'running' });
  expect(await running.work.observe(content(), 'n1', HANDLE, note({ node: 'n2' }))).toEqual({
    is: 'whole',
    ...COPY,
  });
  expect(await workOn({ there: [false] }).work.observe(content(), 'n1', HANDLE, note())).toEqual({
    is: 'absent',
  });
});

test('a kind without snapshots is refused for a take, and unknown to an observation', async () => {
  const handle = {
    type: 'lvm',
    nodes: ['n1'],
    vgName: 'vg',
    name: `snapshot-${CONTENT_UID}`,
  } as const;
  const { work, asked } = workOn({});
  expect(await work.take(content(), volume(), note({ handle }), freeze, current)).toEqual({
    is: 'refused',
    message: 'no such thing',
    ...because('SnapshotsOfKindNone'),
  });
  expect(await work.observe(content(), 'n1', handle, undefined)).toEqual({
    is: 'unknown',
    message: 'no such thing',
    ...because('SnapshotsOfKindNone'),
  });
  expect(asked).toEqual([]);
});
