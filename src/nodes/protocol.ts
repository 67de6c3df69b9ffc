import { parseReason, type Reason } from '../api/reasons.ts';
import { END, readRecords } from './answer.ts';
import type { Job, JobKey, JobState, Probe, ProbeResult, StepFacts } from './job.ts';
import { commandsOf, jobScript, PRELUDE } from './job-script.ts';
import {
  ForeignJobs,
  JOBS_DIRECTORY,
  jobDirectory,
  makeJobs,
  ownJobs,
  subjectDirectory,
} from './jobs-directory.ts';
import { quote, quoteAll } from './quote.ts';
import answerFunctions from './scripts/answer.sh';
import pollFunctions from './scripts/poll.sh';
import probeFunction from './scripts/probe.sh';
import { SudoRefusal, withSudoVersion } from './sudo.ts';

const ANSWER = commandsOf(answerFunctions);
const PROBE = commandsOf(probeFunction);
const POLL = commandsOf(pollFunctions);

/**
 * Scripts for a node's shell, and the readers of its answers. `sh` reads each script from standard
 * input. An answer has one character for each byte (transport/shell.ts).
 */

/** Wraps a script in a function: sh runs nothing of it before all of it has arrived. */
const whole = (script: string) => `main() {\n${script}}\nmain\n`;

/** Bytes of a job's output that an answer has, from its end. */
const OUTPUT_TAIL = 4096;

/** Returns the script that runs probes, which only read (scripts/probe.sh). */
export function observeScript(probes: readonly Probe[]): string {
  const lines = probes.map((probe, index) => `probe ${index} ${quoteAll(probe.argv)}\n`);
  return `${PRELUDE}${ANSWER}${PROBE}${lines.join('')}echo ${END}\n`;
}

/**
 * @throws RangeError for an answer that `observeScript` does not give, SudoRefusal if sudo refused
 * a probe
 */
export function readObservation(
  answer: string,
  probes: readonly Probe[],
): Map<string, ProbeResult> {
  const results = readRecords(answer, probes.length, (reader, index): [string, ProbeResult] => {
    const { name, argv } = probes[index] as Probe;
    const [kind, number, exit] = reader.fields();
    if (kind !== 'probe' || number !== String(index))
      throw new RangeError(`not the answer of probe ${index}: ${kind} ${number}`);
    const [stdout, stderr] = [reader.text(), reader.text()];
    const [why, user, version] = reader.fields();
    if (why === 'denied') throw new SudoRefusal(decode(user), argv.join(' '), stderr, version);
    return [name, { exit: why === 'missing' ? 127 : status(exit), stdout, stderr }];
  });
  if (results.length !== probes.length)
    throw new RangeError(`${results.length} answers for ${probes.length} probes`);
  return new Map(results);
}

/**
 * Returns the script that starts a job unless the node has one of its key, then answers as
 * `pollScript`.
 */
export function submitScript(node: string, job: Job, waitMs: number): string {
  const directory = quote(jobDirectory(job.key));
  const subject = quote(subjectDirectory(job.key.subject));
  return whole(`${PRELUDE}${ownJobs(END)}${makeJobs(END)}job=${directory} subject=${subject}
if [ ! -d "$job" ]; then
  mkdir -p "$subject" || exit
  # Half submissions of a crash. One that is under way is young, and has its lock soon.
  find "$subject" -maxdepth 1 -name '.new.*' -mmin +1 -exec flock -n {}/output rm -rf {} \\;
  new=$(mktemp -d "$subject/.new.XXXXXX") || exit
  printf %s ${quote(jobScript(job, node))} >"$new/script" || exit
  setsid sh "$new/script" "$new" "$job" </dev/null >/dev/null 2>&1 &
  # Until it has its place, or has found it taken; a script that died at once leaves it empty.
  n=0
  while [ -d "$new" ] && [ $n -lt 100 ]; do sleep 0.02; n=$((n + 1)); done
fi
${pollBody([job.key], waitMs, true)}`);
}

/**
 * Returns the script that reports the states of jobs, once one of them no longer runs or the time
 * is over.
 */
export function pollScript(keys: readonly JobKey[], waitMs: number): string {
  return whole(PRELUDE + ownJobs(END) + pollBody(keys, waitMs, false));
}

const pollBody = (keys: readonly JobKey[], waitMs: number, submits: boolean): string => {
  const wait = waitMs > 0 ? `wait_for ${waitMs / 1000} "$@"\n` : '';
  return `${ANSWER}${POLL}submits=${submits ? 'yes' : ''}
set -- ${keys.map((key) => quote(jobDirectory(key))).join(' ')}
${wait}report ${OUTPUT_TAIL} "$@"
echo ${END}
`;
};

