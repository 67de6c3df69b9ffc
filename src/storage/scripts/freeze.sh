#!/bin/sh
# Copies the file of a mounted file system while the file system is frozen:
#
#     stowage-freeze MOUNT SECONDS SOURCE PARTIAL clone|copy
#     stowage-freeze thaw PARTIAL
#
# Three processes run in sessions of their own, so that a failure of one does not affect the others.
# `stowage-freeze` copies. `stowage-hold` freezes, and thaws once the first releases the lock `main`
# or is gone, or 80% of the time is over. `stowage-thaw` waits for the lock `freezer` of the second,
# and thaws once the second is gone. After 90% of the time it kills the second first. The time
# begins right before the freeze. Each process has the mount open (descriptor 9), so it cannot be
# unmounted, and a thaw reaches it wherever the path leads by then. The copy counts if it was whole
# before the second thawed, which the second reports by `in-time`.
#
# A freeze of another program is left alone (`failed`). If the process that reports the result was
# killed (`freezing`), the result is unknown, and the file system is thawed: writes matter more.
#
# fsfreeze itself may be killed, for example for lack of memory. Each of the three in turn tries
# again. If none of them can thaw, the record stays for a later run. An exit status above 125 means
# that fsfreeze was killed or could not run. For a file system that is not frozen the status is 1.
#
# freeze.md shows the states of a freeze.
#
# If all three are killed at once, as at the end of a cgroup, the file system stays frozen. The lock
# `alive` shows each later copy on the node, and `thaw`, that they are gone. `state` records the
# frozen file, and its ctime right after the freeze. A frozen file system writes nothing, and a new
# freeze writes to it (ext4 its superblock, XFS its log). So with an unchanged ctime it is the same
# freeze, and is thawed. Otherwise it may be another program's, and is left alone. Without a
# recorded ctime (`freezing`), the ctime must be within the time of the freeze.
#
# A file system that was unmounted while frozen has no mount point for a thaw. The next mount
# freezes it again (freeze_super keeps it). `stowage-thaw-unmounted` mounts it in a mount namespace
# of its own for the thaw, and exits with 99 if it was not frozen. Any other failure leaves the
# record.
#
# The script opens a path below MOUNT, which may be no directory: the sudo user chooses it, and
# opening a device has effects.
#
# sudo compares arguments joined by spaces, which a caller could divide differently. So the script
# checks each argument.

. ./mount-namespace.sh

# Prints nothing for a time without fractions of a second, or if find fails. For the %.9Z of stat,
# busybox 1.35 and uutils coreutils until 0.2.2 print whole seconds; those since 0.3.0 round.
facts_of() { find -L "$1" -maxdepth 0 -printf "$2\n" | sed -n "s/\(\.[0-9]\{9\}\)[0-9]*$/\1/p"; }

# Without the facts, the state remains `freezing`.
note_frozen() {
  noted=$(facts_of "$source" "%i %C@")
  [ -n "$noted" ] || return
  printf "%s\n" frozen "$device" "$source" "$noted" >"$dir/noted"
  mv -T "$dir/noted" "$dir/state"
}

has_facts() {
  [ -n "$(facts_of "$source" %C@)" ] || {
    echo "find prints no time of $source with fractions of a second: nothing was frozen" >&2
    exit 1
  }
}

in_seconds() { printf "%d.%02d" $(($1 / 100)) $(($1 % 100)); }

# If the times cannot be read, exits from its caller, and the record stays.
is_left() {
  [ "$(cat "/sys/dev/block/$device/loop/backing_file")" = "$(readlink -f -- "$file")" ] || return 1
  case $word in
    frozen)
      last=$(facts_of "$file" "%i %C@")
      [ -n "$last" ] || exit 1
      [ "$last" = "$noted" ]
      ;;
    freezing)
      began=$(facts_of "$1/state" %T@ | tr -d .)
      last=$(facts_of "$file" %C@ | tr -d .)
      [ -n "$began" ] && [ -n "$last" ] || exit 1
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
        echo "an earlier copy to $partial still runs, or the file system that it froze cannot be thawed" >&2
        exit 1
      }
    done
    [ $# = 5 ] || exit 0
    exec 9<"$1/."
    number=$(stat -L -c %d /proc/self/fd/9)
    device=$((number >> 8 & 4095)):$((number & 255 | number >> 12 & 1048320))
    [ "$(cat "/sys/dev/block/$device/loop/backing_file")" = "$(readlink -f -- "$source")" ] || {
      echo "the file system that is mounted at $1 is not in $source" >&2
      exit 1
    }
    has_facts
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
      echo "the copy was not complete while $1 was frozen, for $seconds s at most" >&2
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
      [ $got != 0 ] || note_frozen
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
