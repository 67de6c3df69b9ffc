#!/bin/sh
# Shares what tests need once per machine: a udev daemon and the directories of a node.
#   machine.sh         holds them until its standard input ends; prints `ready` once they exist
#   machine.sh keep    internal: provides them, and removes them after the end of the last holder
# The first holder starts the keeper. Any number of test runs may hold at the same time. A holder
# that is killed releases its lock with its process.
set -eu
locks=/run/lock/stowage-tests
directories='/run/stowage /var/lib/stowage /var/lib/metalk8s'
udev=/run/udev

answers() {
  [ -e $udev/control ] && udevadm control --ping --timeout=2 2>/dev/null
}

# Reports whether a daemon runs in this PID namespace. A zombie or an exiting process has no
# executable.
runs() {
  for pid in $(pgrep -x --ns $$ --nslist pid systemd-udevd); do
    [ ! -e "/proc/$pid/exe" ] || return 0
  done
  return 1
}

hold() {
  mkdir -p $locks
  # The gate makes the check for a keeper and its start atomic.
  exec 7>$locks/gate 8>$locks/holders
  flock 7
  flock -s 8
  if flock -n $locks/keeper true; then
    setsid --wait sh "$0" keep </dev/null >$locks/output 2>&1 7>&- 8>&- || {
      cat $locks/output >&2
      exit 1
    }
  fi
  exec 7>&-
  echo ready
  exec cat >/dev/null
}

# Returns once everything exists; a background process waits for the last holder.
keep() {
  exec 9>$locks/keeper
  flock -n 9
  made=
  for directory in $directories; do
    [ -e "$directory" ] || made="$made $directory"
    mkdir -p "$directory"
  done
  if answers; then
    daemon=
  else
    if runs; then
      # Removing the socket of a daemon that still runs would leave it deaf.
      echo 'systemd-udevd runs but does not answer; restart it' >&2
      exit 1
    fi
    rm -f $udev/control
    before=$(ls -A $udev 2>/dev/null || true)
    # A kernel without support for partition tables drops the partitions of a disk whenever udev
    # triggers a reread of the table.
    mkdir -p $udev/rules.d
    cat >$udev/rules.d/99-stowage-tests.rules <<'EOF'
ACTION=="add|change", SUBSYSTEM=="block", KERNEL=="loop*", ENV{DEVTYPE}=="disk", ENV{ID_PART_TABLE_TYPE}=="?*", RUN+="/usr/bin/partx --update $devnode"
EOF
    /lib/systemd/systemd-udevd >/dev/null 2>&1 9>&- &
    daemon=$!
    tries=0
    until answers; do
      tries=$((tries + 1))
      if [ $tries -gt 500 ] || ! kill -0 "$daemon" 2>/dev/null; then
        echo 'systemd-udevd does not answer' >&2
        exit 1
      fi
      sleep 0.02
    done
  fi
  release >/dev/null 2>&1 &
}

release() {
  exec 8>$locks/holders
  flock 8
  if [ -n "$daemon" ]; then
    udevadm settle --timeout=5 || true
    kill "$daemon" || true
    # A zombie has no executable; its parent is not this shell.
    while [ -e "/proc/$daemon/exe" ]; do sleep 0.02; done
    for path in "$udev"/* "$udev"/.[!.]*; do
      printf '%s\n' "$before" | grep -qxF "${path##*/}" || rm -rf "$path"
    done
    rmdir $udev 2>/dev/null || true
  fi
  for directory in $made; do
    rmdir "$directory" 2>/dev/null || true
  done
  # Released before the holders' lock: the next holder must see that there is no keeper.
  exec 9>&-
}

case ${1:-hold} in
  keep) keep ;;
  *) hold ;;
esac
