#!/bin/sh
# A look at a node is some twenty probes, and most of its time is processes being started: two for
# each probe, the program's own and that of the shell which hears its errors.

exec 3>&1

# probe NUMBER ARGV...: its number and exit status, output, errors, and why it was not run
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
  text "$err"
  printf '%s\n' "$why"
}
