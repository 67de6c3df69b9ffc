import { type Backup, backupTarget } from '../../api/builtins/backup.ts';
import type { Logger } from '../../api/logger.ts';
import { explain, reason, refuse } from '../../api/reasons.ts';
import type { Executor, JobKey, ProbeResult, Step } from '../../nodes/job.ts';
import { createJobRunner, type Ensured, type JobWork } from '../../nodes/job-runner.ts';
import type { JobPlan } from '../../nodes/next-step.ts';
import { lastLine, publicly } from '../../nodes/public-text.ts';
import {
  backupProbes,
  backupStep,
  cancelBackup,
  leaveBackup,
  madeProbe,
  type ObservedBackup,
  readBackup,
  readMade,
} from '../../storage/populate/backup.ts';
import { REFUSED } from '../../storage/populate/fill.ts';
import { progressText, readProgress } from '../../storage/populate/progress.ts';
import { answered } from '../lib/answered.ts';
import type { BackupJob, BackupOutcome, FileHandle } from './types.ts';

/**
 * Live read of a Secret's key, for the Authorization header to the host of `url`.
 * `problem`: why the key is unusable.
 */
export type AuthorizationRead = (
  namespace: string,
  ref: { name: string; key: string },
  url: string,
) => Promise<{ value: string } | { problem: string }>;

/**
 * Operations on nodes for Backups. Each can be called at any time and
 * continues from the present state.
 */
export interface BackupWork {
  /**
   * Runs the job, unless it ran before, and returns its outcome.
   * @param isCurrent called right before the job is submitted; if false, no job is submitted and
   * the result is undefined
   */
  run(
    backup: Backup,
    job: BackupJob,
    handle: FileHandle,
    mode: 'Filesystem' | 'Block',
    isCurrent: () => Promise<boolean>,
  ): Promise<BackupOutcome | undefined>;
  /** Returns the job's outcome. Submits no job. */
  observe(backup: Backup, job: BackupJob): Promise<BackupOutcome>;
  /** Cleans up after a finished job, as `leave` does. Ignores failures. */
  forget(backup: Backup, job: BackupJob): Promise<void>;
  /** Cancels a running job, then removes what it left. */
  leave(backup: Backup, job: BackupJob): Promise<BackupOutcome>;
}

export interface BackupWorkDeps {
  executor: Executor;
  authorization: AuthorizationRead;
  logger: Logger;
}

/** `made`: the archive that exists; `retryable`: the refusal may be temporary. */
type BackupPlan = JobPlan & { made?: ObservedBackup['made']; retryable?: true };

/**
 * Returns the subject of a Backup's jobs. The volume is not the subject, so its jobs do not wait.
 */
const subjectOf = ({ metadata }: Backup): string => `backup-${metadata.uid}`;

export const backupJobKey = (backup: Backup, { attempt }: BackupJob): JobKey => ({
  subject: subjectOf(backup),
  id: `backup-${attempt}`,
});

