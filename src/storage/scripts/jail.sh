#!/bin/sh
# Shell functions for scripts in a mount namespace of their own, with `$work`, a tmpfs that no other
# process has. The functions need `fail`.
#
# `make_jail NAME [PATH…]` makes `$work/NAME`, a root directory that shows programs and libraries
# read-only, and the given paths, if the node has them. `new` in it is an empty mount point.
#
# `enter NAME KIB CAPABILITIES PROGRAM …` replaces the shell by a program in such a root directory.
# The program has KIB of memory, only these capabilities (`,+chown,…`), and no way to gain more. It
# gets the standard streams and no other descriptor, and no environment. Only the root `net` has a
# network. User IDs differ from those of systemd and nobody, so no such program reaches another.
#
# `jailed CAPABILITIES PROGRAM …` runs a program in `$work/root` as root with only these
# capabilities: the kernel then protects everything else from malicious input. `nobody PROGRAM …`
# runs it as a user without any capability. Both have 1 GiB of memory.

show() {
  mount --bind "/$1" "$jail/$1" && mount -o "remount,bind,ro,nosuid$2" "$jail/$1" || fail "no private root directory could be created" 1
}

make_jail() {
  jail=$work/$1
  shift
  (umask 022 && mkdir "$jail" "$jail/new") &&
    mount --bind "$jail" "$jail" || fail "no private root directory could be created" 1
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
  mount -o remount,bind,ro,nosuid,nodev "$jail" || fail "no private root directory could be created" 1
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
