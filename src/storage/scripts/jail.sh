#!/bin/sh
# Shell functions for scripts that run in a mount namespace of their own, with `$work`, a tmpfs that
# nobody else has. They need `fail`.
#
# `make_jail NAME [PATH…]` makes `$work/NAME`, a root that shows programs and libraries, read-only,
# and the paths named, as far as the node has them. `new` in it is empty, for what is to be mounted
# there.
#
# `enter NAME KIB CAPABILITIES PROGRAM …` replaces the shell by a program in such a root, with KIB
# of memory, these capabilities alone (`,+chown,…`), and no way to gain more. It gets standard
# streams and no other descriptor, no environment, and a network in the root `net` alone. Users have
# numbers beside those that systemd and nobody have, so that none of these programs reaches another.
#
# `jailed CAPABILITIES PROGRAM …` runs a program in `$work/root` as root with those capabilities
# alone, so that the kernel keeps it from all else, whatever it is given to read. `nobody PROGRAM …`
# is the same as a user that has none. Both have 1 GiB of memory.

show() {
  mount --bind "/$1" "$jail/$1" && mount -o "remount,bind,ro,nosuid$2" "$jail/$1" || fail "no private root could be made" 1
}

make_jail() {
  jail=$work/$1
  shift
  (umask 022 && mkdir "$jail" "$jail/new") &&
    mount --bind "$jail" "$jail" || fail "no private root could be made" 1
  for part in usr bin sbin lib lib32 lib64 libx32; do
    if [ -h "/$part" ]; then
      ln -s "$(readlink "/$part")" "$jail/$part"
    elif [ -d "/$part" ]; then
      mkdir -m 0755 "$jail/$part" && show "$part" ,nodev
    fi
  done
  for part; do
    [ -e "/$part" ] || continue
    (umask 022 && mkdir -p "$jail/${part%/*}" && if [ -d "/$part" ]; then mkdir -p "$jail/$part"; else : >"$jail/$part"; fi)
    if [ -c "/$part" ]; then show "$part" ,noexec; else show "$part" ,nodev,noexec; fi
  done
  mount -o remount,bind,ro,nosuid,nodev "$jail" || fail "no private root could be made" 1
}

enter() {
  exec 3<&- 4<&- 5<&- 6<&- 7<&- 8<&- 9<&-
  ulimit -v "$2"
  enter_root=$work/$1 enter_bound=-all$3
  shift 3
  set -- chroot "$enter_root" setpriv --no-new-privs --inh-caps=-all "--bounding-set=$enter_bound" "$@"
  case $enter_root in */net) ;; *) set -- unshare --net --ipc "$@" ;; esac
  exec env -i LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

jailed() (enter root 1048576 "$@")

nobody() { jailed "" --reuid=65534 --regid=65534 --clear-groups "$@"; }
