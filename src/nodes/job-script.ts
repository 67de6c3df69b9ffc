import type { Job, Precondition, Step } from './job.ts';
import { quote, quoteAll } from './quote.ts';
import jobFunctions from './scripts/job.sh';
import prelude from './scripts/prelude.sh';
import sudo from './scripts/sudo.sh';

/** The commands of a script: comments are for who reads its file. */
export const commandsOf = (file: string): string =>
  file.replace(/^\s*(?:#.*)?\n/gm, '').replace(/^ +/gm, '');

/** The beginning of each script on a node. */
export const PRELUDE = commandsOf(prelude) + commandsOf(sudo);

const FUNCTIONS = commandsOf(jobFunctions);

/** How long a step waits for the lock of its device, in seconds: udev has it while it looks. */
const LOCK_TIMEOUT = 60;

/** The script that is a job on its node, called with the folder it was written in and the folder of the job: scripts/job.sh says how. */
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
