#!/bin/sh
# Copies the file that a mounted file system is in while that is frozen:
#
#     stowage-freeze MOUNT SECONDS SOURCE PARTIAL clone|copy
#     stowage-freeze thaw PARTIAL
#
# Three processes in sessions of their own, so that what one of them suffers the others survive.
# `stowage-freeze` copies. `stowage-hold` freezes, and thaws once the first lets go of the lock
# `main` or is gone, or 80% of the time is over. `stowage-thaw` waits for the lock `freezer`, which
# is the second's, and thaws when that is gone; after 90% of the time it kills the second first. The
# time begins right before the freeze. Each has the mount open (descriptor 9): it can't be
# unmounted, and by the descriptor it is thawed whatever its path leads to by then. The copy counts
# if it was whole before the second thawed, which it says by `in-time`.
#
# A freeze of somebody else's is left alone (`failed`). Where it is not known whether the freeze
# came about, as the process that would have said so was killed (`freezing`), it is thawed: that
# writes go on matters more.
#
# fsfreeze itself may be killed, as what takes memory is. It is tried again then, and by each of the
# three in turn; what none of them could thaw keeps its record for who comes next. A status above
# 125 says that it was killed or could not be run; what is not frozen makes it end with 1.
#
# freeze.md shows the states of a freeze.
#
# Whoever kills all three at once, as one who ends a cgroup does, leaves the file system frozen.
# They hold the lock `alive`, by which whoever comes next sees that they are gone: each later copy
# on the node, and `thaw`. `state` has what was frozen, and the ctime of its file right afterwards.
# What is frozen writes nothing, and to freeze it anew writes to it (ext4 its superblock, XFS its
# log). So while that is as it was, it is this freeze, and is thawed; else it may be somebody
# else's, and is left alone. Where the ctime was not noted any more (`freezing`), it must be of the
# time that there was for it. What is unmounted frozen has no place to be thawed at, and is frozen
# when it is mounted again (freeze_super keeps it): so `stowage-thaw-unmounted` mounts it for that,
# in a mount namespace of its own, and ends with 99 if it was not frozen. Any other failure leaves
# the record.
#
# The mount is opened by a path below it, since `MOUNT` may be no directory: the sudo user chooses
# it, and devices react to being opened.
#
# sudo compares arguments joined by spaces, and somebody could divide them otherwise: so each
# argument is looked at.

. ./mount-namespace.sh

in_seconds() { printf "%d.%02d" $(($1 / 100)) $(($1 % 100)); }

is_left() {
  [ "$(cat "/sys/dev/block/$device/loop/backing_file")" = "$(readlink -f -- "$file")" ] || return 1
  case $word in
    frozen) [ "$(stat -L -c "%i %.9Z" -- "$file")" = "$noted" ] ;;
    freezing)
      began=$(stat -c %.9Y "$1/state" | tr -d .)
      last=$(stat -L -c %.9Z -- "$file" | tr -d .)
      [ "$last" -ge "$began" ] && [ "$last" -le $((began + noted * 1000000000)) ]
      ;;
    *) return 1 ;;
  esac
}

thaw_left() (
  [ -e "$1/state" ] && [ -e "$1/alive" ] || exit 0
  exec 5<"$1/alive"
  flock -n 5 || exit 1
  [ "$1/alive" -ef /proc/self/fd/5 ] || exit 0
  word= device= file= noted=
  { read -r word; read -r device; read -r file; read -r noted; } <"$1/state"
  is_left "$1" || exec rm -rf "$1"
  point=$(findmnt -n -r -o FSROOT,TARGET -S "$device" | sed -n "s,^/ ,,p" | head -n 1)
  got=0
  case $word,$point in
    frozen,)
      point=/dev/$(basename "$(readlink -f "/sys/dev/block/$device")")
      (in_namespace stowage-thaw-unmounted "$point") || got=$?
      case $got in 0) ;; 99) got=1 ;; *) got=126 ;; esac
      ;;
    *) fsfreeze -u "$point" || got=$? ;;
  esac
  [ $got != 0 ] || echo "thawed $point: an interrupted copy of $file had left it frozen" >&2
  [ $got -le 125 ] || exit 1
  exec rm -rf "$1"
)

thaw() {
  got=
  for try in 1 2 3 4 5; do
    fsfreeze -u /proc/self/fd/9 && return
    got=$?
    [ $got -gt 125 ] || return $got
  done
  exit 1
}

thaw_what_is_left() {
  state=
  [ ! -e "$dir/state" ] || read -r state <"$dir/state"
  case $state in freezing | frozen) thaw ;; esac
  rm -rf "$dir"
}