export function createBackupWork({ executor, authorization, logger }: BackupWorkDeps): BackupWork {
  const jobs = createJobRunner(executor);

  const madeOn = async (
    node: string,
    { metadata: { uid = '' } }: Backup,
    seen?: ReadonlyMap<string, ProbeResult>,
  ) => readMade(seen ?? (await executor.observe(node, [madeProbe(uid)])));

  /** @param begin plan and precondition if the node knows no such job */
  async function ensure(
    backup: Backup,
    job: BackupJob,
    begin: Pick<JobWork<BackupPlan>, 'plan' | 'isCurrent'>,
  ): Promise<BackupOutcome | undefined> {
    const end = await jobs.ensure(job.node, backupJobKey(backup, job), {
      ...begin,
      async judge(seen) {
        const made = await madeOn(job.node, backup, seen);
        return made ? { steps: [], made } : refuse('BackupForgotten');
      },
    });
    return end && outcomeOf(end);
  }

  async function run(
    ...[backup, job, handle, mode, isCurrent]: Parameters<BackupWork['run']>
  ): Promise<BackupOutcome | undefined> {
    const target = backupTarget(backup);
    if ('message' in target) return { is: 'failed', ...target, forGood: true };
    const { namespace, uid = '' } = backup.metadata;
    const wanted = { uid, namespace, file: handle.path, mode, to: target.to };
    const probes = backupProbes(wanted);
    return ensure(backup, job, {
      isCurrent,
      async plan() {
        const { authorizationSecretRef: ref, url } = backup.spec.to;
        const secret = ref && (await authorization(namespace ?? '', ref, url ?? ''));
        if (secret !== undefined && 'problem' in secret) {
          const of = { key: ref?.key ?? '', secret: `${namespace}/${ref?.name}` };
          const why = reason('BackupSecretUnusable', of);
          return { refusal: secret.problem, reason: why, retryable: true };
        }
        const seen = readBackup(wanted, await executor.observe(job.node, probes));
        if (seen.made !== undefined) return { steps: [], made: seen.made };
        const step = backupStep({ ...wanted, authorization: secret?.value }, seen);
        return 'refusal' in step ? step : { steps: [step], finalProbes: probes };
      },
    });
  }

  /** Plans no steps, so that no job is submitted. */
  const observe = (backup: Backup, job: BackupJob) =>
    ensure(backup, job, {
      plan: async () => ({ steps: [], made: await madeOn(job.node, backup) }),
      isCurrent: async () => false,
    });

  async function leave(backup: Backup, job: BackupJob): Promise<BackupOutcome> {
    const { node } = job;
    const { uid = '' } = backup.metadata;
    // Jobs of one subject wait for each other.
    const subject = `${subjectOf(backup)}-end`;
    const runBeside = (id: string, step: Step) =>
      jobs.submit(node, { key: { subject, id }, steps: [step] });
    if ((await jobs.poll(node, backupJobKey(backup, job))).state === 'running') {
      await runBeside('cancel', cancelBackup({ uid }));
      return { is: 'running' };
    }
    const target = backupTarget(backup);
    if ('to' in target) {
      const { state } = await runBeside('leave', leaveBackup({ uid, to: target.to }));
      if (state !== 'succeeded') {
        // A retry needs another job.
        if (state !== 'running') await jobs.purge(node, subject);
        return { is: 'unknown', ...explain('BackupNotRemoved') };
      }
    }
    for (const each of [subject, subjectOf(backup)]) {
      if (!(await jobs.purge(node, each))) return { is: 'running' };
    }
    return { is: 'left' };
  }

  return {
    run: (backup, ...args) => published(backup, () => run(backup, ...args)),
    observe: (backup, job) =>
      published(backup, () => observe(backup, job)) as Promise<BackupOutcome>,
    async forget(backup, job) {
      await answered(
        () => leave(backup, job),
        () => undefined,
      );
    },
    leave: (backup, job) => published(backup, () => leave(backup, job)) as Promise<BackupOutcome>,
  };

  /**
   * Logs the full message and returns a public one: readers of a Backup may not administer nodes.
   */
  async function published(
    backup: Backup,
    ask: () => Promise<BackupOutcome | undefined>,
  ): Promise<BackupOutcome | undefined> {
    const outcome = await answered(ask, ({ code, node, message, detail }): BackupOutcome => {
      const silent = code === 'unreachable' ? ' does not answer' : '';
      const whose = node === undefined ? '' : `node ${node}${silent}: `;
      return { is: 'unknown', message: `${whose}${message}`, detail };
    });
    if (outcome === undefined || !('message' in outcome)) return outcome;
    const { namespace, name } = backup.metadata;
    const redacted = publicly(outcome, [backup.spec.to.path ?? '']);
    if (redacted.message !== outcome.message)
      logger.warn({ backup: `${namespace}/${name}` }, outcome.message);
    return redacted;
  }
}

function outcomeOf(end: Ensured<BackupPlan>): BackupOutcome {
  switch (end.is) {
    case 'running': {
      const progress = readProgress(end.output);
      const waits = progress !== undefined && 'waits' in progress;
      return { is: 'running', ...(waits ? { waits: { message: progressText(progress) } } : {}) };
    }
    case 'done':
      return end.plan.made === undefined ? { is: 'none' } : { is: 'made', ...end.plan.made };
    case 'refused':
      return end.plan.retryable
        ? { is: 'unknown', message: end.message, detail: end.reason }
        : { is: 'failed', message: end.message, detail: end.reason, forGood: true };
    case 'failed': {
      const { state, message, publicMessage = message, reason: detail } = end;
      if (state.state === 'not-found') return { is: 'unknown', message, detail };
      if (state.state !== 'failed')
        return { is: 'failed', message: publicMessage, detail, forGood: false };
      return {
        is: 'failed',
        message: lastLine(state.output) || publicMessage,
        detail,
        forGood: state.exit === REFUSED,
      };
    }
  }
}
