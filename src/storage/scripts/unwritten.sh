#!/bin/sh
# Shell functions for writes to file systems that may have files of volumes. The files are sparse,
# and space that they do not use yet is promised to them. `unwritten PATH` prints the promised bytes
# on the file system of PATH, by the node's records of directories. `free_in PATH` prints the free
# bytes.

unwritten() (
  device=$(stat -L -c %d "$1") sum=0
  set -- /var/lib/metalk8s/storage/sparse
  for each in /var/lib/stowage/directories/*; do
    case $each in *.new) continue ;; esac
    [ -f "$each" ] || continue
    folder=$(sed -n "s/.*\"directory\":\"\(\/[^\"]*\)\".*/\1/p" "$each")
    [ -z "$folder" ] || [ "$folder" = /var/lib/metalk8s/storage/sparse ] || set -- "$@" "$folder"
  done
  for folder; do
    [ "$(stat -L -c %d "$folder" 2>/dev/null)" = "$device" ] || continue
    sum=$((sum + $(
      find "$folder/" -ignore_readdir_race -maxdepth 1 -type f -printf "%s %b\n" | {
        left=0
        while read -r size blocks; do
          [ $((size - blocks * 512)) -le 0 ] || left=$((left + size - blocks * 512))
        done
        echo $left
      }
    )))
  done
  echo $sum
)

free_in() { df -B1 --output=avail "$1" | tail -n 1; }
