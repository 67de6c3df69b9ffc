import { IN_NAMESPACE, MOUNTS } from '../mount-namespace.ts';
import { oneLine } from '../snapshot/script.ts';

/**
 * LVM writes down that there is to be a thin volume, has the pool make it, and has the pool count that. Killed between the last
 * two, it can do nothing more in the pool: it tells it to make what is there. So that is deleted in the pool, where the pool
 * has not counted it and LVM says that it is of what is not finished. A pool's device is found by its name, which a group on a Volume may have taken first, so it
 * counts only with the group's UUID.
 */
const FORGET = `
  tpool() {
    case $(dmsetup info -c --noheadings -o uuid "$vg-$(double "$1")-tpool" 2>/dev/null) in
      "LVM-$(printf %s "$2" | sed s/-//g)"*-tpool) echo "$vg-$(double "$1")-tpool" ;;
    esac;
  };
  forget() {
    set -- $(
      lvs --config "$config" --noheadings --separator , -o thin_id,transaction_id,pool_lv,vg_uuid --select "segtype=thin&&lv_tags={stowage.dev/unfinished=$2}" "$1" 2>/dev/null |
        sed -n "s/^ *\\([0-9]\\{1,\\}\\),\\([0-9]\\{1,\\}\\),\\([^ ,]\\{1,\\}\\),\\([^ ,]\\{1,\\}\\) *$/\\1 \\2 \\3 \\4/p"
    );
    [ $# = 4 ] || return 0;
    set -- "$1" "$2" "$(tpool "$3" "$4")";
    [ -n "$3" ] || return 0;
    [ "$(dmsetup status --noflush "$3" | cut -d " " -f 4)" != "$2" ] || dmsetup message "$3" 0 "delete $1" 2>/dev/null || return 0;
  };
`;

/**
 * Takes a thin snapshot of a thin logical volume of Stowage's: `stowage-thin CONFIG VG/ORIGIN ORIGINS-UID NAME UID r|rw`,
 * where LVM is told CONFIG, which has it see the disks of the group alone. It is
 * not active, is left out wherever all of a group are activated, and carries the tag of what is not finished yet.
 *
 * LVM suspends the origin for it, which freezes a file system that is mounted, and its pool with all that is in it. An lvcreate
 * that dies or is stopped meanwhile leaves them so. `stowage-thin-hold`, in a session of its own, gives it 8 seconds in all, and
 * resumes them when it was killed; so does `stowage-thin` when the other one was. What LVM itself gives up it resumes, and another
 * of its commands may be at work by then. To resume what is not suspended changes nothing, and what did not end well never
 * becomes a snapshot.
 */
export const THIN_SCRIPT = oneLine(`
run() {
  double() { printf %s "$1" | sed s/-/--/g; };
  thaw() {
    for each in $devices; do
      case $(dmsetup info -c --noheadings -o suspended "$each" 2>/dev/null) in
        Suspended) dmsetup resume --noudevsync "$each" ;;
      esac;
    done;
    forget "$vg_name/$3" "$4";
  };
${FORGET}
  case $0 in
    stowage-thin)
      config=$1;
      shift;
      case $1 in "" | -* | */-* | */*/* | *[!A-Za-z0-9_+./-]*) exit 2 ;; ?*/?*) ;; *) exit 2 ;; esac;
      case $2 in "" | *[!0-9a-f-]*) exit 2 ;; esac;
      case $3 in "" | [!a-z0-9]* | *[!a-z0-9.-]*) exit 2 ;; esac;
      case $4 in "" | *[!0-9a-f-]*) exit 2 ;; esac;
      case $#$5 in 5r | 5rw) ;; *) exit 2 ;; esac;
      pool=$(
        lvs --config "$config" --noheadings -o pool_lv --select "segtype=thin&&lv_tags={stowage.dev/uid=$2}" "$1" |
          sed -n "s/^ *\\([^ ]\\{1,\\}\\) *$/\\1/p"
      );
      [ -n "$pool" ] || {
        echo "$1 is no thin volume with the UID $2" >&2;
        exit 1;
      };
      vg_name=\${1%/*};
      vg=$(double "$vg_name");
      pool=$vg-$(double "$pool");
      devices="$pool-tpool $pool $vg-$(double "\${1#*/}")";
      export config devices vg vg_name;
      setsid sh -c "$text" stowage-thin-hold "$@" </dev/null &
      wait $!;
      got=$?;
      [ $got -le 128 ] || thaw "$@";
      exit $got
      ;;
    stowage-thin-hold)
      trap "" HUP TERM INT PIPE;
      timeout -s KILL 8 lvcreate --config "$config" --snapshot --setactivationskip y --permission "$5" --name "$3" --addtag "stowage.dev/unfinished=$4" "$1";
      got=$?;
      [ $got -le 128 ] || thaw "$@";
      exit $got
      ;;
  esac;
};
run "$@"
`);

