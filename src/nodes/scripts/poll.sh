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

# wait_for SECONDS DIRECTORY...: until one of the jobs has released its lock, or the time is over.
# Each job has one process that waits in flock(2), and none after it. The time also ends these
# processes if the connection is gone.
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

# report TAIL DIRECTORY...: for each its step in base64 (a NUL is in it), its state, its refusal,
# the reason of that and the last TAIL bytes of its output.
#
# A refusal before any step had run is reported to the submitter of the job, and the job is removed.
# The volume was not touched, and once sudo permits the program, the same job is tried again. Every
# other caller gets the refusal as the end of the job.
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
    # The letter keeps the shell from removing newlines.
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
