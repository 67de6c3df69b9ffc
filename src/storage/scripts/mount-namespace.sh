#!/bin/sh
# Shell function `in_namespace NAME ARGUMENT…`: replaces the shell by the same script (`text`) as
# NAME in a mount and PID namespace. No other process sees a mount made there, and the mount ends
# with the script, however it ends. Unmounts of the node propagate there (propagation slave), so
# that the namespace keeps no device busy. Only root enters the directory above, or
# `/proc/PID/root`.

in_namespace() {
  umask 077
  mkdir -p /run/stowage/mounts && chmod 0700 /run/stowage/mounts || exit 1
  # shellcheck disable=SC2016 # the inner shell expands it
  exec unshare --mount --pid --fork --kill-child --mount-proc --propagation slave sh -c 'eval "$text"' "$@"
}
