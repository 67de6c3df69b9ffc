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
      # Messages begin with the first in sudo 1.9.5p2 and 1.9.13p3, and in sudo-rs 0.2.15; with the
      # second in sudo-rs 0.2.5.
      said=$(grep -e '^sudo: ' -e '^sudo-rs: ' | without_warnings)
      [ -z "$said" ] && sudo -n -l -- "$@" >/dev/null 2>&1 || why=denied
      # sudo reports a missing program as one that is not allowed.
      [ -z "$why" ] || command -v "$1" >/dev/null || why=missing
      ;;
  esac
  [ "$why" != denied ] || why="denied $(printf %s "$(id -un)" | base64 -w0)"
  printf %s "$why"
}

# without_warnings <ERRORS: drops lines of sudo that are not about the program. On a node that
# cannot resolve its own name, they come with each program.
without_warnings() { grep -v -e '^sudo: unable to resolve host ' -e '^sudo: setrlimit('; }

# sudo_version: prints "Sudo_version_1.9.13p3", "sudo-rs_0.2.15", or nothing
sudo_version() { sudo --version 2>/dev/null </dev/null | head -n 1 | tr ' ' _ | tr -cd 'A-Za-z0-9._-' | cut -c 1-60; }
