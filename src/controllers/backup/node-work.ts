import { type Backup, backupTarget } from '../../api/builtins/backup.ts';
import type { Logger } from '../../api/logger.ts';
import { NodeError } from '../../nodes/errors.ts';
import type { Executor, JobKey, JobState, Step } from '../../nodes/job.ts';
import { withHint } from '../../nodes/job-text.ts';
import { lastLine, publicFailure, withoutPaths } from '../../nodes/public-text.ts';
import {
  backupProbes,
  backupStep,
  cancelBackup,
  type DesiredBackup,
  leaveBackup,
  madeProbe,
  readBackup,
  readMade,
} from '../../storage/populate/backup.ts';
import { REFUSED } from '../../storage/populate/fill.ts';
import { progressText, readProgress } from '../../storage/populate/progress.ts';
import { ObservationError } from '../../storage/probe-results.ts';
import { doesNotAnswer } from './decide-backup.ts';
import type { BackupJob, BackupOutcome, FileHandle } from './types.ts';

/** A key of a Secret as the API server has it now, for the header Authorization to the host of `url`; `problem`: why there is none. */
export type AuthorizationRead = (
  namespace: string,
  ref: { name: string; key: string },
  url: string,
) => Promise<{ value: string } | { problem: string }>;

/** What is done on nodes for Backups. Each can be called again at any time, and goes on where it is. */
export interface BackupWork {
  /**
   * Has the job run, unless that was tried, and says what became of it.
   * @param isCurrent asked right before it is submitted; undefined comes of a job that was not submitted for that
   */
  run(
    backup: Backup,
    job: BackupJob,
    handle: FileHandle,
    mode: 'Filesystem' | 'Block',
    isCurrent: () => Promise<boolean>,
  ): Promise<BackupOutcome | undefined>;
  /** What became of the job, without one being run. */
  look(backup: Backup, job: BackupJob): Promise<BackupOutcome>;
  /** Has the node forget what is over and told, and the archive's other name. Nothing comes of it where that can't be done now. */
  forget(backup: Backup, job: BackupJob): Promise<void>;
  /** Has what the job left removed; first, that it ends. */
  leave(backup: Backup, job: BackupJob): Promise<BackupOutcome>;
}

export interface BackupWorkDeps {
  executor: Executor;
  authorization: AuthorizationRead;
  logger: Logger;
}

/** How long to wait for a job in the round trip that starts it, in ms. */
const SUBMIT_WAIT = 1500;

/** What jobs of a Backup are of: it, and not the volume, which is kept from nothing meanwhile. */
const subjectOf = ({ metadata }: Backup): string => `backup-${metadata.uid}`;

export const backupJobKey = (backup: Backup, { attempt }: BackupJob): JobKey => ({
  subject: subjectOf(backup),
  id: `backup-${attempt}`,
});

