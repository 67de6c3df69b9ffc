#!/bin/sh
# Shell function for downloads to the node's own file system: `reserve BYTES` records the space that
# this fill uses by now. Exits with 1 if all running fills together use more than the node permits.
# The function needs `fail`, `configured`, unwritten.sh, and `$place`, a file that is locked while
# the fill runs (fill-namespace.sh): the record ends with the lock.

# `scratch` defaults to 10 GiB for all downloads on the node's own file system. Downloads leave 1
# GiB free, or a tenth of the file system if that is more: below that, a kubelet evicts pods.

reserve() (
  most=$(configured scratch) || exit 3
  case $most in "") most=10737418240 ;; *[!0-9]* | 0?* | ????????????????*) fail "$config on this node: scratch needs one number of bytes" ;; esac
  cd /run/stowage/fills || exit 1
  exec 6>>scratch
  flock 6
  sum=$1 mine=$1 had=0
  for each in *.scratch; do
    [ -e "$each" ] || continue
    read -r bytes <"$each"
    case $each in
      "$place.scratch") had=$bytes ;;
      *) flock -n "${each%.scratch}" true || sum=$((sum + bytes)) ;;
    esac
  done
  [ "$sum" -le "$most" ] ||
    fail "downloads that this node converts may take $most bytes at once, and this one needs more: add a line scratch BYTES to $config" 1
  floor=$(($(df -B1 --output=size /var/lib/stowage/volumes | tail -n 1) / 10))
  [ "$floor" -ge 1073741824 ] || floor=1073741824
  floor=$((floor + $(unwritten /var/lib/stowage/volumes)))
  [ $(($(free_in /var/lib/stowage/volumes) - mine + had)) -ge "$floor" ] ||
    fail "the file system of /var/lib/stowage on this node is too full for the download, which must leave $floor bytes free, including those that files of volumes may still take" 1
  echo "$mine" >"$place.scratch"
)
