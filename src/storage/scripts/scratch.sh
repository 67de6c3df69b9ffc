#!/bin/sh
# A shell function for downloads to the node's own file system: `reserve BYTES` counts what this
# fill takes there by now, beside all others that run, and ends with 1 where that is more than the
# node allows. It needs `fail`, `configured`, unwritten.sh, and `$place`, a file that is locked
# for as long as the fill runs (fill-namespace.sh): what it counts ends with it.

# The default of `scratch` is 10 GiB for all downloads on the node's own file system. They leave 1 GiB
# free; or a tenth of the file system, below which a kubelet evicts pods, if that is more.

reserve() (
  most=$(configured scratch) || exit 3
  case $most in "") most=10737418240 ;; *[!0-9]* | 0?* | ????????????????*) fail "$config on this node: scratch takes one number of bytes" ;; esac
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
    fail "the downloads that this node keeps while it converts them may take $most bytes at once, and this one needs more: $config takes a line scratch BYTES" 1
  floor=$(($(df -B1 --output=size /var/lib/stowage/volumes | tail -n 1) / 10))
  [ "$floor" -ge 1073741824 ] || floor=1073741824
  floor=$((floor + $(unwritten /var/lib/stowage/volumes)))
  [ $(($(free_in /var/lib/stowage/volumes) - mine + had)) -ge "$floor" ] ||
    fail "the file system of /var/lib/stowage on this node is too full for the download, which leaves $floor bytes free, those that files of volumes may still take among them" 1
  echo "$mine" >"$place.scratch"
)
