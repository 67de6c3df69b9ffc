#!/bin/sh
# Checks an ext4 file system in a file and gives it a UUID: `stowage-ext4-uuid FILE UUID [grow]`. A
# copy of a mounted file system has files that were removed while open. e2fsck releases them and
# exits with 1, which is success here. `grow` makes the file system as large as the file.

case $1 in *" "*) exit 2 ;; /*.partial) ;; *) exit 2 ;; esac
case $2 in "" | *[!0-9a-f-]*) exit 2 ;; esac
case $#$3 in 2 | 3grow) ;; *) exit 2 ;; esac
e2fsck -f -p "$1"
[ $? -le 1 ] && { [ -z "$3" ] || resize2fs "$1"; } && tune2fs -U "$2" "$1"
