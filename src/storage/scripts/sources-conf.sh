#!/bin/sh
# Shell functions for the node's root-owned configuration, /etc/stowage/sources.conf, such as
# `allow-address NETWORK`, `path DIRECTORY` and `backups DIRECTORY`. The functions need `fail`.
#
# `configured WORD` prints the values of a keyword. `is_listed WORD PATH` reports whether a path,
# without symbolic links, is in a directory of that keyword.
#
# `check_owner FILE UID PATH` exits with 3 unless root's record beside an archive matches. The
# record needs the UID of the Backup and the sha256 of its status (`$SHA256`). A user who may write
# a status can forge one. `record_of PATH` prints the path of that record.
#
# `open_path path|backups PATH [UID]` opens descriptor 5. An Image or Archive of any namespace may
# name any path. So neither opens a file in a directory of backups, even if another line permits
# that. Only the Backup of an archive opens it there.

config=/etc/stowage/sources.conf
configured() {
  [ -e "$config" ] || return 0
  [ "$(find /etc/stowage "$config" -maxdepth 0 -user root ! -perm /022 "(" -type d -o -type f ")" | wc -l)" = 2 ] ||
    fail "$config on this node is not used: it and its directory must belong to root, and only root may write to them"
  while read -r word value rest || [ -n "$word" ]; do
    case $word,$rest in
      "#"* | ,) ;;
      allow-address, | path, | backups, | backup-to, | scratch,) [ "$word" != "$1" ] || printf "%s\n" "$value" ;;
      *) fail "$config on this node has an unknown line, $word: valid are allow-address NETWORK, path DIRECTORY, backups DIRECTORY, backup-to URL-PREFIX and scratch BYTES" ;;
    esac
  done <"$config"
}

is_listed() (
  folders=$(configured "$1") || exit 3
  for folder in $folders; do
    folder=$(realpath -e -- "$folder" 2>/dev/null) || continue
    case $2 in "${folder%/}"/*) exit 0 ;; esac
  done
  exit 1
)

may_open() { is_listed "$1" "$2" && { [ "$1" = backups ] || ! is_listed backups "$2"; }; }

record_of() { printf %s "${1%/*}/.${1##*/}.stowage"; }

check_owner() {
  record=$(record_of "$1") owner= digest=
  [ ! -f "$record" ] || [ -h "$record" ] || read -r owner digest <"$record" || :
  [ -n "$2" ] && [ "$owner,$digest" = "$2,$SHA256" ] || {
    record=$(record_of "$3")
    fail "this node has no record that $3 is the archive of this Backup, with its sha256. If it is, root of the node can record that after verifying it: echo $2 $SHA256 >$record"
  }
}

open_path() {
  real=$(realpath -m -- "$2")
  may_open "$1" "$real" || fail "$2 is in no directory that $config on this node lists: add a line $1 DIRECTORY there. Files in a directory of backups are only read for their Backups"
  [ -f "$real" ] || fail "there is no regular file $2 on this node" 1
  exec 5<"$real"
  opened=$(readlink /proc/self/fd/5)
  [ "$1" != backups ] || check_owner "$opened" "$3" "$2"
  may_open "$1" "$opened" && [ -f /proc/self/fd/5 ] || fail "$2 leads to $opened, which is in no directory that $config on this node lists"
  total=$(stat -L -c %s /proc/self/fd/5)
}
