#!/bin/sh
# Gives the file system of another Volume, which is not mounted, a new UUID: `stowage-adopt PATH
# UUID ext4|xfs OWNER`. PATH is a device or a file, OWNER the UID of the adopting Volume. The
# content of the files stays.
#
# A run after a kill at any point comes to the same end. A record of the owner shows that a change
# has begun. Without a record, a file system that already has the UUID is left as it is. A file
# system that is damaged, or larger than its device, is refused before any write.
#
# Without `metadata_csum_seed`, a new UUID changes the checksum of each inode of an ext4, and e2fsck
# -p does not repair a partial change. So the script sets this feature first, which writes only the
# superblock. e2fsck -n cannot judge a file system before its journal is replayed. After a killed
# e2fsck -p, which is on record, the next one repairs the rest, so e2fsck -n is skipped as well.
#
# A new UUID of an XFS first writes a new log, then each superblock. An interruption leaves a zero
# log, one with a zero end and a cycle later than the first, or one with another UUID than the
# superblock. The kernel leaves none of these logs, and mounts only the first. Such a log contains
# only changes that are in place already, so it is made again. A log with later writes is dirty, and
# refused. xfs_repair makes the log, in a cycle after those in the metadata. With another UUID, it
# would use the old log, so the script writes zeros there first. An XFS with `inprogress` is left
# from a killed mkfs.xfs. The script does not use xfs_admin, which evaluates the path in a shell.

fail() {
  echo "$1" >&2
  exit 1
}

uuid() { blkid -p -n @FS_TYPES@ -o value -s UUID "$path"; }

record() { mkdir -p "${1%/*}" && : >"$1" && sync "$1" "${1%/*}" "${1%/*/*}" || exit 1; }

fits() {
  case ${1:-x}${2:-x} in *[!0-9]*) fail "the superblock on $path cannot be read" ;; esac
  [ $(($1 * $2)) -le "$size" ] || fail "the file system on $path has $(($1 * $2)) bytes, but $path has only $size: the rest is missing"
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
      *) e2fsck -f -n "$1" || fail "the file system on $1 is damaged, and was not changed. Check it: e2fsck -f -n $1" ;;
    esac
    record "$judged"
    e2fsck -f -p "$1"
    [ $? -le 1 ] || fail "e2fsck -p cannot repair the file system on $1. Check it: e2fsck -f -n $1"
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
    [ "$(fact inprogress)" = 0 ] || fail "mkfs.xfs did not complete the file system on $1"
    log=$(xfs_logprint -t "$1" 2>&1)
    case $log in
      *"<DIRTY>"*) fail "the log of the file system on $1 is dirty after a power loss: mount and unmount it once" ;;
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
        [ "${start:-0}" != 0 ] || fail "the file system on $1 has an external log"
        start=$(xfs_db -r -c "sb 0" -c "convert fsblock $start byte" "$1" | sed -n "s/.*(\([0-9]*\))$/\1/p")
        block=$(fact blocksize)
        [ -n "$start" ] || exit 1
        dd if=/dev/zero of="$1" bs="$block" seek=$((start / block)) count="$(fact logblocks)" conv=notrunc,fsync || exit 1
        ;;
    esac
    [ -z "$again" ] || xfs_repair "$1" || exit 1
    said=$(xfs_db -x -p xfs_admin -c "uuid $2" "$1" 2>&1)
    echo "$said"
    case $said in *"failed to"* | *"check failed"*) fail "the UUID was not set in each part of the file system on $1" ;; esac
    ;;
esac
sync "$1" && [ "$(uuid)" = "$2" ] || fail "the UUID was not set on $1"
rm -f "$begun" "$judged"
