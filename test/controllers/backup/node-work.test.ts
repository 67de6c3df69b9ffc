import { describe, expect, test } from '@jest/globals';
import type { Backup } from '../../../src/api/builtins/backup.ts';
import { type ReasonCode, reason, refuse } from '../../../src/api/reasons.ts';
import { createBackupWork } from '../../../src/controllers/backup/node-work.ts';
import { NodeError, nodeError } from '../../../src/nodes/errors.ts';
import type { Executor, Job, JobState, ProbeResult } from '../../../src/nodes/job.ts';
import { ObservationError } from '../../../src/storage/probe-results.ts';
import { missing, result } from '../../support/fake-executor.ts';
import { memoryLogger } from '../../support/logger.ts';
import { backup, COPY, PATH, UID } from './backup-objects.ts';

const SHA = 'a'.repeat(64);
const of = (code: ReasonCode) => ({ detail: expect.objectContaining({ code }) });
const made = result(0, `9 ${SHA}\n`);
const MADE = { is: 'made', bytes: 9, sha256: SHA };
const step = { name: 'pack it', command: "'sh' '-c' 'x' 'stowage-backup' 'y' '/f'" };

const withSecret = backup({
  to: { url: 'https://a.example/b', authorizationSecretRef: { name: 'login', key: 'header' } },
});

const job = { node: 'n1', attempt: 2 };
const handle = { type: 'file', nodes: ['n1'], path: PATH } as const;
const FAILED: JobState = { state: 'failed', step, exit: 1, output: '' };

interface Scene {
  backup?: Backup;
  /** Result of each poll. */
  polled?: JobState;
  /** Results of submits, by job ID. */
  submitted?: Record<string, JobState>;
  /** Result of the probe for the archive. */
  archive?: ProbeResult;
  signature?: string;
  secret?: { value: string } | { problem: string };
  /** Subjects that are not purged, as one of their jobs runs. */
  kept?: string[];
  current?: boolean;
  error?: Error;
}

/** Creates a node that records its requests. */
function workOn({
  polled = { state: 'not-found' },
  submitted = {},
  archive = missing,
  signature = 'TYPE=ext4',
  secret = { value: 'Bearer t0ken' },
  kept = [],
  current = true,
  error,
  ...scene
}: Scene) {
  const asked: string[] = [];
  const logger = memoryLogger();
  const jobs: Job[] = [];
  const ask = (what: string) => {
    asked.push(what.replaceAll(UID, 'UID'));
    if (error !== undefined) throw error;
  };
  const executor: Executor = {
    async observe(node, probes) {
      ask(`observe ${node} ${probes.length}`);
      const answers: Record<string, ProbeResult> = {
        ...{ snapshot: result(0, 'regular file|1048576|9|8|512'), backup: archive },
        ...{
          'snapshot signature': result(0, `UUID=${COPY}\n${signature}`),
          'snapshot readable': result(0),
        },
      };
      return new Map(probes.map(({ name }) => [name, answers[name] ?? missing]));
    },
    async poll(node, keys) {
      ask(`poll ${node} ${keys[0]?.subject} ${keys[0]?.id}`);
      return [polled];
    },
    async submit(node, submits) {
      ask(`submit ${node} ${submits.key.subject} ${submits.key.id}`);
      jobs.push(submits);
      return submitted[submits.key.id] ?? { state: 'succeeded' };
    },
    async purge(node, subject) {
      ask(`forget ${node} ${subject}`);
      return !kept.includes(subject);
    },
    subjects: async () => [],
    close: async () => {},
  };
  const work = createBackupWork({ executor, authorization: async () => secret, logger });
  const of = scene.backup ?? backup();
  return {
    ...{ asked, jobs, work, of, logger },
    run: () => work.run(of, job, handle, 'Filesystem', async () => current),
  };
}

const POLL = 'poll n1 backup-UID backup-2';
const OBSERVE = 'observe n1 4';
const SUBMIT = 'submit n1 backup-UID backup-2';
const ALL = [POLL, OBSERVE, SUBMIT];
const running: JobState = { state: 'running' };

