#!/bin/sh
# Shell functions for scripts in a mount namespace of their own, which ends with its last process,
# however that ends:
#
#     mount_new FILE|DEVICE PLACE TYPE OPTIONS [-r]
#
# A file gets a free loop device, under a lock on its device node: without the lock, udev reads the
# device before the mount. Right after the mount, `losetup -d` makes the device detach itself at the
# last unmount (LO_FLAGS_AUTOCLEAR). So no device remains, unless this process is killed between
# both. The function needs `fail` and `$work`, a directory of its own.
#
# `left_alone FILE` waits until no loop device has the file, shortly after the end of the namespace.
# A device of an earlier attempt is detached. A device whose node is locked stays, since another of
# these scripts is mounting it. A mounted or open device stays until its release.
#
# `printable` reduces messages of programs, and names in a file system, to one line of 300 printable
# bytes.

mount_new() {
  mount_device=$1 mount_tries=0 mount_attached= mount_done=
  case $1 in
    /dev/*) ;;
    *)
      while [ -z "$mount_attached" ]; do
        mount_device=$(losetup -f) && exec 7<"$mount_device" && flock -w 60 7 || fail "no loop device is free" 1
        if losetup $5 "$mount_device" "$1" 2>"$work/errors"; then
          mount_attached=yes
        else
          mount_tries=$((mount_tries + 1))
          [ $mount_tries -lt 10 ] || fail "$1 could not be attached: $(printable <"$work/errors")" 1
        fi
      done
      ;;
  esac
  mount -t "$3" -o "$4" "$mount_device" "$2" 2>"$work/errors" && mount_done=yes
  [ -z "$mount_attached" ] || { losetup -d "$mount_device"; exec 7<&-; }
  [ -n "$mount_done" ] || fail "$1 could not be mounted: $(printable <"$work/errors")" 1
}

left_alone() {
  case $1 in /dev/*) return ;; esac
  mount_tries=0
  while mount_left=$(losetup -n -O NAME -j "$1") && [ -n "$mount_left" ] && [ $mount_tries -lt 100 ]; do
    for each in $mount_left; do flock -n "$each" losetup -d "$each" 2>/dev/null; done
    sleep 0.1
    mount_tries=$((mount_tries + 1))
  done
}

printable() { grep -m 1 . | sed "s/[^ -~]/?/g" | tr -d "\n" | cut -c 1-300; }
