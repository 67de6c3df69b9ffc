#!/bin/sh
# Gives an XFS file system in a file a UUID: `stowage-xfs-uuid FILE UUID [grow]`. A copy taken
# during a freeze always has a dirty log, for which xfs_admin changes nothing and exits with 0. A
# mount replays the log. `grow` makes the file system as large as the file, which also takes a
# mount, and therefore a device. `stowage-xfs-inside` mounts in a mount namespace of its own.
#
# A lock on the device keeps udev from reading it (systemd, "Block Device Locking"), and from giving
# it the link of the original. `stowage-xfs-leave` also holds that lock, and detaches the file once
# the other processes have ended. Then the lock on the file is free. If another program takes the
# free device first, the script tries the next one.

. ./mount-namespace.sh

uuid() { blkid -p -n @FS_TYPES@ -o value -s UUID "$1"; }

case $0 in
  stowage-xfs-uuid)
    case $1 in *" "*) exit 2 ;; /*.partial) ;; *) exit 2 ;; esac
    case $2 in "" | *[!0-9a-f-]*) exit 2 ;; esac
    case $#$3 in 2 | 3grow) ;; *) exit 2 ;; esac
    umask 077
    [ -n "$3" ] || xfs_admin -U "$2" "$1"
    [ -n "$3" ] || [ "$(uuid "$1")" != "$2" ] || exit 0
    whole= tries=0 taken=
    while [ -z "$taken" ] && [ $tries -lt 10 ]; do
      tries=$((tries + 1))
      device=$(losetup -f) || exit 1
      export device
      exec 6<"$1" 7<"$device"
      flock -n 6 && flock -w 60 7 || exit 1
      # shellcheck disable=SC2016 # the inner shell expands it
      setsid sh -c 'eval "$text"' stowage-xfs-leave "$1" 6<&- &
      losetup "$device" "$1" &&
        taken=yes &&
        (in_namespace stowage-xfs-inside "$device" "$3") &&
        xfs_admin -U "$2" "$device" &&
        sync "$device" &&
        whole=yes
      exec 6<&- 7<&-
      wait
    done
    n=0
    while [ -n "$(losetup -j "$1")" ] && [ $n -lt 100 ]; do sleep 0.1; n=$((n + 1)); done
    [ -n "$whole" ] && [ -z "$(losetup -j "$1")" ] && [ "$(uuid "$1")" = "$2" ]
    ;;
  stowage-xfs-inside)
    [ $$ = 1 ] || exit 2
    mount -t xfs -o nouuid,nosuid,nodev,noexec "$1" /run/stowage/mounts &&
      { [ -z "$2" ] || xfs_growfs /run/stowage/mounts; } &&
      umount /run/stowage/mounts
    ;;
  stowage-xfs-leave)
    trap "" HUP TERM INT PIPE
    flock "$1" true 7<&-
    case $(losetup -j "$1") in
      "$device:"*) losetup -d "$device" ;;
    esac
    ;;
esac
