import type { Job, Precondition, Step } from './job.ts';
import { quote, quoteAll } from './quote.ts';
import jobFunctions from './scripts/job.sh';
import prelude from './scripts/prelude.sh';
import sudo from './scripts/sudo.sh';

/** Returns the commands of a script's file, without comments and indentation. */
export const commandsOf = (file: string): string =>
  file.replace(/^\s*(?:#.*)?\n/gm, '').replace(/^ +/gm, '');

/** Beginning of each script on a node. */
export const PRELUDE = commandsOf(prelude) + commandsOf(sudo);

const FUNCTIONS = commandsOf(jobFunctions);

/**
 * Time (s) that a step waits for the lock of its device: udev holds the lock while it reads the
 * device.
 */
const LOCK_TIMEOUT = 60;

/**
 * Returns the script of a job on its node. Its arguments are the directory that it was written in
 * and that of the job (scripts/job.sh).
 */
export function jobScript(job: Job, node: string): string {
  return [
    PRELUDE,
    `node=${quote(node)} lock_timeout=${LOCK_TIMEOUT}\n`,
    FUNCTIONS,
    'start "$@"\n',
    ...job.steps.map(renderStep),
    'finish succeeded\n',
  ].join('');
}

function renderStep(step: Step): string {
  const command = quoteAll(step.argv);
  const failure = step.failureMeansConflict ? 'raced' : 'failed';
  const lines = [
    `begin ${quote(step.name)} ${quote(command)}`,
    ...(step.lock === undefined ? [] : [`lock ${failure} ${quote(step.lock)}`]),
    ...step.preconditions.map(renderPrecondition),
    ...(step.stdin === undefined
      ? [`run ${failure} ${command}`]
      : [`printf %s ${quote(step.stdin)} >stdin`, `run ${failure} ${command} <stdin`]),
    ...(step.lock === undefined ? [] : ['unlock']),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function renderPrecondition({ argv, expect, refusal, reason }: Precondition): string {
  const { exit, stdout } = expect;
  const wanted =
    stdout === undefined
      ? ['-', '', '']
      : 'is' in stdout
        ? ['is', stdout.is, '']
        : ['has', stdout.has, stdout.lacks];
  const why = reason === undefined ? '' : JSON.stringify(reason);
  return `precondition ${quoteAll([refusal, why, String(exit ?? '-'), ...wanted, ...argv])}`;
}
