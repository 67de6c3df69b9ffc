#!/bin/sh
# Takes a thin snapshot of a thin logical volume of Stowage: `stowage-thin CONFIG VG/ORIGIN
# ORIGINS-UID NAME UID r|rw`. CONFIG makes LVM see only the disks of the group. The snapshot is
# inactive, has the activation skip flag, and carries the unfinished tag.
#
# LVM suspends the origin meanwhile, which freezes a mounted file system, and the pool with all its
# volumes. An lvcreate that is killed or stopped leaves them suspended. `stowage-thin-hold`, in a
# session of its own, gives lvcreate 8 seconds, and resumes the devices if lvcreate was killed.
# `stowage-thin` does so if the other process was killed. If lvcreate fails by itself, it resumes
# the devices, and another LVM command may be running by then. Resuming a device that is not
# suspended changes nothing. A failed lvcreate never becomes a snapshot.

double() { printf %s "$1" | sed s/-/--/g; }

thaw() {
  for each in $devices; do
    case $(dmsetup info -c --noheadings -o suspended "$each" 2>/dev/null) in
      Suspended) dmsetup resume --noudevsync "$each" ;;
    esac
  done
  forget "$vg_name/$3" "$4"
}

. ./forget-thin.sh

case $0 in
  stowage-thin)
    config=$1
    shift
    case $1 in "" | -* | */-* | */*/* | *[!A-Za-z0-9_+./-]*) exit 2 ;; ?*/?*) ;; *) exit 2 ;; esac
    case $2 in "" | *[!0-9a-f-]*) exit 2 ;; esac
    case $3 in "" | [!a-z0-9]* | *[!a-z0-9.-]*) exit 2 ;; esac
    case $4 in "" | *[!0-9a-f-]*) exit 2 ;; esac
    case $#$5 in 5r | 5rw) ;; *) exit 2 ;; esac
    pool=$(
      lvs --config "$config" --noheadings -o pool_lv --select "segtype=thin&&lv_tags={stowage.dev/uid=$2}" "$1" |
        sed -n "s/^ *\([^ ]\{1,\}\) *$/\1/p"
    )
    [ -n "$pool" ] || {
      echo "$1 is not a thin volume with the UID $2" >&2
      exit 1
    }
    vg_name=${1%/*}
    vg=$(double "$vg_name")
    pool=$vg-$(double "$pool")
    devices="$pool-tpool $pool $vg-$(double "${1#*/}")"
    export config devices vg vg_name
    # shellcheck disable=SC2016 # the inner shell expands it
    setsid sh -c 'eval "$text"' stowage-thin-hold "$@" </dev/null &
    wait $!
    got=$?
    [ $got -lt 124 ] || thaw "$@"
    exit $got
    ;;
  stowage-thin-hold)
    trap "" HUP TERM INT PIPE
    timeout -s KILL 8 lvcreate --config "$config" --snapshot --setactivationskip y --permission "$5" --name "$3" --addtag "stowage.dev/unfinished=$4" "$1"
    got=$?
    # A timeout that killed has the status 137, or 124 in uutils coreutils (0.0.17 to 0.12).
    [ $got -lt 124 ] || thaw "$@"
    exit $got
    ;;
esac
