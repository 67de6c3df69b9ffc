#!/bin/sh
# Shell function `in_namespace NAME ARGUMENT…`: replaces the shell by the same script (`text`) as
# NAME in a mount and PID namespace. A mount made there is seen by nobody else and ends with the
# script, whatever it dies of. Unmounts of the node arrive there (propagation slave), so that it
# keeps no device busy. Only root enters the directory above, as it does below `/proc/PID/root`.

in_namespace() {
  umask 077
  mkdir -p /run/stowage/mounts && chmod 0700 /run/stowage/mounts || exit 1
  # shellcheck disable=SC2016 # the inner shell expands it
  exec unshare --mount --pid --fork --kill-child --mount-proc --propagation slave sh -c 'eval "$text"' "$@"
}
