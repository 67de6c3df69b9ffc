import type { Job, JobKey, JobState, Probe, ProbeResult, StepFacts } from './job.ts';
import { jobScript, PRELUDE } from './job-script.ts';
import {
  ForeignJobs,
  JOBS_FOLDER,
  jobFolder,
  makeJobs,
  ownJobs,
  subjectFolder,
} from './jobs-folder.ts';
import { quote, quoteAll } from './quote.ts';
import { SudoRefusal } from './sudo.ts';

/**
 * What is said to a node's shell and how its answer is read. Every script is read from standard input by `sh`,
 * and its last line of output is END: an answer without it was cut off and says nothing.
 */
const END = 'stowage-end';

/** sh runs what it has read: in a function nothing runs before all of it has arrived. */
const whole = (script: string) => `main() {\n${script}}\nmain\n`;

/** How much of a job's output comes back, in bytes. */
const OUTPUT_TAIL = 4096;

/**
 * Reads only. Each probe answers a line: its number, exit status, output and errors in base64, and why it was not run. A look
 * is made of some twenty probes, and most of its time is processes being started: none is where there is nothing to say.
 */
export function observeScript(probes: readonly Probe[]): string {
  return `${PRELUDE}exec 3>&1
probe() {
  number=$1
  shift
  err=$({ out=$($as "$@" </dev/null); got=$?; printf 'probe %s %s ' "$number" $got >&3; [ -z "$out" ] || printf %s "$out" | base64 -w0 >&3; exit $got; } 2>&1)
  got=$?
  why=
  [ -z "$as" ] || [ $got = 0 ] || why=$(printf '%s\\n' "$err" | not_run $got "$@")
  printf ' '
  [ -z "$err" ] || printf %s "$err" | base64 -w0
  echo " $why"
}
${probes.map((probe, index) => `probe ${index} ${quoteAll(probe.argv)}\n`).join('')}echo ${END}
`;
}

/** @throws RangeError for an answer that `observeScript` does not give, SudoRefusal where sudo did not let one run */
export function readObservation(
  answer: string,
  probes: readonly Probe[],
): Map<string, ProbeResult> {
  const lines = fields(answer, probes.length);
  if (lines.length !== probes.length) {
    throw new RangeError(`${lines.length} answers for ${probes.length} probes`);
  }
  return new Map(
    probes.map((probe, index) => {
      const [kind, number, exit, stdout, stderr, why, user] = lines[index] ?? [];
      if (kind !== 'probe' || number !== String(index)) {
        throw new RangeError(`not the answer of probe ${index}: ${kind} ${number}`);
      }
      if (why === 'denied')
        throw new SudoRefusal(decode(user), probe.argv.join(' '), decode(stderr));
      const ended = why === 'missing' ? 127 : status(exit);
      return [probe.name, { exit: ended, stdout: decode(stdout), stderr: decode(stderr) }];
    }),
  );
}