/**
 * Gives the file system in a thin logical volume that is not finished its UUID, and has it take all of the volume:
 * `stowage-lvm-uuid CONFIG VG/NAME UID`. With `leave` it only takes away what an earlier one left that was cut off.
 *
 * udev is never to see it with the UUID of its original. No option of LVM keeps udev from reading what LVM activates, so
 * that is not activated: the thin volume gets a device with a layer in its name, which LVM's rules for udev (56-lvm.rules,
 * 11-dm-lvm.rules) take for an inner one, and read not. blkid reads none of those either, so the file system's own programs
 * tell what is there. `stowage-lvm-inside` mounts an XFS in a mount namespace of its own; `leave` also unmounts what an earlier version left.
 */
export const LVM_UUID_SCRIPT = oneLine(`
run() {
  ${IN_NAMESPACE}
  case $0 in
    stowage-lvm-uuid) ;;
    stowage-lvm-inside)
      [ $$ = 1 ] || exit 2;
      mount -t xfs -o nouuid,nosuid,nodev,noexec "$1" ${MOUNTS} && xfs_growfs ${MOUNTS} && umount ${MOUNTS};
      exit
      ;;
    *) exit 2 ;;
  esac;
  [ $# -ge 3 ] || exit 2;
  double() { printf %s "$1" | sed s/-/--/g; };
  uuid() {
    case $type in
      ext4) tune2fs -l "$device" | sed -n "s/^Filesystem UUID: *//p" ;;
      xfs) xfs_admin -u "$device" | sed -n "s/^UUID = *//p" ;;
    esac;
  };
  leave() {
    ! mountpoint -q "$place" || umount "$place" || return 1;
    [ ! -d "$place" ] || rmdir "$place";
    ! dmsetup info "$inner" >/dev/null 2>&1 || dmsetup remove --retry "$inner";
  };
${FORGET}
  config=$1;
  shift;
  case $1 in "" | -* | */-* | */*/* | *[!A-Za-z0-9_+./-]*) exit 2 ;; ?*/?*) ;; *) exit 2 ;; esac;
  case $2 in "" | *[!0-9a-f-]*) exit 2 ;; esac;
  case $#$3 in 2 | 3leave) ;; *) exit 2 ;; esac;
  umask 077;
  vg=$(double "\${1%/*}");
  inner=$vg-$(double "\${1#*/}")-stowage;
  place=${MOUNTS}/$2;
  leave || exit 1;
  [ -z "$3" ] || {
    forget "$1" "$2";
    exit 0;
  };
  facts=$(
    lvs --config "$config" --noheadings --units s --nosuffix --separator , -o thin_id,lv_size,pool_lv,vg_uuid,lv_uuid --select "segtype=thin&&lv_tags={stowage.dev/unfinished=$2}&&lv_attr=~^V...-" "$1" |
      sed -n "s/^ *\\([0-9]\\{1,\\},[0-9]\\{1,\\},[^ ,]\\{1,\\},[^ ,]\\{1,\\},[^ ,]\\{1,\\}\\) *$/\\1/p"
  );
  [ -n "$facts" ] || {
    echo "$1 is no thin volume that is made for $2 and not active" >&2;
    exit 1;
  };
  oldifs=$IFS;
  IFS=,;
  set -- "$1" "$2" $facts;
  IFS=$oldifs;
  pool=$(tpool "$5" "$6");
  [ -n "$pool" ] || {
    echo "the thin pool of $1 is not active, or another group has its name" >&2;
    exit 1;
  };
  pool=$(dmsetup info -c --noheadings --separator : -o major,minor "$pool") || exit 1;
  dmsetup create "$inner" --uuid "LVM-$(printf %s "$6$7" | sed s/-//g)-stowage" --table "0 $4 thin $pool $3" || exit 1;
  device=/dev/$(dmsetup info -c --noheadings -o blkdevname "$inner");
  type=;
  if tune2fs -l "$device" >/dev/null 2>&1; then type=ext4; elif xfs_admin -u "$device" >/dev/null 2>&1; then type=xfs; fi;
  whole=;
  case $type in
    ext4)
      e2fsck -f -p "$device";
      [ $? -le 1 ] && resize2fs "$device" && tune2fs -U "$2" "$device" && whole=yes
      ;;
    xfs)
      (in_namespace stowage-lvm-inside "$device") && xfs_admin -U "$2" "$device" && whole=yes
      ;;
    *) echo "$1 holds neither an ext4 nor an XFS" >&2 ;;
  esac;
  [ -n "$whole" ] && sync "$device" && [ "$(uuid)" = "$2" ] || whole=;
  leave && [ -n "$whole" ];
};
run "$@"
`);
