#!/bin/sh
# Grows a file system to the size of its device: `stowage-grow DEVICE UUID ext4|xfs`. The script
# mounts it where no other process sees it, also while a pod has it mounted. The pod's mount may be
# in a mount namespace that the script does not see.
#
# sudo compares arguments joined by spaces, so the script checks each of them.

. ./mount-namespace.sh

case $#$1 in *[!a-z0-9/-]* | */*/*/*) exit 2 ;; 3/dev/loop[0-9]* | 3/dev/dm-[0-9]*) ;; *) exit 2 ;; esac
case $2 in "" | *[!0-9a-f-]*) exit 2 ;; esac
case $3 in ext4 | xfs) ;; *) exit 2 ;; esac
case $0 in
  stowage-grow) in_namespace stowage-grow-inside "$@" ;;
  stowage-grow-inside)
    [ $$ = 1 ] || exit 2
    [ "$(blkid -p -n @FS_TYPES@ -o value -s UUID "$1")" = "$2" ] || {
      echo "$1 does not contain the file system $2" >&2
      exit 1
    }
    mount -t "$3" -o nosuid,nodev,noexec -- "$1" /run/stowage/mounts || exit 1
    case $3 in ext4) resize2fs "$1" ;; xfs) xfs_growfs /run/stowage/mounts ;; esac || exit 1
    umount -- /run/stowage/mounts
    ;;
  *) exit 2 ;;
esac
