#!/bin/sh
# A shell function for scripts that run in a mount namespace of their own, which ends with its last
# process, whatever that dies of:
#
#     mount_new FILE|DEVICE PLACE TYPE OPTIONS [-r]
#
# A file gets a loop device that nobody has, under a lock on its node, without which udev reads it
# before it is mounted. The device is told to let go of the file right after it was mounted
# (LO_FLAGS_AUTOCLEAR), which it does once nobody has it mounted any more: so nothing is left of it,
# but where this process is killed between the two. It needs `fail` and `$work`, a folder of its
# own.
#
# `left_alone FILE` waits until no loop device has the file any more, which takes a moment after the
# end of the namespace. One that an earlier try left is detached. One whose node is locked is being
# mounted by another program of these, and stays; one that is mounted or open stays as long as it
# is.
#
# `printable` keeps of what programs say, and of names in a file system, what can be shown: one
# line, 300 bytes.

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

printable() { grep -m 1 . | tr -d "\n" | tr -c " -~" "?" | cut -c 1-300; }
