#!/bin/sh
# `$as` is what programs are called through, nothing for root, and `not_run` tells whether sudo
# failed instead of the program. Both end with status 1 then, and 1 means something to whoever
# looks at a program, so what sudo said is looked at, and whether it would let the program run. It
# warns of a host name and goes on.

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
      # Words of sudo 1.9, in the locale C: what it prints begins so, and these two are warnings.
      said=$(grep '^sudo: ' | grep -v -e 'unable to resolve host' -e 'setrlimit(')
      [ -z "$said" ] && sudo -n -l -- "$@" >/dev/null 2>&1 || why=denied
      # Of a program that is not there sudo says what it says of one that is not allowed.
      [ -z "$why" ] || command -v "$1" >/dev/null || why=missing
      ;;
  esac
  [ "$why" != denied ] || why="denied $(printf %s "$(id -un)" | base64 -w0)"
  printf %s "$why"
}