describe('the job of a backup', () => {
  test.each<[string, Scene, object | undefined, string[]]>([
    ['is submitted once', { submitted: { 'backup-2': running } }, { is: 'running' }, ALL],
    ['is not submitted while it runs', { polled: running }, { is: 'running' }, [POLL]],
    [
      'reports what it waits for',
      { polled: { ...running, output: 'stowage-waiting node\n' } },
      {
        is: 'running',
        waits: { message: expect.stringContaining('one of the 16 slots on the node') },
      },
      [POLL],
    ],
    [
      'reports the archive when it ends',
      { submitted: { 'backup-2': { state: 'succeeded', seen: new Map([['backup', made]]) } } },
      MADE,
      ALL,
    ],
    [
      'is followed by an observation if it reports no archive',
      { polled: { state: 'succeeded' }, archive: made },
      MADE,
      [POLL, 'observe n1 1'],
    ],
    [
      'failed if the node has no record of the archive',
      { polled: { state: 'succeeded' } },
      {
        ...{ is: 'failed', message: 'the node has no record of the archive', forGood: false },
        ...of('BackupForgotten'),
      },
      [POLL, 'observe n1 1'],
    ],
    ['is not submitted if the archive exists', { archive: made }, MADE, [POLL, OBSERVE]],
    ['is not submitted for a changed Backup', { current: false }, undefined, [POLL, OBSERVE]],
    [
      'is not submitted for an unsupported file system',
      { signature: 'TYPE=btrfs' },
      {
        ...{ is: 'failed', forGood: true, message: expect.stringContaining('but btrfs') },
        ...of('SnapshotFileDiffers'),
      },
      [POLL, OBSERVE],
    ],
    [
      'is not submitted without a target',
      { backup: backup({ to: {} }) },
      {
        ...{ is: 'failed', forGood: true },
        ...{ message: expect.stringContaining('spec.to must have'), ...of('BackupTargetInvalid') },
      },
      [],
    ],
    [
      'is not submitted without its secret',
      { backup: withSecret, secret: { problem: 'no Secret' } },
      { is: 'unknown', message: 'no Secret', ...of('BackupSecretUnusable') },
      [POLL],
    ],
    [
      'fails permanently if the script refuses',
      { polled: { state: 'failed', step, exit: 3, output: 'stowage-progress 1 2\nno room\n' } },
      { is: 'failed', message: 'no room', forGood: true, ...of('StepFailed') },
      [POLL],
    ],
    [
      'may be retried after a failure',
      { polled: { state: 'failed', step, exit: 1, output: 'the server answered 503\n' } },
      { is: 'failed', message: 'the server answered 503', forGood: false, ...of('StepFailed') },
      [POLL],
    ],
    [
      'may be retried after it died',
      { polled: { state: 'died' } },
      {
        ...{ is: 'failed', message: expect.stringContaining('without a result') },
        ...{ forGood: false, ...of('JobDied') },
      },
      [POLL],
    ],
    [
      'is unknown if its node does not answer',
      { error: nodeError('unreachable', 'n1', refuse('NodeSilent', { node: 'n1', seconds: 30 })) },
      {
        ...{ is: 'unknown', ...of('NodeSilent') },
        message: 'node n1 does not answer: node n1 did not answer within 30 s',
      },
      [POLL],
    ],
    [
      'is unknown if its node refuses the key',
      { error: new NodeError('refused', 'n1', 'no key') },
      { is: 'unknown', message: 'node n1: no key' },
      [POLL],
    ],
    [
      'is unknown if the answer is incomplete',
      { error: new ObservationError(refuse('ProbeUnanswered', { probe: 'x' })) },
      {
        ...{ is: 'unknown', message: 'the answer of the node lacks x' },
        detail: reason('ProbeUnanswered', { probe: 'x' }),
      },
      [POLL],
    ],
  ])('%s', async (_, scene, outcome, commands) => {
    const { run, asked } = workOn(scene);
    expect(await run()).toEqual(outcome);
    expect(asked).toEqual(commands);
  });

  test('reports its output without snapshot paths, and logs the full output', async () => {
    const output = `${PATH} could not be mounted, /archives/b could\n`;
    const to = { path: '/archives/b' };
    const { run, logger } = workOn({
      backup: backup({ to }),
      polled: { state: 'failed', step, exit: 1, output },
    });
    const message = '… could not be mounted, /archives/b could';
    const detail = reason('StepFailed', { step: 'pack it', exit: 1, output: message });
    expect(await run()).toEqual({ is: 'failed', message, detail, forGood: false });
    expect(logger.lines).toMatchObject([{ level: 'warn', message: output.trim() }]);
  });

  test('receives the secret only on standard input', async () => {
    const { run, jobs } = workOn({ backup: withSecret });
    await run();
    const [{ argv, stdin } = { argv: [], stdin: '' }] = jobs[0]?.steps ?? [];
    expect(stdin).toBe('prod\nBearer t0ken\n\n');
    expect(argv.join(' ')).not.toContain('t0ken');
  });

  test('throws an error that does not come from a node', async () => {
    await expect(workOn({ error: new Error('a bug') }).run()).rejects.toThrow('a bug');
  });
});

