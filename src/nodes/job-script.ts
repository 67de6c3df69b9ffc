import type { Job, Precondition, Step } from './job.ts';
import { quote, quoteAll } from './quote.ts';
import { SUDO_PRELUDE } from './sudo.ts';

/** Programs of the system's administrator are not on every user's PATH. What the login set comes first. */
export const PRELUDE = `umask 077
LC_ALL=C PATH=\${PATH:-/usr/bin:/bin}:/usr/local/sbin:/usr/sbin:/sbin
export LC_ALL PATH
cd /
${SUDO_PRELUDE}`;

/** How long a step waits for the lock of its device, in seconds: udev has it while it looks. */
const LOCK_TIMEOUT = 60;

/**
 * The script that is a job on its node, called with the folder it was written in and the folder of the job.
 * What sudo refuses before any step has run is an error to whoever submits the job; later, what was done is done, and it
 * is an end like any other.
 *
 * The job's lock is held before the folder gets its name, so that whoever sees the folder sees the lock taken
 * until the job has ended. It is on the file that every step prints to: that much sudo leaves open in a program, too.
 * So a job whose shell was killed counts as running for as long as its mkfs does.
 */
export function jobScript(job: Job, node: string): string {
  return `${PRELUDE}exec </dev/null >/dev/null 2>&1
exec 9>>"$1/output"
flock -n 9 || exit 1
# Another submission of this key may have been first; then its folder is there and not empty.
mv -T "$1" "$2" || { rm -rf "$1"; exit 0; }
cd "$2" || exit 1
finish() { printf '%s\\n' "$*" >result.new && mv result.new result; exit 0; }
ran=
begin() { printf '%s\\0%s' "$1" "$2" >step.new && mv step.new step; : >output; }
settle() { # EXIT ARGV...: sets got; what sudo refuses is no exit status of the program
  got=$1 why=
  [ -z "$as" ] || [ "$got" = 0 ] || why=$(not_run "$@" <output)
  case $why in
    missing) got=127 ;;
    denied*)
      shift
      printf '%s' ${quote(`node ${node} refuses '`)}"$*': sudo does not let user $(id -un) run it as root without a password: $(grep -i -e sudo -e sorry output | paste -s -d ';' -)" >refusal
      [ -z "$ran" ] || finish guarded
      finish "$why" "$(printf %s "$*" | base64 -w0)" ;;
  esac
}
run() { # FAILURE ARGV...
  on_failure=$1
  shift
  $as "$@" >&9 2>&1
  settle "$?" "$@"
  ran=yes
  # Killed by one of the 64 signals, in a shutdown or for want of memory: that says nothing about what it worked on.
  [ "$got" -le 128 ] || [ "$got" -gt 192 ] || on_failure=raced
  [ "$got" = 0 ] || finish "$on_failure" "$got"
}
guard() { # REFUSAL EXIT|- is|has|- TEXT LACKS ARGV...
  refusal=$1 want=$2 mode=$3 text=$4 lacks=$5
  shift 5
  out=$($as "$@" 2>&9)
  settle "$?" "$@"
  holds=yes
  [ "$want" = - ] || [ "$got" = "$want" ] || holds=no
  case $mode in
    is) [ "$out" = "$text" ] || holds=no ;;
    has)
      case $out in *"$text"*) ;; *) holds=no ;; esac
      case $out in *"$lacks"*) holds=no ;; esac ;;
  esac
  # What a look complained of is of no interest once it has passed, and would bury why its step failed.
  [ $holds = yes ] && { : >output; return; }
  printf '%s' "$refusal" >refusal
  [ -z "$out" ] || printf '%s\\n' "$out" >&9
  finish guarded
}
lock() { # FAILURE DEVICE: opened for reading only, since udev looks again at what was open for writing
  on_failure=$1 device=$2 holder=
  set -- flock -x -w ${LOCK_TIMEOUT} "$device" cat
  # What is not there, flock would make.
  [ -b "$device" ] || { printf '%s is no block device\\n' "$device" >&9; finish "$on_failure" 1; }
  if [ -z "$as" ]; then
    command exec 7<"$device" 2>&9 || finish "$on_failure" 1
    flock -x -w ${LOCK_TIMEOUT} 7 2>&9 && return
    got=$?
  else
    # Held by cat until nobody has fd 7 open: this shell, and the sudo of each program.
    rm -f hold held
    mkfifo hold held
    exec 6<>held 7<>hold
    { $as "$@" <hold 2>&1; echo "ended $?"; } >&6 6>&- 7>&- 8>&- 9>&- &
    holder=$!
    echo held >&7
    while read -r said <&6; do
      case $said in
        held) exec 6>&-; return ;;
        'ended '*) break ;;
      esac
      printf '%s\\n' "$said" >&9
    done
    settle "\${said#ended }" "$@"
  fi
  [ "$got" != 1 ] || printf '%s was locked by another program for ${LOCK_TIMEOUT} s\\n' "$device" >&9
  finish "$on_failure" "$got"
}
unlock() {
  exec 7>&-
  [ -z "$holder" ] || wait $holder
}
exec 8>../lock
flock 8
# This lock a program loses to sudo, and never that of its job: one whose shell was killed may run still.
for other in ../*/step; do [ ! -e "$other" ] || flock -s "\${other%step}output" true; done
# Forgotten while it waited: then it must not run.
[ . -ef "$2" ] || exit 1
${job.steps.map(renderStep).join('')}finish succeeded
`;
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

function renderPrecondition(precondition: Precondition): string {
  const { exit, stdout } = precondition.expect;
  const wanted =
    stdout === undefined
      ? ['-', '', '']
      : 'is' in stdout
        ? ['is', stdout.is, '']
        : ['has', stdout.has, stdout.lacks];
  return `guard ${quoteAll([precondition.refusal, String(exit ?? '-'), ...wanted, ...precondition.argv])}`;
}