case $0 in
  stowage-freeze)
    case $# in
      2)
        case "$1 $2" in *" "*" "*) exit 2 ;; "thaw /"*.partial) ;; *) exit 2 ;; esac
        partial=$2
        ;;
      5)
        case $1$3 in *" "*) exit 2 ;; esac
        case $2 in "" | *[!0-9]*) exit 2 ;; esac
        case "$1 $3 $4" in /*" /"*" /"*.partial) ;; *) exit 2 ;; esac
        case $4 in *" "*) exit 2 ;; esac
        case $5 in clone | copy) ;; *) exit 2 ;; esac
        seconds=$2 source=$3 partial=$4
        ;;
      *) exit 2 ;;
    esac
    umask 077
    dir=/run/stowage/freezes/${partial##*/}
    for left in /run/stowage/freezes/*.partial; do
      thaw_left "$left" || [ "$left" != "$dir" ] || {
        echo "an earlier copy to $partial is not over yet, or what it froze cannot be thawed" >&2
        exit 1
      }
    done
    [ $# = 5 ] || exit 0
    exec 9<"$1/."
    number=$(stat -L -c %d /proc/self/fd/9)
    device=$((number >> 8 & 4095)):$((number & 255 | number >> 12 & 1048320))
    [ "$(cat "/sys/dev/block/$device/loop/backing_file")" = "$(readlink -f -- "$source")" ] || {
      echo "what is mounted at $1 is not in $source" >&2
      exit 1
    }
    case $5 in
      clone)
        how=--reflink=always
        cp $how -- "$source" "$partial" || {
          rm -f -- "$partial"
          echo "the file system of $partial cannot clone files: nothing was frozen" >&2
          exit 1
        }
        rm -f -- "$partial"
        ;;
      copy) how="--reflink=auto --sparse=always" ;;
    esac
    export dir seconds source device
    rm -rf "$dir"
    mkdir -p "$dir"
    mkfifo "$dir/said"
    exec 6>"$dir/alive" 8>"$dir/main"
    flock -n 6 && flock -n 8 || exit 1
    exec 4<>"$dir/said" 7<"$dir/said"
    # shellcheck disable=SC2016 # the inner shell expands it
    setsid sh -c 'eval "$text"' stowage-thaw 7<&- 8>&- >&4 4>&- &
    exec 4>&-
    word= copied=
    read -r word <&7
    [ "$word" = frozen ] &&
      timeout --foreground -k 1 "$seconds" cp $how -- "$source" "$partial" 6>&- 7<&- 8>&- 9<&- &&
      copied=yes
    exec 8>&-
    word=
    read -r word <&7
    wait
    [ ! -e "$dir/freezer" ] || flock "$dir/freezer" true 6>&- 7<&- 9<&-
    thaw_what_is_left
    [ "$copied $word" = "yes in-time" ] || {
      rm -f -- "$partial"
      echo "no whole copy came about while $1 was frozen, for $seconds s at most" >&2
      exit 1
    }
    ;;
  stowage-thaw)
    trap "" HUP TERM INT PIPE
    sync -f /proc/self/fd/9 || exit 1
    exec 7>"$dir/freezer"
    flock -n 7 || exit 1
    IFS=". " read -r a b rest </proc/uptime
    start=$a$b
    export start
    # shellcheck disable=SC2016 # the inner shell expands it
    setsid sh -c 'eval "$text"' stowage-hold &
    freezer=$!
    exec 7>&- >&2
    flock -w "$(in_seconds $((seconds * 90)))" "$dir/freezer" true 6>&- 9<&- || {
      kill -s KILL -- -$freezer 2>&- || kill -s KILL $freezer
      flock "$dir/freezer" true 6>&- 9<&-
    }
    thaw_what_is_left
    ;;
  stowage-thaw-unmounted)
    [ $$ = 1 ] || exit 2
    mount -o nosuid,nodev,noexec "$1" /run/stowage/mounts || exit
    got=0
    fsfreeze -u /run/stowage/mounts || got=$?
    umount /run/stowage/mounts
    [ $got = 0 ] || [ $got -gt 125 ] || exit 99
    exit $got
    ;;
  stowage-hold)
    got=$(
      printf "%s\n" freezing "$device" "$source" "$seconds" >"$dir/state"
      fsfreeze -f /proc/self/fd/9
      got=$?
      [ $got != 0 ] || {
        printf "%s\n" frozen "$device" "$source" "$(stat -L -c "%i %.9Z" -- "$source")" >"$dir/noted"
        mv -T "$dir/noted" "$dir/state"
      }
      [ $got = 0 ] || [ $got -gt 128 ] || echo failed >"$dir/state"
      echo $got
    )
    late=yes state=
    [ "$got" != 0 ] || {
      echo frozen
      IFS=". " read -r a b rest </proc/uptime
      left=$((start + seconds * 80 - $a$b))
      [ $left -gt 0 ] || left=1
      flock -w "$(in_seconds $left)" "$dir/main" true 6>&- 7<&- 9<&- && late=
    }
    read -r state <"$dir/state"
    [ "$state" = failed ] || thaw || late=yes
    echo thawed >"$dir/state"
    exec 9<&-
    read -r a b rest parent others </proc/$$/stat
    [ "$parent" != "$PPID" ] || kill -s KILL -- -$parent
    rm -rf "$dir"
    [ -n "$late" ] || echo in-time
    ;;
esac
