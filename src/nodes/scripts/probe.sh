#!/bin/sh
# An observation has some twenty probes, and spends most of its time on starting processes. Each
# probe takes two: the program itself and the shell that reads its errors.

exec 3>&1

# probe NUMBER ARGV...: prints number and exit status, output, errors, and why it was not run
probe() {
  number=$1
  shift
  err=$({
    out=$($as "$@" </dev/null)
    got=$?
    printf 'probe %s %s\n' "$number" "$got" >&3
    text "$out" >&3
    exit "$got"
  } 2>&1)
  got=$?
  why=
  [ -z "$as" ] || [ "$got" = 0 ] || why=$(printf '%s\n' "$err" | not_run "$got" "$@")
  case $why in denied*) why="$why $(sudo_version)" ;; esac
  case $as$err in sudo*'sudo: '*) err=$(printf '%s\n' "$err" | without_warnings) ;; esac
  text "$err"
  printf '%s\n' "$why"
}
