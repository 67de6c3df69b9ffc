#!/bin/sh
# Fills a new volume with the content of a disk:
#
#     stowage-image TARGET UID ext4|xfs|block OFFSET SIZE zeroes|dirty raw|qcow2|exact
#       COMPRESSION SHA256|- SOURCE
#
# In a file system the content is disk.img, as in KubeVirt. Raw content is streamed: its checksum is
# computed and its compression unpacked on the way, and no more is written than there is room for. A
# qcow2 must be a file to be read. The script downloads it to a file beside the target, whose name
# is removed before any content is written.
#
# content.sh checks the first bytes of the source, and of its unpacked content, before any write.
#
# The script reads the header of a qcow2 before qemu-img opens it. A backing file or a data file
# would make qemu-img open other files, even to print information (CVE-2024-4467). Bytes beyond the
# end of a file read as zeros to qemu-img, so the script also checks that the image is whole.

. ./fill-namespace.sh
. ./fetch.sh
. ./mount.sh
. ./content.sh
. ./unwritten.sh
. ./scratch.sh

# 65522 is the user and group of qemu-img alone.

lend() {
  lent=$work/desk/new/$1
  if [ -b "$2" ]; then
    mknod -m 0600 "$lent" b $(stat -L -c "0x%t 0x%T" "$2")
  else
    : >"$lent" && mount --bind "$2" "$lent"
  fi && chown 65522:65522 "$lent" || fail "no private root directory could be created for qemu-img" 1
}

qemu() (
  kib=$1
  shift
  enter desk "$kib" "" --reuid=65522 --regid=65522 --clear-groups qemu-img "$@"
)

number() { od -A n -t u8 --endian=big -j "$1" -N 8 /proc/self/fd/8 | tr -d " "; }

word() { od -A n -t u4 --endian=big -j "$1" -N 4 /proc/self/fd/8 | tr -d " "; }

check_qcow2() {
  [ "$(word 0)" = 1363560955 ] || fail "the source is not a qcow2"
  version=$(word 4)
  case $version in
    2) ;;
    3)
      case $(number 72) in
        0 | 1 | 8 | 9 | 16 | 17 | 24 | 25) ;;
        *) fail "the source is a qcow2 with a data file beside it, or with unknown features: convert it to a standalone one" ;;
      esac
      ;;
    *) fail "the source is a qcow2 of the unknown version $version" ;;
  esac
  [ "$(number 8)" = 0 ] || fail "the source is a qcow2 with a backing file, which is never read: convert it to a standalone one"
  [ "$(word 32)" = 0 ] || fail "the source is an encrypted qcow2"
  virtual=$(number 24)
  [ "${#virtual}" -le 18 ] && [ "$virtual" -le "$room" ] || fail "the source is a disk of $virtual bytes, and the volume has room for $room"
  (ulimit -t 30; qemu 1048576 info -f qcow2 --output=json /new/source) >"$work/info" 2>"$work/errors" || fail "qemu-img cannot read the source: $(printable <"$work/errors")"
  ! grep -q -e backing-filename -e data-file -e "encrypted.: true" "$work/info" || fail "the source is a qcow2 that is not standalone, or is encrypted"
  qemu 4194304 check -q -f qcow2 /new/source >"$work/errors" 2>&1
  case $? in 0 | 3) ;; *) fail "qemu-img finds the source damaged: $(printable <"$work/errors")" ;; esac
}