export function createBackupWork({ executor, authorization, logger }: BackupWorkDeps): BackupWork {
  const poll = async (node: string, key: JobKey) =>
    (await executor.poll(node, [key], 0))[0] as JobState;

  const submit = (node: string, key: JobKey, step: Step) =>
    executor.submit(node, { key, steps: [step] }, SUBMIT_WAIT);

  async function run(
    ...[backup, job, handle, mode, isCurrent]: Parameters<BackupWork['run']>
  ): Promise<BackupOutcome | undefined> {
    const { node } = job;
    const key = backupJobKey(backup, job);
    const target = backupTarget(backup);
    if ('problem' in target) return { is: 'failed', message: target.problem, forGood: true };
    const wanted: DesiredBackup = {
      ...{
        uid: backup.metadata.uid ?? '',
        namespace: backup.metadata.namespace,
        file: handle.path,
        mode,
        to: target.to,
      },
    };
    let state = await poll(node, key);
    if (state.state === 'not-found') {
      const ref = backup.spec.to.authorizationSecretRef;
      const secret =
        ref === undefined
          ? undefined
          : await authorization(backup.metadata.namespace ?? '', ref, backup.spec.to.url ?? '');
      if (secret !== undefined && 'problem' in secret)
        return { is: 'unknown', message: secret.problem };
      const seen = readBackup(wanted, await executor.observe(node, backupProbes(wanted)));
      if (seen.made !== undefined) return { is: 'made', ...seen.made };
      const step = backupStep({ ...wanted, authorization: secret?.value }, seen);
      if ('refusal' in step) return { is: 'failed', message: step.refusal, forGood: true };
      if (!(await isCurrent())) return undefined;
      state = await executor.submit(
        node,
        { key, steps: [step], look: backupProbes(wanted) },
        SUBMIT_WAIT,
      );
    }
    return cameOf(backup, node, state);
  }

  async function look(backup: Backup, job: BackupJob): Promise<BackupOutcome> {
    const state = await poll(job.node, backupJobKey(backup, job));
    if (state.state !== 'not-found') return cameOf(backup, job.node, state);
    const made = await madeOn(job.node, backup);
    return made === undefined ? { is: 'none' } : { is: 'made', ...made };
  }

  const madeOn = async (node: string, { metadata: { uid = '' } }: Backup) =>
    readMade(await executor.observe(node, [madeProbe(uid)]));

  async function cameOf(backup: Backup, node: string, state: JobState): Promise<BackupOutcome> {
    switch (state.state) {
      case 'running': {
        const progress = readProgress(state.output);
        const waits = progress !== undefined && 'waits' in progress;
        return { is: 'running', ...(waits ? { waits: progressText(progress) } : {}) };
      }
      case 'succeeded': {
        const made = state.seen === undefined ? await madeOn(node, backup) : readMade(state.seen);
        return made === undefined
          ? { is: 'failed', message: 'the node forgot what was made', forGood: false }
          : { is: 'made', ...made };
      }
      case 'not-found':
        return { is: 'unknown', message: 'the node forgot the job' };
      case 'failed':
        return {
          is: 'failed',
          message: lastLine(state.output) || publicFailure(state),
          forGood: state.exit === REFUSED,
        };
      default:
        return { is: 'failed', message: publicFailure(state), forGood: false };
    }
  }

  async function leave(backup: Backup, job: BackupJob): Promise<BackupOutcome> {
    const { node } = job;
    const { uid = '' } = backup.metadata;
    // Jobs of one subject wait for each other.
    const beside = `${subjectOf(backup)}-end`;
    if ((await poll(node, backupJobKey(backup, job))).state === 'running') {
      await submit(node, { subject: beside, id: 'cancel' }, cancelBackup({ uid }));
      return { is: 'running' };
    }
    const target = backupTarget(backup);
    if (!('problem' in target)) {
      const state = await submit(
        node,
        { subject: beside, id: 'leave' },
        leaveBackup({ uid, to: target.to }),
      );
      if (state.state !== 'succeeded') {
        // Another try is another job.
        if (state.state !== 'running') await executor.forget(node, beside);
        return { is: 'unknown', message: 'what it left is not removed yet' };
      }
    }
    for (const subject of [beside, subjectOf(backup)]) {
      if (!(await executor.forget(node, subject))) return { is: 'running' };
    }
    return { is: 'left' };
  }

  return {
    run: (backup, ...args) => published(backup, () => run(backup, ...args)),
    look: (backup, job) => published(backup, () => look(backup, job)) as Promise<BackupOutcome>,
    async forget(backup, job) {
      try {
        await leave(backup, job);
      } catch (error) {
        if (!(error instanceof NodeError)) throw error;
      }
    },
    leave: (backup, job) => published(backup, () => leave(backup, job)) as Promise<BackupOutcome>,
  };

  /** Readers of a Backup may not administer nodes: the whole message is logged. */
  async function published(
    backup: Backup,
    ask: () => Promise<BackupOutcome | undefined>,
  ): Promise<BackupOutcome | undefined> {
    const outcome = await answered(ask);
    if (outcome === undefined || !('message' in outcome)) return outcome;
    const { namespace, name } = backup.metadata;
    const message = withoutPaths(outcome.message, [backup.spec.to.path ?? '']);
    if (message !== outcome.message)
      logger.warn({ backup: `${namespace}/${name}` }, outcome.message);
    return { ...outcome, message };
  }
}

/** A node that cannot be asked, or whose answer says nothing safe, leaves things unknown. */
async function answered(
  ask: () => Promise<BackupOutcome | undefined>,
): Promise<BackupOutcome | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof NodeError) {
      const said = withHint(error.message, error.hint);
      const { code, node } = error;
      return {
        is: 'unknown',
        message: `${code === 'unreachable' ? doesNotAnswer(node) : `node ${node}: `}${said}`,
      };
    }
    if (error instanceof ObservationError) return { is: 'unknown', message: error.message };
    throw error;
  }
}