/** Starts a job unless the node has one of its key, then answers as `pollScript` does. */
export function submitScript(node: string, job: Job, waitMs: number): string {
  const folder = quote(jobFolder(job.key));
  const subject = quote(subjectFolder(job.key.subject));
  return whole(`${PRELUDE}${ownJobs(END)}${makeJobs(END)}job=${folder} subject=${subject}
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

/** The states of jobs, once one of them is no longer running or the time is over. */
export function pollScript(keys: readonly JobKey[], waitMs: number): string {
  return whole(PRELUDE + ownJobs(END) + pollBody(keys, waitMs, false));
}

/**
 * What was refused before any step had run is told as that to whoever `submits`, and removed: nothing was found out about
 * the volume, and once sudo lets the program run, the same job is tried again. Others are told why it ended, each of them.
 */
function pollBody(keys: readonly JobKey[], waitMs: number, submits: boolean): string {
  return `state() {
  ended=yes
  if [ -e "$1/result" ]; then
    read -r line <"$1/result"
  elif [ ! -d "$1" ]; then
    line=not-found
  elif ! flock -ns "$1/output" true; then
    line=running ended=
  elif [ -e "$1/result" ]; then
    read -r line <"$1/result"
  else
    line=died
  fi
}
look() {
  any=
  for folder; do
    state "$folder"
    [ -z "$ended" ] || any=yes
  done
}
report() {
  for folder; do
    state "$folder"
    ${submits ? '' : 'case $line in denied*) line=guarded ;; esac'}
    printf 'job %s' "$(printf %s "$line" | base64 -w0)"
    for file in step refusal; do printf ' %s' "$(base64 -w0 "$folder/$file" 2>/dev/null)"; done
    printf ' %s\\n' "$(tail -c ${OUTPUT_TAIL} "$folder/output" 2>/dev/null | base64 -w0)"
    case $line in denied*) rm -rf "$folder" ;; esac
  done
}
set -- ${keys.map((key) => quote(jobFolder(key))).join(' ')}
${waitMs > 0 ? waitScript(waitMs) : ''}report "$@"
echo ${END}
`;
}

/**
 * Until one of the jobs has let go of its lock, or the time is over: a process a job that waits in flock(2), and none
 * after it. The time ends them also where the connection is gone and nobody is there to hear.
 */
const waitScript = (waitMs: number) => `look "$@"
[ -n "$any" ] || {
  waiters=
  for folder; do
    flock -s -w ${waitMs / 1000} "$folder/output" echo ended 2>/dev/null &
    waiters="$waiters $!"
  done
  echo "waiters $waiters"
  wait
} | {
  waiters= any=
  while [ -z "$waiters" ] || [ -z "$any" ]; do
    read -r word rest || break
    case $word in waiters) waiters=$rest ;; *) any=yes ;; esac
  done
  [ -z "$waiters" ] || kill $waiters 2>/dev/null
}
`;

/** @throws RangeError for an answer that `pollScript` does not give, SudoRefusal where sudo did not let a job begin */
export function readStates(answer: string, count: number): JobState[] {
  const lines = fields(answer, count);
  if (lines.length !== count) {
    throw new RangeError(`${lines.length} states for ${count} jobs`);
  }
  return lines.map(([kind, line, step, refusal, output]) => {
    if (kind !== 'job') throw new RangeError(`not a job's answer: ${kind}`);
    return readState(decode(line), readStep(decode(step)), decode(refusal), decode(output));
  });
}

function readStep(text: string): StepFacts | undefined {
  const [name, command] = text.split('\0');
  return name === undefined || command === undefined ? undefined : { name, command };
}

function readState(
  line: string,
  step: StepFacts | undefined,
  refusal: string,
  output: string,
): JobState {
  const [state, exit, command] = line.split(' ');
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
      return { state, step: step ?? unknown, refusal, output };
    case 'denied':
      throw new SudoRefusal(decode(exit), decode(command), output);
    default:
      throw new RangeError(`not a job's state: ${JSON.stringify(line)}`);
  }
}

/** Removes what is kept of a subject's jobs, if none of them runs. */
export function purgeScript(subject: string): string {
  return whole(`${PRELUDE}${ownJobs(END)}subject=${quote(subjectFolder(subject))}
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
    throw new RangeError('neither forgotten nor busy');
  }
  return word === 'forgotten';
}

/** Lists the subjects that there are jobs of. */
export function subjectsScript(): string {
  return whole(`${PRELUDE}${ownJobs(END)}for folder in ${JOBS_FOLDER}/*; do
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

/** Most lines of an answer to `subjectsScript`: far more than the volumes of a node. */
const MOST_SUBJECTS = 100_000;

/** Most fields of a line; a probe that sudo refused has seven. */
const MOST_FIELDS = 8;

/**
 * Returns the fields of each line.
 * @param asked lines at most: an answer of more is refused before it is taken apart
 * @throws RangeError for an answer that was cut off or is too long; ForeignJobs or SudoRefusal where the script went no further
 */
function fields(answer: string, asked: number): string[][] {
  // A refusal is one line, whatever was asked for. END follows, and the text after the last newline.
  const most = Math.max(asked, 1) + 2;
  const lines = answer.split('\n', most + 1);
  if (lines.length > most) throw new RangeError(`more than ${asked} lines`);
  // The text after the last newline is empty, the line before it is END.
  if (lines.at(-1) !== '' || lines.at(-2) !== END) {
    throw new RangeError('the answer was cut off');
  }
  const all = lines.slice(0, -2).map((line) => line.split(' ', MOST_FIELDS));
  const [[kind, user, ...said] = []] = all;
  if (kind === 'foreign') throw new ForeignJobs(decode(user), decode(said[0]));
  if (kind === 'denied') throw new SudoRefusal(decode(user), decode(said[0]), decode(said[1]));
  return all;
}

function status(text: string | undefined): number {
  if (text === undefined || !/^\d+$/.test(text))
    throw new RangeError(`not an exit status: ${text}`);
  return Number(text);
}

function decode(text: string | undefined): string {
  return Buffer.from(text ?? '', 'base64').toString('utf8');
}
