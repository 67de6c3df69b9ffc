#!/bin/sh
# A job on its node: functions for its steps. `$node` and `$lock_timeout` (in seconds) are set
# before. From `start` on, the working directory of the shell is that of the job.
#
# A refusal of sudo before any step has run is an error for the submitter of the job. Later, steps
# have changed the node, and it is an end like any other.
# shellcheck disable=SC2154,SC3013 # set before; every sh of nodes knows -ef

ran=

# start WRITTEN JOB: the directory that the script was written in, and the one of the job.
#
# The job's lock is taken before the directory gets its name. So every process that sees the
# directory sees the lock held until the job has ended. The lock is on the file that every step
# prints to, which sudo leaves open in a program too. So a job whose shell was killed counts as
# running for as long as its mkfs does.
start() {
  exec </dev/null >/dev/null 2>&1
  exec 9>>"$1/output"
  flock -n 9 || exit 1
  # Another submission of this key may have been first; then its directory exists and is not empty.
  mv -T "$1" "$2" || {
    rm -rf "$1"
    exit 0
  }
  cd "$2" || exit 1
  exec 8>../lock
  flock 8
  # A program loses this lock to sudo, but never the lock of its job. The program of a job whose
  # shell was killed may still run.
  for other in ../*/step; do
    [ ! -e "$other" ] || flock -s "${other%step}output" true
  done
  # A job that was purged while it waited must not run.
  [ . -ef "$2" ] || exit 1
}

finish() {
  printf '%s\n' "$*" >result.new && mv result.new result
  exit 0
}

begin() { # NAME COMMAND
  printf '%s\0%s' "$1" "$2" >step.new && mv step.new step
  : >output
}

settle() { # EXIT ARGV...: sets got; what sudo refuses is no exit status of the program
  got=$1 why=
  [ -z "$as" ] || [ "$got" = 0 ] || why=$(not_run "$@" <output)
  case $why in
    missing) got=127 ;;
    denied*)
      shift
      user=$(id -un) version=$(sudo_version)
      # Older sudo and sudo-rs report each line of a file that they cannot read.
      said=$(grep -i -e sudo -e sorry output | tail -n 3 | cut -c 1-300 | paste -s -d ';' -)
      # Other characters would need escapes in JSON.
      case $node$user in
        *[!A-Za-z0-9._-]*) ;;
        *) printf '{"code":"SudoRefused","parameters":{"node":"%s","user":"%s","sudo":"%s"}}' "$node" "$user" "$version" >reason ;;
      esac
      printf '%s' "node $node refuses '$*': sudo does not let user $user run it as root without a password: $said" >refusal
      [ -z "$ran" ] || finish guarded
      finish "$why" "$(printf %s "$*" | base64 -w0)" "$version"
      ;;
  esac
}

run() { # FAILURE ARGV...
  on_failure=$1
  shift
  $as "$@" >&9 2>&1
  settle "$?" "$@"
  ran=yes
  # Killed by one of the 64 signals, in a shutdown or for lack of memory: that proves nothing about
  # the object of its work.
  [ "$got" -le 128 ] || [ "$got" -gt 192 ] || on_failure=raced
  [ "$got" = 0 ] || finish "$on_failure" "$got"
}

precondition() { # REFUSAL REASON EXIT|- is|has|- TEXT LACKS ARGV...
  refusal=$1 reason=$2 want=$3 mode=$4 text=$5 lacks=$6
  shift 6
  out=$($as "$@" 2>&9)
  settle "$?" "$@"
  holds=yes
  [ "$want" = - ] || [ "$got" = "$want" ] || holds=no
  case $mode in
    is) [ "$out" = "$text" ] || holds=no ;;
    has)
      case $out in *"$text"*) ;; *) holds=no ;; esac
      case $out in *"$lacks"*) holds=no ;; esac
      ;;
  esac
  # Errors of a check are irrelevant once it has passed, and would bury why its step failed.
  [ $holds = yes ] && {
    : >output
    return
  }
  printf '%s' "$reason" >reason
  printf '%s' "$refusal" >refusal
  [ -z "$out" ] || printf '%s\n' "$out" >&9
  finish guarded
}

lock() { # FAILURE DEVICE: opened to read only, since udev looks again at what was open to write
  on_failure=$1 device=$2 holder=
  set -- flock -x -w "$lock_timeout" "$device" cat
  # flock would create a missing file.
  [ -b "$device" ] || {
    printf '%s is no block device\n' "$device" >&9
    finish "$on_failure" 1
  }
  if [ -z "$as" ]; then
    command exec 7<"$device" 2>&9 || finish "$on_failure" 1
    flock -x -w "$lock_timeout" 7 2>&9 && return
    got=$?
  else
    # cat holds the lock until fd 7 is closed everywhere: in this shell, and in the sudo of each
    # program.
    rm -f hold held
    mkfifo hold held
    exec 6<>held 7<>hold
    {
      $as "$@" <hold 2>&1
      echo "ended $?"
    } >&6 6>&- 7>&- 8>&- 9>&- &
    holder=$!
    echo held >&7
    while read -r said <&6; do
      case $said in
        held)
          exec 6>&-
          return
          ;;
        'ended '*) break ;;
      esac
      printf '%s\n' "$said" >&9
    done
    settle "${said#ended }" "$@"
  fi
  [ "$got" != 1 ] || printf '%s was locked by another program for %s s\n' "$device" "$lock_timeout" >&9
  finish "$on_failure" "$got"
}

unlock() {
  exec 7>&-
  [ -z "$holder" ] || wait "$holder"
}
