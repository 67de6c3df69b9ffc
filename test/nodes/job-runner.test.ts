import { describe, expect, test } from '@jest/globals';
import type { KubeClient } from '../../src/kube/types.ts';
import type { Executor, JobKey, JobState, ProbeResult } from '../../src/nodes/job.ts';
import { createJobRunner, type JobWork } from '../../src/nodes/job-runner.ts';
import { type JobPlan, nextStep } from '../../src/nodes/next-step.ts';
import { result } from '../support/fake-executor.ts';
import { mortal } from '../support/mortal.ts';

const KEY: JobKey = { subject: 'u', id: 'make-1' };
const STEP = { name: 'make it', argv: ['mk'], preconditions: [] };
const PROBES = [{ name: 'it', argv: ['cat', 'it'] }];
const facts = { step: { name: 'make it', command: "'mk'" }, exit: 1, output: 'no' };

const RUNNING: JobState = { state: 'running' };
const SUCCEEDED: JobState = { state: 'succeeded' };
const FAILED: JobState = { state: 'failed', ...facts };
const RACED: JobState = { state: 'raced', ...facts };
const DIED: JobState = { state: 'died' };
const FORGOTTEN: JobState = { state: 'not-found' };
const WHY = 'the step "make it" failed with status 1: \'mk\': no';

describe('nextStep', () => {
  const TO_DO: JobPlan = { steps: [STEP] };
  const DONE: JobPlan = { steps: [] };
  const REFUSED: JobPlan = { refusal: 'it is in use', hint: 'Wait.' };
  const ended = { message: WHY, publicMessage: 'the step "make it" failed with status 1: no' };
  const refused = { is: 'refused', message: 'it is in use. Wait.', plan: REFUSED };

  test.each<[string, JobState | undefined, JobPlan | undefined, object]>([
    ['asks for an unknown state', undefined, TO_DO, { is: 'poll' }],
    ['awaits a job', { ...RUNNING, output: 'x' }, DONE, { is: 'running', output: 'x' }],
    ['keeps a failure, whatever is planned', FAILED, DONE, { is: 'failed', exit: 1, ...ended }],
    ['retries a job that raced', RACED, DONE, { is: 'again', ...ended }],
    ['retries a job that died', DIED, DONE, { is: 'again' }],
    ['observes without a job', FORGOTTEN, undefined, { is: 'observe' }],
    ['observes after a job succeeded', SUCCEEDED, undefined, { is: 'observe' }],
    ['submits remaining steps', FORGOTTEN, TO_DO, { is: 'submit', plan: TO_DO }],
    ['needs no job without remaining steps', FORGOTTEN, DONE, { is: 'done', plan: DONE }],
    ['is done without remaining steps', SUCCEEDED, DONE, { is: 'done', plan: DONE }],
    [
      'retries a job that succeeded with remaining steps',
      SUCCEEDED,
      TO_DO,
      { is: 'again', message: 'steps remain, next: make it' },
    ],
    ['refuses before a job', FORGOTTEN, REFUSED, refused],
    ['refuses after a job', SUCCEEDED, REFUSED, refused],
  ])('%s', (_, state, plan, expected) => {
    expect(nextStep(state, plan)).toMatchObject(expected);
  });
});

interface Scene {
  /** Set if the object exists from the start. */
  there?: boolean;
  /** State of a job of an earlier call. */
  earlier?: JobState;
  /** Number of responses that report a running job. */
  takes?: number;
  end?: JobState;
  /** Set if the job creates the object, regardless of its result. */
  makes?: boolean;
  /** Set if the job's result includes its observation. */
  tells?: boolean;
  refusal?: string;
  isCurrent?: boolean;
  work?: Partial<JobWork<JobPlan>>;
}

