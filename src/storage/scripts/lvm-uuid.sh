#!/bin/sh
# Gives the file system in an unfinished thin logical volume its UUID, and grows it to the volume:
# `stowage-lvm-uuid CONFIG VG/NAME UID`. `leave` only removes what an interrupted run left.
#
# udev must never see the file system with the UUID of its original. No option of LVM keeps udev
# from reading an active volume, so the script does not activate it. Instead, the thin volume gets a
# device with a layer in its name. The udev rules of LVM (56-lvm.rules, 11-dm-lvm.rules) treat such
# a device as internal, and do not read it. blkid does not read such devices either, so the file
# system's own programs identify the content. `stowage-lvm-inside` mounts an XFS in a mount
# namespace of its own; `leave` also unmounts a mount of an earlier version.

. ./mount-namespace.sh

case $0 in
  stowage-lvm-uuid) ;;
  stowage-lvm-inside)
    [ $$ = 1 ] || exit 2
    mount -t xfs -o nouuid,nosuid,nodev,noexec "$1" /run/stowage/mounts && xfs_growfs /run/stowage/mounts && umount /run/stowage/mounts
    exit
    ;;
  *) exit 2 ;;
esac
[ $# -ge 3 ] || exit 2
double() { printf %s "$1" | sed s/-/--/g; }

uuid() {
  case $type in
    ext4) tune2fs -l "$device" | sed -n "s/^Filesystem UUID: *//p" ;;
    xfs) xfs_admin -u "$device" | sed -n "s/^UUID = *//p" ;;
  esac
}

leave() {
  ! mountpoint -q "$place" || umount "$place" || return 1
  [ ! -d "$place" ] || rmdir "$place"
  ! dmsetup info "$inner" >/dev/null 2>&1 || dmsetup remove --retry "$inner"
}

. ./forget-thin.sh

config=$1
shift
case $1 in "" | -* | */-* | */*/* | *[!A-Za-z0-9_+./-]*) exit 2 ;; ?*/?*) ;; *) exit 2 ;; esac
case $2 in "" | *[!0-9a-f-]*) exit 2 ;; esac
case $#$3 in 2 | 3leave) ;; *) exit 2 ;; esac
umask 077
vg=$(double "${1%/*}")
inner=$vg-$(double "${1#*/}")-stowage
place=/run/stowage/mounts/$2
leave || exit 1
[ -z "$3" ] || {
  forget "$1" "$2"
  exit 0
}

facts=$(
  lvs --config "$config" --noheadings --units s --nosuffix --separator , -o thin_id,lv_size,pool_lv,vg_uuid,lv_uuid --select "segtype=thin&&lv_tags={stowage.dev/unfinished=$2}&&lv_attr=~^V...-" "$1" |
    sed -n "s/^ *\([0-9]\{1,\},[0-9]\{1,\},[^ ,]\{1,\},[^ ,]\{1,\},[^ ,]\{1,\}\) *$/\1/p"
)

[ -n "$facts" ] || {
  echo "$1 is not an inactive thin volume that was created for $2" >&2
  exit 1
}

oldifs=$IFS
IFS=,
set -- "$1" "$2" $facts
IFS=$oldifs
pool=$(tpool "$5" "$6")
[ -n "$pool" ] || {
  echo "the thin pool of $1 is not active, or another group has its name" >&2
  exit 1
}

pool=$(dmsetup info -c --noheadings --separator : -o major,minor "$pool") || exit 1
dmsetup create "$inner" --uuid "LVM-$(printf %s "$6$7" | sed s/-//g)-stowage" --table "0 $4 thin $pool $3" || exit 1
device=/dev/$(dmsetup info -c --noheadings -o blkdevname "$inner")
type=
if tune2fs -l "$device" >/dev/null 2>&1; then type=ext4; elif xfs_admin -u "$device" >/dev/null 2>&1; then type=xfs; fi
whole=
case $type in
  ext4)
    e2fsck -f -p "$device"
    [ $? -le 1 ] && resize2fs "$device" && tune2fs -U "$2" "$device" && whole=yes
    ;;
  xfs)
    (in_namespace stowage-lvm-inside "$device") && xfs_admin -U "$2" "$device" && whole=yes
    ;;
  *) echo "$1 contains neither an ext4 nor an XFS" >&2 ;;
esac
[ -n "$whole" ] && sync "$device" && [ "$(uuid)" = "$2" ] || whole=
leave && [ -n "$whole" ]