/**
 * @throws RangeError for an answer that `pollScript` does not give, SudoRefusal if sudo refused the
 * start of a job
 */
export function readStates(answer: string, count: number): JobState[] {
  const states = readRecords(answer, count, (reader) => {
    const [kind = '', ...values] = reader.fields();
    refuseOthers(kind, values);
    if (kind !== 'job') throw new RangeError(`not a job's answer: ${kind}`);
    const step = readStep(decode(values[0]));
    const line = reader.text();
    const refused = withSudoVersion({
      refusal: reader.text(),
      reason: parseReason(reader.text()),
    });
    return readState(line, step, refused, reader.text());
  });
  if (states.length !== count) throw new RangeError(`${states.length} states for ${count} jobs`);
  return states;
}

function readStep(text: string): StepFacts | undefined {
  const [name, command] = text.split('\0');
  return name === undefined || command === undefined ? undefined : { name, command };
}

function readState(
  line: string,
  step: StepFacts | undefined,
  { refusal, reason }: { refusal: string; reason: Reason | undefined },
  output: string,
): JobState {
  const [state, exit, command, version] = line.split(' ');
  const unknown = { name: 'unknown', command: '' };
  switch (state) {
    case 'not-found':
    case 'succeeded':
      return { state };
    case 'running':
      return { state, ...(step && { step }), ...(output === '' ? {} : { output }) };
    case 'died':
      return step === undefined ? { state } : { state, step };
    case 'failed':
    case 'raced':
      return { state, step: step ?? unknown, exit: status(exit), output };
    case 'guarded':
      return { state, step: step ?? unknown, refusal, ...(reason && { reason }), output };
    case 'denied':
      throw new SudoRefusal(decode(exit), decode(command), output, version);
    default:
      throw new RangeError(`not a job's state: ${JSON.stringify(line)}`);
  }
}

/**
 * Returns the script that removes what the node keeps of a subject's jobs, if none of them runs.
 */
export function purgeScript(subject: string): string {
  return whole(`${PRELUDE}${ownJobs(END)}subject=${quote(subjectDirectory(subject))}
idle() { # One whose shell was killed may run under sudo, without the lock of the subject.
  for step in "$subject"/*/step; do
    [ ! -e "$step" ] || flock -ns "\${step%step}output" true || return
  done
}
if [ ! -d "$subject" ]; then
  echo forgotten
elif { flock -n 8 && idle && rm -rf "$subject"; } 8>"$subject/lock"; then
  echo forgotten
else
  echo busy
fi
echo ${END}
`);
}

/** @throws RangeError for an answer that `purgeScript` does not give */
export function readPurged(answer: string): boolean {
  const word = fields(answer, 1).flat().join(' ');
  if (word !== 'forgotten' && word !== 'busy') {
    throw new RangeError('neither "forgotten" nor "busy"');
  }
  return word === 'forgotten';
}

export function subjectsScript(): string {
  return whole(`${PRELUDE}${ownJobs(END)}for folder in ${JOBS_DIRECTORY}/*; do
  [ ! -d "$folder" ] || printf 'subject %s\\n' "$(printf %s "\${folder##*/}" | base64 -w0)"
done
echo ${END}
`);
}

/** @throws RangeError for an answer that `subjectsScript` does not give */
export function readSubjects(answer: string): string[] {
  return fields(answer, MOST_SUBJECTS).map(([kind, name]) => {
    if (kind !== 'subject') throw new RangeError(`not a subject: ${kind}`);
    return decode(name);
  });
}

/** Maximum lines of an answer to `subjectsScript`: far more than the volumes of a node. */
const MOST_SUBJECTS = 100_000;

/**
 * Returns the fields of each line.
 * @param asked maximum number of lines
 * @throws RangeError as `readRecords`; ForeignJobs or SudoRefusal if the script ended early
 */
function fields(answer: string, asked: number): string[][] {
  return readRecords(answer, asked, (reader) => {
    const all = reader.fields();
    const [kind = '', ...values] = all;
    refuseOthers(kind, values);
    return all;
  });
}

/** Throws ForeignJobs or SudoRefusal if the script ended early. */
function refuseOthers(kind: string, [user, ...values]: readonly string[]): void {
  if (kind === 'foreign') throw new ForeignJobs(decode(user), decode(values[0]));
  if (kind === 'denied')
    throw new SudoRefusal(decode(user), decode(values[0]), decode(values[1]), values[2]);
}

function status(text: string | undefined): number {
  if (text === undefined || !/^\d+$/.test(text))
    throw new RangeError(`not an exit status: ${text}`);
  return Number(text);
}

function decode(text: string | undefined): string {
  return Buffer.from(text ?? '', 'base64').toString('utf8');
}