is_full() {
  case $TARGET in /dev/*) return 1 ;; esac
  [ "$(df -B1 --output=avail "${TARGET%/*}" | tail -n 1)" -lt 1048576 ]
}

write_scratch() {
  at=0 came=64
  while [ $came = 64 ] && [ $at -lt "$2" ]; do
    part=$(($2 - at < 16777216 ? $2 - at : 16777216))
    reserve $((at + part)) 2>"$work/errors" || { refused=$? wrote=$(cat "$work/errors"); break; }
    LC_ALL=C dd of="$1" bs=256K count=$part iflag=fullblock,count_bytes oflag=seek_bytes seek=$at conv=notrunc,nocreat,sparse status=noxfer 2>"$work/errors" <&7 || {
      wrote="the source could not be written: $(sed "/ records /d" "$work/errors" | printable)"
      break
    }
    came=$(sed -n "s/+.* records in//p" "$work/errors")
    at=$((at + part))
  done
  [ -n "$wrote" ] || [ "$(head -c 1 <&7 | wc -c)" = 0 ] || large=yes
  exec 7<&-
}

write() {
  [ -z "$scratch" ] || { write_scratch "$@"; return; }
  dd of="$1" bs=256K count="$2" iflag=fullblock,count_bytes oflag=seek_bytes seek="$3" conv="notrunc,nocreat,fsync$4" status=none 2>"$work/errors" <&7 || {
    wrote="the source could not be written: $(printable <"$work/errors")"
    ! is_full || wrote="the source could not be written, since the file system of ${TARGET%/*} is full"
    exec 7<&-
    return
  }
  [ "$(head -c 1 <&7 | wc -c)" = 0 ] || large=yes
  exec 7<&-
}

receive() {
  open_source "$SOURCE"
  tell_progress 7<&- &
  teller=$!
  mkfifo "$work/again" "$work/whole" "$work/sum" "$work/plain" "$work/plain-again"
  dd bs=512 count=1 iflag=fullblock status=none <&5 >"$work/head"
  choose "$FORMAT" "$COMPRESSION" "$work/head"
  [ -z "$refusal" ] || fail "$refusal"
  cat "$work/head" - <&5 >"$work/again" 2>/dev/null &
  [ -z "$curl_pid" ] || exec 5<&-
  exec 6<"$work/again"
  wrote= large= digest= refused=1
  case $SHA256 in
    -) ;;
    *)
      sha256sum <"$work/sum" >"$work/digest" 6<&- &
      summing=$!
      tee -p "$work/sum" <&6 >"$work/whole" 2>/dev/null &
      exec 6<"$work/whole"
      ;;
  esac
  unpacking=
  case $unpack in
    "") exec 7<&6 ;;
    *)
      make_jail root
      unpack_by "$unpack" <&6 >"$work/plain" 2>"$work/unpacking" &
      unpacking=$!
      exec 6<"$work/plain"
      dd bs=512 count=1 iflag=fullblock status=none <&6 >"$work/plain-head"
      check_plain "$FORMAT" "$work/plain-head"
      [ -z "$refusal" ] || fail "$refusal"
      cat "$work/plain-head" - <&6 >"$work/plain-again" 2>/dev/null &
      exec 7<"$work/plain-again"
      ;;
  esac
  exec 6<&-
  write "$@"
  [ -z "$wrote" ] || fail "$wrote" $refused
  [ -z "$large" ] || fail "the source is larger than the $2 bytes that the volume has room for"
  unpacked=0
  [ -z "$unpacking" ] || wait "$unpacking" || unpacked=$?
  close_source
  { kill "$teller"; wait "$teller"; } 2>/dev/null
  [ "$SHA256" = - ] || {
    wait "$summing"
    read -r digest rest <"$work/digest"
    [ "$digest" = "$SHA256" ] || fail "the sha256 of $(shown "$SOURCE") is not $SHA256"
  }
  [ $unpacked = 0 ] || fail "$unpack cannot unpack the source, it is damaged or cut off: $(printable <"$work/unpacking")"
  [ -s "$work/head" ] && { [ -z "$unpack" ] || [ -s "$work/plain-head" ]; } || fail "the source is empty"
}

fill() {
  [ $FORMAT != qcow2 ] || {
    need qemu-img "an Image of format qcow2 (package qemu-utils or qemu-img)"
    need setpriv "an Image of format qcow2"
  }
  image=$TARGET room=$SIZE sparse= scratch=
  [ $CONTENT = block ] || {
    mkdir "$work/mnt"
    mount_new "$TARGET" "$work/mnt" $CONTENT nosuid,nodev,noexec
    image=$work/mnt/disk.img
    : >"$image" || fail "disk.img could not be created" 1
    OFFSET=0
    room=$(df -B1 --output=avail "$work/mnt" | tail -n 1)
    ZERO=zeroes
  }
  [ $ZERO = dirty ] || sparse=,sparse
  case $FORMAT in
    raw | exact) receive "$image" "$room" "$OFFSET" $sparse ;;
    qcow2)
      limit=$((SIZE + SIZE / 64 + 16777216))
      download=$TARGET.download
      case $TARGET in /dev/*) download=/var/lib/stowage/volumes/.download.$UUID scratch=yes ;; esac
      rm -f -- "$download"
      exec 8<>"$download"
      make_jail desk etc/ld.so.cache
      mount -t tmpfs -o mode=0711,nosuid,noexec,size=64k tmpfs "$work/desk/new" || fail "no private root directory could be created" 1
      lend source "$download"
      rm -f -- "$download"
      receive /proc/self/fd/8 "$limit" 0 ,sparse
      check_qcow2
      is_zero=
      [ $ZERO = dirty ] || ! qemu 1048576 --help | grep -q target-is-zero || is_zero=--target-is-zero
      lend target "$image"
      case $CONTENT,$TARGET in
        block,/dev/*) set -- -n $is_zero --target-image-opts "driver=raw,offset=$OFFSET,size=$SIZE,file.driver=host_device,file.filename=/new/target" ;;
        block,*) set -- -n $is_zero --target-image-opts "driver=raw,offset=$OFFSET,size=$SIZE,file.driver=file,file.filename=/new/target" ;;
        *) set -- -O raw ;;
      esac
      case $1 in
        -O) qemu 4194304 convert -f qcow2 -S 64k -O raw /new/source /new/target ;;
        *) qemu 4194304 convert -f qcow2 -S 64k /new/source "$@" ;;
      esac 2>"$work/errors" || {
        ! is_full || fail "the source could not be written, since the file system of ${TARGET%/*} is full" 1
        fail "qemu-img cannot convert the source: $(printable <"$work/errors")"
      }
      chown 0:0 "$work/desk/new/target" || fail "the owner of the converted disk could not be set to root" 1
      [ -b "$work/desk/new/target" ] || umount "$work/desk/new/target"
      ;;
  esac
  [ $CONTENT = block ] || {
    chmod 0660 "$image"
    sync -f "$image" && umount "$work/mnt" || fail "the file system with disk.img could not be written: the disk below it may be full" 1
  }
}

case $0 in
  stowage-image)
    [ $# = 10 ] || exit 2
    check_target "$1" "$2" "$3" "$4" "$5" "$6"
    case $7 in raw | qcow2 | exact) ;; *) exit 2 ;; esac
    case $8 in auto | none | gzip | zstd | xz | bzip2) ;; *) exit 2 ;; esac
    case $9 in -) ;; *[!0-9a-f]*) exit 2 ;; esac
    case ${10} in "" | *[!!-~]*) exit 2 ;; esac
    go_inside stowage-image-inside "$@"
    ;;
  stowage-image-inside)
    begin_inside "$1" "$2"
    TARGET=$1 UUID=$2 CONTENT=$3 OFFSET=$4 SIZE=$5 ZERO=$6 FORMAT=$7 COMPRESSION=$8 SHA256=$9
    in_url "${10}"
    SOURCE=$source
    fill
    ;;
esac
