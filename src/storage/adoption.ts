import type { Guard, Step } from '../nodes/job.ts';
import { donePath, intentOf, removeRecords } from './records.ts';
import { oneLine, scriptArgv } from './snapshot/script.ts';
import type { Desired, FsType, Intent, Observed } from './types.ts';

/**
 * Gives the file system of another Volume, which nobody has mounted, another UUID: `stowage-adopt PATH UUID ext4|xfs OWNER`. PATH
 * is a device or a file, OWNER the UID of the Volume that adopts it. What is in the files stays.
 *
 * Run again after it was killed anywhere, it comes to the same end. Without `metadata_csum_seed` a new UUID changes the checksum
 * of each inode of an ext4, and one that is half done is what e2fsck -p gives up: so that comes first, for which the superblock
 * alone is written. xfs_admin writes a new log first; cut off there, neither it nor the kernel reads that one. That it was clean
 * is on record by then, so that nothing is lost with it. An XFS with `inprogress` is what is left of a mkfs.xfs that was killed.
 */
export const ADOPT_SCRIPT = oneLine(`
run() {
  fail() {
    echo "$1" >&2;
    exit 1;
  };
  uuid() { blkid -p -n ext4,xfs -o value -s UUID "$1"; };
  case $1 in *" "*) exit 2 ;; /dev/* | /*.partial) ;; *) exit 2 ;; esac;
  case $2$4 in *[!0-9a-f-]*) exit 2 ;; esac;
  [ -n "$2" ] && [ -n "$4" ] || exit 2;
  clean=/var/lib/stowage/adoptions/$4;
  case $#$3 in
    4ext4)
      e2fsck -f -p "$1";
      [ $? -le 1 ] || fail "e2fsck -p cannot mend the file system on $1. Look at it: e2fsck -f -n $1";
      case " $(tune2fs -l "$1" | sed -n "s/^Filesystem features: *//p") " in
        *" metadata_csum_seed "*) ;;
        *" metadata_csum "*) tune2fs -O metadata_csum_seed "$1" || exit 1 ;;
      esac;
      tune2fs -U "$2" "$1" || exit 1
      ;;
    4xfs)
      [ -e "$clean" ] || {
        [ "$(uuid "$1")" != "$2" ] || exit 0;
        [ "$(xfs_db -r -c "sb 0" -c "print inprogress" "$1")" = "inprogress = 0" ] || fail "the file system on $1 was never made to its end";
        case $(xfs_logprint -t "$1") in
          *"<CLEAN>"*) ;;
          *) fail "the log of the file system on $1 is dirty, for its node lost power: mount and unmount it once" ;;
        esac;
        mkdir -p "\${clean%/*}" && : >"$clean" && sync "$clean" "\${clean%/*}" "\${clean%/*/*}" || exit 1;
      };
      xfs_admin -U "$2" "$1";
      [ "$(uuid "$1")" = "$2" ] || { xfs_repair -L "$1" && xfs_admin -U "$2" "$1"; }
      ;;
    *) exit 2 ;;
  esac;
  sync "$1" && [ "$(uuid "$1")" = "$2" ] || fail "$1 did not get its UUID";
  rm -f "$clean";
};
run "$@"
`);

/**
 * The step that gives a file system a UUID, for an adoption or to take one back. Its guards, and the lock on a device, are the
 * caller's.
 * @param owner the UID of the Volume that adopts it
 */
export const giveUuid = (
  type: FsType,
  { uid, owner, path }: { uid: string; owner: string; path: string },
  guards: readonly Guard[],
): Step => ({
  name: `give the ${type} file system ${uid === owner ? "the Volume's UUID" : 'its earlier UUID'}`,
  argv: scriptArgv('stowage-adopt', ADOPT_SCRIPT, path, uid, type, owner),
  guards,
});

/** The record of an adoption: it keeps what the storage was called before anything of that is changed. */
export const adoptionOf = (
  desired: Desired,
  from: string,
  place: Pick<Intent, 'file' | 'device'>,
  { sizeBytes, fsType, signature }: { sizeBytes: bigint; fsType: string; signature: string },
): Intent => ({ ...intentOf(desired, place, sizeBytes), fsType, signature, adopt: from });

/** The UID that what is to be adopted has yet; undefined where nothing is, or it was. */
export const adoptsFrom = (
  { adopt, recorded }: Pick<Desired, 'adopt' | 'recorded'>,
  { done }: Pick<Observed, 'done'>,
): string | undefined => (recorded || done !== undefined ? undefined : adopt);

/** The UID of an adoption that was begun on the node and not ended; undefined where there is none. */
export const halfAdopted = (
  { recorded }: Pick<Desired, 'recorded'>,
  { intent, done }: Pick<Observed, 'intent' | 'done'>,
): string | undefined => (recorded || done !== undefined ? undefined : intent?.adopt);

/** A job may reach the node late: what is adopted may be in use by then. */
export const notAdopted = ({ uid, name }: Pick<Desired, 'uid' | 'name'>): Guard => ({
  argv: ['test', '!', '-e', donePath(uid)],
  expect: { exit: 0 },
  refusal: `the storage of ${name} was adopted meanwhile`,
});

/** Removes the node's records of the earlier Volume, by which its device would be another's. */
export const forgetEarlier = (from: string): Step[] =>
  removeRecords(from).map((step) => ({ ...step, name: `${step.name} of the earlier Volume` }));

/** A record of another adoption than the one that is wanted. */
export const otherAdoption = (from: string, { intent }: Pick<Observed, 'intent'>) =>
  intent === undefined || intent.adopt === from
    ? undefined
    : {
        refusal: `the node records for this Volume ${JSON.stringify(intent)}, and not that it adopts what was ${from}'s`,
        hint: 'Delete this Volume and create it again.',
      };
