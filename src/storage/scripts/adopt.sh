#!/bin/sh
# Gives the file system of another Volume, which nobody has mounted, another UUID: `stowage-adopt
# PATH UUID ext4|xfs OWNER`. PATH is a device or a file, OWNER the UID of the Volume that adopts it.
# What is in the files stays.
#
# Run again after it was killed anywhere, it comes to the same end. A record of the owner says that
# a change was begun; without one, what has the UUID is left as it is, and what is damaged, or
# larger than what it is in, is refused before it is written to.
#
# Without `metadata_csum_seed` a new UUID changes the checksum of each inode of an ext4, and one
# that is half done is what e2fsck -p gives up: so that comes first, for which the superblock alone
# is written. What a journal that waits to be replayed mends is not known before it is, and an
# e2fsck -p that was killed leaves what the next one mends, on record: e2fsck -n judges neither.
#
# A new UUID of an XFS writes a new log first, then each super block. Cut off there, the log is
# zero, or zero at its end in a later cycle than the first one, or has another UUID than the super
# block: the kernel leaves none of these, and mounts but the first. Such a log holds nothing that is
# not in its place, and is made anew; one that somebody wrote to meanwhile is dirty, and refused.
# xfs_repair makes it, in a cycle after those that the metadata name. Of a log with another UUID it
# would take that, so it is shown zeroes. An XFS with `inprogress` is what is left of a mkfs.xfs
# that was killed. xfs_admin has its shell read the path.

fail() {
  echo "$1" >&2
  exit 1
}

uuid() { blkid -p -n ext4,xfs -o value -s UUID "$path"; }

record() { mkdir -p "${1%/*}" && : >"$1" && sync "$1" "${1%/*}" "${1%/*/*}" || exit 1; }

fits() {
  case ${1:-x}${2:-x} in *[!0-9]*) fail "the super block on $path cannot be read" ;; esac
  [ $(($1 * $2)) -le "$size" ] || fail "the file system on $path has $(($1 * $2)) bytes, and $path $size: the rest of it is missing"
}

case $1 in *" "*) exit 2 ;; /dev/* | /*.partial) ;; *) exit 2 ;; esac
case $2$4 in *[!0-9a-f-]*) exit 2 ;; esac
case $#$3 in 4ext4 | 4xfs) ;; *) exit 2 ;; esac
[ -n "$2" ] && [ -n "$4" ] || exit 2
path=$1
begun=/var/lib/stowage/adoptions/$4
judged=$begun.judged
[ -e "$begun" ] || [ "$(uuid)" != "$2" ] || { rm -f "$judged"; exit 0; }
if [ -b "$1" ]; then size=$(blockdev --getsize64 "$1"); else size=$(stat -L -c %s "$1"); fi || exit 1
case $3 in
  ext4)
    facts=$(tune2fs -l "$1") || exit 1
    fact() { printf "%s\n" "$facts" | sed -n "s/^$1: *//p"; }
    fits "$(fact "Block count")" "$(fact "Block size")"
    [ -e "$judged" ] || case " $(fact "Filesystem features") " in
      *" needs_recovery "*) ;;
      *) e2fsck -f -n "$1" || fail "the file system on $1 is damaged, and was left as it is. Look at it: e2fsck -f -n $1" ;;
    esac
    record "$judged"
    e2fsck -f -p "$1"
    [ $? -le 1 ] || fail "e2fsck -p cannot mend the file system on $1. Look at it: e2fsck -f -n $1"
    record "$begun"
    case " $(fact "Filesystem features") " in
      *" metadata_csum_seed "*) ;;
      *" metadata_csum "*) tune2fs -O metadata_csum_seed "$1" || exit 1 ;;
    esac
    tune2fs -U "$2" "$1" || exit 1
    ;;
  xfs)
    fact() { xfs_db -r -c "sb 0" -c "print $1" "$path" | sed -n "s/^$1 = //p"; }
    fits "$(fact dblocks)" "$(fact blocksize)"
    [ "$(fact inprogress)" = 0 ] || fail "the file system on $1 was never made to its end"
    log=$(xfs_logprint -t "$1" 2>&1)
    case $log in
      *"<DIRTY>"*) fail "the log of the file system on $1 is dirty, for its node lost power: mount and unmount it once" ;;
      *"<CLEAN>"*) ;;
      *"(last==0, first!=1)"* | *"mismatched uuid in log"*) [ -e "$begun" ] || fail "the log of the file system on $1 cannot be read" ;;
      *) fail "the log of the file system on $1 cannot be read" ;;
    esac
    again=
    [ ! -e "$begun" ] || again=yes
    record "$begun"
    case $log in
      *"totally zeroed log"* | *"(last==0, first!=1)"* | *"mismatched uuid in log"*)
        again=yes
        start=$(fact logstart)
        [ "${start:-0}" != 0 ] || fail "the file system on $1 has its log elsewhere"
        start=$(xfs_db -r -c "sb 0" -c "convert fsblock $start byte" "$1" | sed -n "s/.*(\([0-9]*\))$/\1/p")
        block=$(fact blocksize)
        [ -n "$start" ] || exit 1
        dd if=/dev/zero of="$1" bs="$block" seek=$((start / block)) count="$(fact logblocks)" conv=notrunc,fsync || exit 1
        ;;
    esac
    [ -z "$again" ] || xfs_repair "$1" || exit 1
    said=$(xfs_db -x -p xfs_admin -c "uuid $2" "$1" 2>&1)
    echo "$said"
    case $said in *"failed to"* | *"check failed"*) fail "$1 did not get its UUID in each part of the file system" ;; esac
    ;;
esac
sync "$1" && [ "$(uuid)" = "$2" ] || fail "$1 did not get its UUID"
rm -f "$begun" "$judged"
