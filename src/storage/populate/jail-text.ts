/**
 * Shell functions for scripts that run in a mount namespace of their own, with `$work`, a tmpfs that nobody else has:
 *
 * - `make_jail` makes `$work/root`, what a program gets to see as `/`: programs and libraries, read-only, and `new`, where a file
 *   system is to be mounted.
 * - `jailed CAPABILITIES PROGRAM …` runs a program there as root with those capabilities alone (`,+chown,…`), so that the kernel
 *   keeps it from all else, whatever it is given to read. `nobody PROGRAM …` is the same as a user that has none. Both have
 *   1 GiB of memory at most.
 */
export const JAIL_TEXT = `
make_jail() {
  mkdir -m 0755 "$work/root" "$work/root/new" &&
    mount --bind "$work/root" "$work/root" || fail "no private root could be made" 1;
  for part in usr bin sbin lib lib32 lib64 libx32; do
    if [ -h "/$part" ]; then
      ln -s "$(readlink "/$part")" "$work/root/$part";
    elif [ -d "/$part" ]; then
      mkdir -m 0755 "$work/root/$part" &&
        mount --bind "/$part" "$work/root/$part" &&
        mount -o remount,bind,ro,nosuid,nodev "$work/root/$part" || fail "no private root could be made" 1;
    fi;
  done;
  mount -o remount,bind,ro,nosuid,nodev "$work/root" || fail "no private root could be made" 1;
};
jailed() (
  ulimit -v 1048576;
  set -- "--bounding-set=-all$@";
  exec chroot "$work/root" setpriv --no-new-privs --inh-caps=-all "$@"
);
nobody() { jailed "" --reuid=65534 --regid=65534 --clear-groups "$@"; };
`;