test.each<[string, Scene, object]>([
  ['a running job', { polled: running }, { is: 'running' }],
  ['an archive whose job is forgotten', { archive: made }, MADE],
  ['nothing', {}, { is: 'none' }],
  [
    'a failed job',
    { polled: { ...FAILED, output: 'no' } },
    { is: 'failed', message: 'no', forGood: false, ...of('StepFailed') },
  ],
])('an observation finds %s, and submits nothing', async (_, scene, outcome) => {
  const { work, of, asked } = workOn(scene);
  expect(await work.observe(of, job)).toEqual(outcome);
  expect(asked.filter((each) => each.startsWith('submit'))).toEqual([]);
});

const CANCEL = 'submit n1 backup-UID-end cancel';
const LEAVE = 'submit n1 backup-UID-end leave';
const FORGET = ['forget n1 backup-UID-end', 'forget n1 backup-UID'];
const NOT_YET = {
  ...{ is: 'unknown', message: 'files of the Backup are not removed from the node yet' },
  ...of('BackupNotRemoved'),
};

describe('data of a backup on its node', () => {
  test.each<[string, Scene, object, string[]]>([
    ['is removed, then forgotten', {}, { is: 'left' }, [POLL, LEAVE, ...FORGET]],
    [
      'is not removed while its job runs, which is canceled',
      { polled: running },
      { is: 'running' },
      [POLL, CANCEL],
    ],
    [
      'is not removed until its removal ends',
      { submitted: { leave: running } },
      NOT_YET,
      [POLL, LEAVE],
    ],
    [
      'is removed by another job after a failure',
      { submitted: { leave: FAILED } },
      NOT_YET,
      [POLL, LEAVE, 'forget n1 backup-UID-end'],
    ],
    [
      'needs no removal without a target',
      { backup: backup({ to: {} }) },
      { is: 'left' },
      [POLL, ...FORGET],
    ],
    [
      'is not forgotten while its job runs',
      { kept: [`backup-${UID}`] },
      { is: 'running' },
      [POLL, LEAVE, ...FORGET],
    ],
    [
      'is unknown if its node does not answer',
      { error: new NodeError('unreachable', 'n1', 'timed out') },
      { is: 'unknown', message: 'node n1 does not answer: timed out' },
      [POLL],
    ],
  ])('%s', async (_, scene, outcome, commands) => {
    const { work, of, asked } = workOn(scene);
    expect(await work.leave(of, job)).toEqual(outcome);
    expect(asked).toEqual(commands);
  });

  test('is removed at once if the node answers, and ignored if it is unreachable', async () => {
    const { work, of, asked } = workOn({});
    await work.forget(of, job);
    expect(asked).toEqual([POLL, LEAVE, ...FORGET]);
    const away = workOn({ error: new NodeError('unreachable', 'n1', 'timed out') });
    await expect(away.work.forget(of, job)).resolves.toBeUndefined();
    await expect(workOn({ error: new Error('a bug') }).work.forget(of, job)).rejects.toThrow(
      'a bug',
    );
  });
});