/** Creates a node with at most one job, which creates one object, and the work for it. */
function scene({
  there = false,
  earlier,
  takes = 0,
  end = SUCCEEDED,
  makes = end === SUCCEEDED,
  tells = false,
  ...rest
}: Scene) {
  const asked: string[] = [];
  const node = { there, job: earlier, runs: 0, left: takes };
  const seen = () => new Map([['it', result(node.there ? 0 : 1)]]);
  const answer = (submits: boolean): JobState => {
    if (node.job?.state === 'running' && node.left-- === 0) {
      node.job = end;
      node.there ||= makes;
    }
    const state = node.job ?? FORGOTTEN;
    return state.state === 'succeeded' && submits && tells ? { ...state, seen: seen() } : state;
  };
  const executor: Executor = {
    async observe() {
      asked.push('observe');
      return seen();
    },
    async submit(_, { finalProbes }) {
      asked.push(finalProbes === PROBES ? 'submit' : 'submit without probes');
      if (node.job === undefined) node.runs += 1;
      node.job ??= RUNNING;
      return answer(true);
    },
    async poll(_, __, waitMs) {
      asked.push(waitMs === 0 ? 'poll' : `poll ${waitMs}`);
      return [answer(false)];
    },
    async purge(_, subject) {
      asked.push(`purge ${subject}`);
      node.job = undefined;
      return true;
    },
    subjects: async () => [],
    close: async () => {},
  };
  const ensure = (hands: Executor = executor) => {
    const planOf = (results: ReadonlyMap<string, ProbeResult>): JobPlan => {
      if (rest.refusal !== undefined) return { refusal: rest.refusal };
      return { steps: results.get('it')?.exit === 0 ? [] : [STEP], finalProbes: PROBES };
    };
    return createJobRunner(hands).ensure<JobPlan>('n1', KEY, {
      plan: async () => planOf(await hands.observe('n1', PROBES)),
      async isCurrent() {
        asked.push('ask');
        return rest.isCurrent ?? true;
      },
      judge: async (results) => planOf(results ?? (await hands.observe('n1', PROBES))),
      purges: true,
      ...rest.work,
    });
  };
  return { asked, executor, node, ensure };
}

const BEGINS = ['poll', 'observe', 'ask', 'submit'];
const JUDGES = { work: { judgesFailures: true } } as const;
const done = { is: 'done' };
const LOST = { code: 'JobLost' };
const SCENES: [string, Scene, object | undefined, string[]][] = [
  ['is verified by an observation', {}, done, [...BEGINS, 'observe', 'purge u']],
  ['is verified by its own observation', { tells: true }, done, [...BEGINS, 'purge u']],
  ['runs', { takes: 1 }, { is: 'running' }, BEGINS],
  ['still runs', { earlier: RUNNING, takes: 1 }, { is: 'running' }, ['poll']],
  ['is not needed', { there: true }, done, ['poll', 'observe']],
  ['is refused', { refusal: 'no' }, { is: 'refused', message: 'no' }, ['poll', 'observe']],
  ['is not current', { isCurrent: false }, undefined, ['poll', 'observe', 'ask']],
  [
    'ended earlier',
    { earlier: SUCCEEDED, there: true, tells: true },
    done,
    ['poll', 'observe', 'purge u'],
  ],
  [
    'left steps',
    { makes: false },
    { is: 'failed', message: 'steps remain, next: make it', state: SUCCEEDED },
    [...BEGINS, 'observe'],
  ],
  [
    'is refused after it ended',
    { earlier: SUCCEEDED, refusal: 'no' },
    { is: 'failed', message: 'no', state: SUCCEEDED, plan: { refusal: 'no' } },
    ['poll', 'observe'],
  ],
  ['failed', { end: FAILED, makes: true }, { is: 'failed', message: WHY, state: FAILED }, BEGINS],
  [
    'failed, and is verified',
    { end: FAILED, ...JUDGES },
    { is: 'failed', message: WHY, state: FAILED, plan: { steps: [STEP] } },
    [...BEGINS, 'observe'],
  ],
  [
    'failed after its last step, and is verified',
    { end: FAILED, makes: true, ...JUDGES },
    done,
    [...BEGINS, 'observe', 'purge u'],
  ],
  [
    'failed, is verified, and is refused now',
    { earlier: FAILED, refusal: 'no', ...JUDGES },
    { is: 'failed', message: WHY, plan: { refusal: 'no' } },
    ['poll', 'observe'],
  ],
  [
    'was purged at once',
    { end: FORGOTTEN },
    { is: 'failed', message: 'the node no longer knows the job', state: FORGOTTEN, reason: LOST },
    BEGINS,
  ],
  [
    'was purged at once, and is verified',
    { end: FORGOTTEN, ...JUDGES },
    { is: 'failed', message: 'the node no longer knows the job', plan: { steps: [STEP] } },
    [...BEGINS, 'observe'],
  ],
];

