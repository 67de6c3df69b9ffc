#!/bin/sh
# Reports the states of jobs, by their directories.

# state DIRECTORY: sets line, and ended
state() {
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

# look DIRECTORY...: sets any if one has ended
look() {
  any=
  for folder; do
    state "$folder"
    [ -z "$ended" ] || any=yes
  done
}

# wait_for SECONDS DIRECTORY...: until one of the jobs has let go of its lock, or the time is over: a
# process a job that waits in flock(2), and none after it. The time ends them also where the
# connection is gone and nobody is there to hear.
wait_for() {
  seconds=$1
  shift
  look "$@"
  [ -n "$any" ] || {
    waiters=
    for folder; do
      flock -s -w "$seconds" "$folder/output" echo ended 2>/dev/null &
      waiters="$waiters $!"
    done
    echo "waiters $waiters"
    wait
  } | {
    waiters='' any=''
    while [ -z "$waiters" ] || [ -z "$any" ]; do
      read -r word rest || break
      case $word in waiters) waiters=$rest ;; *) any=yes ;; esac
    done
    # shellcheck disable=SC2086 # several
    [ -z "$waiters" ] || kill $waiters 2>/dev/null
  }
}

# report TAIL DIRECTORY...: for each its step in base64, for a NUL is in it, its state, refusal,
# the reason of that and the last TAIL bytes of its output.
#
# A refusal before any step had run is reported to whoever submits the job, which is removed:
# nothing was found out about the volume, and once sudo lets the program run, the same job is tried
# again. Others are told why it ended, each of them.
# shellcheck disable=SC2154 # submits: set before
report() {
  tail=$1
  shift
  for folder; do
    state "$folder"
    step='' refusal='' reason='' output=''
    [ ! -e "$folder/step" ] || step=$(base64 -w0 "$folder/step" 2>/dev/null)
    [ ! -e "$folder/refusal" ] || refusal=$(cat "$folder/refusal" 2>/dev/null)
    [ ! -e "$folder/reason" ] || reason=$(cat "$folder/reason" 2>/dev/null)
    # A letter keeps the shell from taking newlines off.
    [ ! -s "$folder/output" ] || output=$(tail -c "$tail" "$folder/output" 2>/dev/null; echo x)
    printf 'job %s\n' "$step"
    case $line in
      denied*)
        [ -z "$submits" ] || rm -rf "$folder"
        [ -n "$submits" ] || line=guarded
        ;;
    esac
    text "$line"
    text "$refusal"
    text "$reason"
    text "${output%x}"
  done
}
