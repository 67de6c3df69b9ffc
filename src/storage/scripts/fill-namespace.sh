#!/bin/sh
# Shell functions by which a script that fills a volume checks what it is to fill, and runs in
# namespaces of its own: its mounts, and what it started, end with it, whatever it dies of. `text`
# is the script itself. What the node unmounts meanwhile it lets go of as well (propagation slave):
# it is not to keep the devices of other volumes busy.
#
# `check_target TARGET UID CONTENT OFFSET SIZE zeroes|dirty`: sudo compares arguments joined by
# spaces, so each is looked at. Of a file that was refused nothing is left.
#
# `is_wanted TARGET UID`: whoever takes the file away that is being made ends this, for it is of no
# use to anybody then. A device can't be taken away while it is open, so that is said by
# `cancelPath`.
#
# `take_place TARGET UID` waits for one of the 16 places on this node, as for pods: each has curl,
# what unpacks, and maybe qemu-img. The first line of standard input names the namespace that it is
# for; none is for volumes that an administrator made. A namespace takes a place only if more are
# free than it has, so that others always find one. A place is a lock, which ends with whoever has
# it. While it waits it says so (populate/progress.ts). A thin pool is looked at after that wait
# (thin-room.sh).
#
# `begin_inside TARGET UID` has all end once it is not wanted any more. `end_all` does so: signals
# to all reach what is in the namespace, and never this shell, which is its first process: it sees
# what it waits for fail, and where it waits for the other end of a FIFO it is given one.

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