describe('a job passed to ensure()', () => {
  test.each(SCENES)('%s', async (_, given, expected, commands) => {
    const { ensure, asked } = scene(given);
    const outcome = await ensure();
    if (expected === undefined) expect(outcome).toBeUndefined();
    else expect(outcome).toMatchObject(expected);
    expect(asked).toEqual(commands);
  });

  test('is kept if only its callers purge it', async () => {
    const { ensure, asked } = scene({ work: { purges: undefined as never } });
    expect(await ensure()).toMatchObject(done);
    expect(asked).not.toContain('purge u');
  });

  const toTheEnd = async ({ ensure }: ReturnType<typeof scene>) => {
    for (let call = 0; call < 10; call++) {
      const outcome = await ensure();
      if (outcome?.is !== 'running') return outcome;
    }
    throw new Error('it runs for ever');
  };
  const CRASHES = SCENES.filter(([, { end }]) => end !== FORGOTTEN).flatMap(([name, given]) =>
    (['before', 'after'] as const).map((when) => [name, when, given] as const),
  );

  test.each(CRASHES)(
    '%s: has the same result if the process dies %s any side effect',
    async (...row) => {
      const [, when, given] = row;
      const whole = scene(given);
      const expected = await toTheEnd(whole);
      const effects = whole.asked.filter((each) => each !== 'ask').length;
      for (let at = 1; at <= effects; at++) {
        const life = scene(given);
        const process = mortal({} as KubeClient, life.executor);
        void process.arm(at, when);
        // The call may end before, as the job is not followed here.
        await life.ensure(process.executor).catch(() => undefined);
        expect(await toTheEnd(life)).toEqual(expected);
        expect({ at, ...life.node, left: 0 }).toEqual({ at, ...whole.node, left: 0 });
      }
    },
  );
});

describe('runToEnd', () => {
  test('polls again after each pause', async () => {
    const { executor, asked } = scene({ takes: 2 });
    const pause = async () => void asked.push('pause');
    const job = { key: KEY, steps: [STEP], finalProbes: PROBES };
    expect(await createJobRunner(executor).runToEnd('n1', job, pause)).toEqual(SUCCEEDED);
    expect(asked).toEqual(['submit', 'pause', 'poll', 'pause', 'poll']);
  });

  test('polls with the given wait time', async () => {
    const { executor, asked } = scene({ takes: 1, end: DIED });
    const job = { key: KEY, steps: [STEP] };
    const pause = async () => {};
    expect(await createJobRunner(executor).runToEnd('n1', job, pause, 9000)).toEqual(DIED);
    expect(asked).toEqual(['submit without probes', 'poll 9000']);
  });

  test('leaves the job running if a pause throws', async () => {
    const { executor, asked, node } = scene({ takes: 2 });
    const pause = () => Promise.reject(new Error('stopped'));
    const job = { key: KEY, steps: [STEP], finalProbes: PROBES };
    await expect(createJobRunner(executor).runToEnd('n1', job, pause)).rejects.toThrow('stopped');
    expect({ asked, job: node.job }).toEqual({ asked: ['submit'], job: RUNNING });
  });
});
