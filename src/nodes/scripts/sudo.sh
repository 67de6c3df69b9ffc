#!/bin/sh
# `$as` is the prefix of programs, empty for root. `not_run` reports whether sudo failed instead of
# the program. Both exit 1 then, which has a meaning for the callers of a program. So the output of
# sudo is checked, and whether it permits the program. sudo also warns of a host name and continues.

as=
# As `id -u` does, without a process.
while read -r key _ euid _; do
  [ "$key" != Uid: ] || break
done </proc/self/status
[ "$euid" = 0 ] || as='sudo -n --'

# not_run EXIT ARGV... <ERRORS: prints nothing, or "missing", or "denied USER"
not_run() {
  [ -n "$as" ] || return 0
  status=$1
  shift
  why=
  case $status in
    127) command -v sudo >/dev/null || why=denied ;;
    1)
      # Messages of sudo 1.9 in the locale C: its output begins so, and these two are warnings.
      said=$(grep '^sudo: ' | grep -v -e 'unable to resolve host' -e 'setrlimit(')
      [ -z "$said" ] && sudo -n -l -- "$@" >/dev/null 2>&1 || why=denied
      # sudo reports a missing program as one that is not allowed.
      [ -z "$why" ] || command -v "$1" >/dev/null || why=missing
      ;;
  esac
  [ "$why" != denied ] || why="denied $(printf %s "$(id -un)" | base64 -w0)"
  printf %s "$why"
}
