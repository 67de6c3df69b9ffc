import type { Guard, Job, JobKey, Step } from './job.ts';
import { quote, quoteAll } from './quote.ts';

/** Where a node keeps its jobs: a tmpfs, so that after a reboot a job is not found, which is the truth. */
export const JOBS_FOLDER = '/run/stowage/jobs';

/** Part of a path on the node and of a Volume's status, so nothing but these characters. */
const NAME = /^[a-z0-9][a-z0-9-]{0,99}$/;

/** The folder of a job on its node. @throws RangeError for a key that is no plain name */
export function jobFolder(key: JobKey): string {
  return `${subjectFolder(key.subject)}/${plainName(key.id)}`;
}

/** The folder of a subject's jobs on its node. @throws RangeError for a subject that is no plain name */
export function subjectFolder(subject: string): string {
  return `${JOBS_FOLDER}/${plainName(subject)}`;
}

function plainName(name: string): string {
  if (!NAME.test(name)) {
    throw new RangeError(`not a job's name: ${JSON.stringify(name)}`);
  }
  return name;
}

/** Programs of the system's administrator are not on every user's PATH. What the login set comes first. */
export const PRELUDE = `umask 077
LC_ALL=C PATH=\${PATH:-/usr/bin:/bin}:/usr/local/sbin:/usr/sbin:/sbin
export LC_ALL PATH
cd /
`;

/**
 * The script that is a job on its node, called with the folder it was written in and the folder of the job.
 *
 * The job's lock is held before the folder gets its name, so that whoever sees the folder sees the lock taken
 * until the job has ended. Every program the job starts inherits both locks: a job whose shell was killed counts
 * as running for as long as its mkfs does.
 */
export function jobScript(job: Job): string {
  return `${PRELUDE}exec </dev/null >/dev/null 2>&1
exec 9>"$1/lock"
flock -n 9 || exit 1
# Another submission of this key may have been first; then its folder is there and not empty.
mv -T "$1" "$2" || { rm -rf "$1"; exit 0; }
cd "$2" || exit 1
finish() { printf '%s\\n' "$*" >result.new && mv result.new result; exit 0; }
begin() { printf '%s\\0%s' "$1" "$2" >step.new && mv step.new step; : >output; }
run() { on_failure=$1; shift; "$@" >>output 2>&1 || finish "$on_failure" "$?"; }
guard() { # REFUSAL EXIT|- is|has|- TEXT LACKS ARGV...
  refusal=$1 want=$2 mode=$3 text=$4 lacks=$5
  shift 5
  out=$("$@" 2>>output)
  got=$? holds=yes
  [ "$want" = - ] || [ "$got" = "$want" ] || holds=no
  case $mode in
    is) [ "$out" = "$text" ] || holds=no ;;
    has)
      case $out in *"$text"*) ;; *) holds=no ;; esac
      case $out in *"$lacks"*) holds=no ;; esac ;;
  esac
  [ $holds = yes ] && return
  printf '%s' "$refusal" >refusal
  [ -z "$out" ] || printf '%s\\n' "$out" >>output
  finish guarded
}
exec 8>../lock
flock 8
# Forgotten while it waited: then it must not run.
[ . -ef "$2" ] || exit 1
${job.steps.map(renderStep).join('')}finish succeeded
`;
}

function renderStep(step: Step): string {
  const command = quoteAll(step.argv);
  const input = step.stdin === undefined ? '' : `printf %s ${quote(step.stdin)} >stdin\n`;
  return `begin ${quote(step.name)} ${quote(command)}
${step.guards.map(renderGuard).join('')}${input}run ${step.mayRace ? 'raced' : 'failed'} ${command}${step.stdin === undefined ? '' : ' <stdin'}
`;
}

function renderGuard(guard: Guard): string {
  const { exit, stdout } = guard.expect;
  const wanted =
    stdout === undefined
      ? ['-', '', '']
      : 'is' in stdout
        ? ['is', stdout.is, '']
        : ['has', stdout.has, stdout.lacks];
  return `guard ${quoteAll([guard.refusal, String(exit ?? '-'), ...wanted, ...guard.argv])}\n`;
}
