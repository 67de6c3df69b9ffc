#!/bin/sh
# Shell functions for scripts that fill a volume. They check the target, and run the script in
# namespaces of its own: mounts and processes end with the script, however it ends. `text` is the
# script itself. Unmounts of the node propagate there (propagation slave), so that the script keeps
# no devices of other volumes busy.
#
# `check_target TARGET UID CONTENT OFFSET SIZE zeroes|dirty` checks each argument, since sudo
# compares arguments joined by spaces. After a failure, `go_inside` removes a target file.
#
# `is_wanted TARGET UID` reports whether the volume is still wanted. Removing the unfinished file
# ends the script. A device cannot be removed while it is open, so a file at `cancelPath` ends its
# filling.
#
# `take_place TARGET UID` waits for one of the 16 places on this node, the limit of populator pods,
# too. Each place runs curl, a program to unpack, and maybe qemu-img. The first line of standard
# input names the namespace, empty for volumes of an administrator. A namespace takes a place only
# if more are free than it has, so that other namespaces always find one. A place is a lock, which
# ends with its holder. While it waits, the script reports that (populate/progress.ts). After that
# wait, thin-room.sh checks the thin pool.
#
# `begin_inside TARGET UID` calls `end_all` once the volume is not wanted any more. Its signals
# reach all processes in the namespace except this shell, the first process. The shell then sees
# their failure, and `end_all` opens the other end of each FIFO that it may be waiting for.

. ./thin-room.sh

check_target() {
  case $2 in "" | *[!0-9a-f-]*) exit 2 ;; esac
  case $1 in
    *[!A-Za-z0-9_.+/:@=-]* | */../* | */./* | *//*) exit 2 ;;
    /*/"$2.partial") ;;
    /dev/?*/?*/*) exit 2 ;;
    /dev/?*/?*) ;;
    *) exit 2 ;;
  esac
  case $3 in ext4 | xfs | block) ;; *) exit 2 ;; esac
  for each in "$4" "$5"; do
    case $each in "" | *[!0-9]* | 0?* | ????????????????????*) exit 2 ;; esac
  done
  case $6 in zeroes | dirty) ;; *) exit 2 ;; esac
}

is_wanted() {
  case $1 in /dev/*) [ ! -e "/var/lib/stowage/volumes/$2.cancel" ] ;; *) [ -e "$1" ] ;; esac
}

take_place() {
  IFS= read -r namespace || :
  case $namespace in *[!a-z0-9-]*) exit 2 ;; esac
  mkdir -p /run/stowage/fills && cd /run/stowage/fills || exit 1
  told=
  while :; do
    exec 8>taking
    flock 8
    place=0 free=0 own=0 found=
    while [ $place -lt 16 ]; do
      place=$((place + 1)) holder=
      if flock -n $place rm -f "$place.scratch"; then
        free=$((free + 1)) found=$place
      else
        read -r holder <$place
        [ "$holder" != "$namespace" ] || own=$((own + 1))
      fi
    done
    waits=namespace
    [ $free != 0 ] || waits=node
    [ -n "$namespace" ] || own=0
    [ $free -le $own ] || {
      exec 9>>"$found"
      ! flock -n 9 || {
        echo "$namespace" >"$found"
        exec 8>&-
        place=$found
        export place
        cd /
        [ -z "$told" ] || echo stowage-waiting over
        return
      }
    }
    exec 8>&-
    is_wanted "$1" "$2" || exit 1
    [ "$told" = $waits ] || echo "stowage-waiting $waits"
    told=$waits
    sleep 1
  done
}

go_inside() {
  umask 077
  mkdir -p /run/stowage/mounts || exit 1
  take_place "$2" "$3"
  case $2 in /dev/*) thin_room "$2" "$3" || exit 1 ;; esac
  # shellcheck disable=SC2016 # the inner shell expands it
  unshare --mount --pid --fork --kill-child --mount-proc --propagation slave sh -c 'eval "$text"' "$@"
  got=$?
  left_alone "$2"
  case $got,$2 in 0,* | *,/dev/*) ;; *) rm -f -- "$2" ;; esac
  exit $got
}

end_all() {
  kill -KILL -1
  for each in "$work"/*; do [ ! -p "$each" ] || : <>"$each"; done
}

begin_inside() {
  [ $$ = 1 ] || exit 2
  LC_ALL=C
  export LC_ALL
  work=/run/stowage/mounts
  mount -t tmpfs -o mode=700,nosuid,nodev,noexec,size=16m tmpfs "$work" || exit 1
  cd "$work" || exit 1
  read_secrets
  while sleep 1; do
    is_wanted "$1" "$2" || end_all
  done &
}
