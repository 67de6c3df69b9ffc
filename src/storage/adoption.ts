import type { Guard, Step } from '../nodes/job.ts';
import { donePath, intentOf, intentPath, removeRecords } from './records.ts';
import { oneLine, scriptArgv } from './snapshot/script.ts';
import type { Desired, FsType, Intent, Observed, Refusal } from './types.ts';

/**
 * Gives the file system of another Volume, which nobody has mounted, another UUID: `stowage-adopt PATH UUID ext4|xfs OWNER`. PATH
 * is a device or a file, OWNER the UID of the Volume that adopts it. What is in the files stays.
 *
 * Run again after it was killed anywhere, it comes to the same end. A record of the owner says that a change was begun; without
 * one, what has the UUID is left as it is, and what is damaged, or larger than what it is in, is refused before it is written to.
 *
 * Without `metadata_csum_seed` a new UUID changes the checksum of each inode of an ext4, and one that is half done is what e2fsck
 * -p gives up: so that comes first, for which the superblock alone is written. What a journal that waits to be replayed mends is
 * not known before it is, and an e2fsck -p that was killed leaves what the next one mends, on record: e2fsck -n judges neither.
 *
 * A new UUID of an XFS writes a new log first, then each super block. Cut off there, the log is zero, or zero at its end in a later
 * cycle than the first one, or has another UUID than the super block: the kernel leaves none of these, and mounts but the first.
 * Such a log holds nothing that is not in its place, and is made anew; one that somebody wrote to meanwhile is dirty, and refused.
 * xfs_repair makes it, in a cycle after those that the metadata name. Of a log with another UUID it would take that, so it is
 * shown zeroes. An XFS with `inprogress` is what is left of a mkfs.xfs that was killed. xfs_admin has its shell read the path.
 */
export const ADOPT_SCRIPT = oneLine(`
run() {
  fail() {
    echo "$1" >&2;
    exit 1;
  };
  uuid() { blkid -p -n ext4,xfs -o value -s UUID "$path"; };
  record() { mkdir -p "\${1%/*}" && : >"$1" && sync "$1" "\${1%/*}" "\${1%/*/*}" || exit 1; };
  fits() {
    case \${1:-x}\${2:-x} in *[!0-9]*) fail "the super block on $path cannot be read" ;; esac;
    [ $(($1 * $2)) -le "$size" ] || fail "the file system on $path has $(($1 * $2)) bytes, and $path $size: the rest of it is missing";
  };
  case $1 in *" "*) exit 2 ;; /dev/* | /*.partial) ;; *) exit 2 ;; esac;
  case $2$4 in *[!0-9a-f-]*) exit 2 ;; esac;
  case $#$3 in 4ext4 | 4xfs) ;; *) exit 2 ;; esac;
  [ -n "$2" ] && [ -n "$4" ] || exit 2;
  path=$1;
  begun=/var/lib/stowage/adoptions/$4;
  judged=$begun.judged;
  [ -e "$begun" ] || [ "$(uuid)" != "$2" ] || { rm -f "$judged"; exit 0; };
  if [ -b "$1" ]; then size=$(blockdev --getsize64 "$1"); else size=$(stat -L -c %s "$1"); fi || exit 1;
  case $3 in
    ext4)
      facts=$(tune2fs -l "$1") || exit 1;
      fact() { printf "%s\\n" "$facts" | sed -n "s/^$1: *//p"; };
      fits "$(fact "Block count")" "$(fact "Block size")";
      [ -e "$judged" ] || case " $(fact "Filesystem features") " in
        *" needs_recovery "*) ;;
        *) e2fsck -f -n "$1" || fail "the file system on $1 is damaged, and was left as it is. Look at it: e2fsck -f -n $1" ;;
      esac;
      record "$judged";
      e2fsck -f -p "$1";
      [ $? -le 1 ] || fail "e2fsck -p cannot mend the file system on $1. Look at it: e2fsck -f -n $1";
      record "$begun";
      case " $(fact "Filesystem features") " in
        *" metadata_csum_seed "*) ;;
        *" metadata_csum "*) tune2fs -O metadata_csum_seed "$1" || exit 1 ;;
      esac;
      tune2fs -U "$2" "$1" || exit 1
      ;;
    xfs)
      fact() { xfs_db -r -c "sb 0" -c "print $1" "$path" | sed -n "s/^$1 = //p"; };
      fits "$(fact dblocks)" "$(fact blocksize)";
      [ "$(fact inprogress)" = 0 ] || fail "the file system on $1 was never made to its end";
      log=$(xfs_logprint -t "$1" 2>&1);
      case $log in
        *"<DIRTY>"*) fail "the log of the file system on $1 is dirty, for its node lost power: mount and unmount it once" ;;
        *"<CLEAN>"*) ;;
        *"(last==0, first!=1)"* | *"mismatched uuid in log"*) [ -e "$begun" ] || fail "the log of the file system on $1 cannot be read" ;;
        *) fail "the log of the file system on $1 cannot be read" ;;
      esac;
      again=;
      [ ! -e "$begun" ] || again=yes;
      record "$begun";
      case $log in
        *"totally zeroed log"* | *"(last==0, first!=1)"* | *"mismatched uuid in log"*)
          again=yes;
          start=$(fact logstart);
          [ "\${start:-0}" != 0 ] || fail "the file system on $1 has its log elsewhere";
          start=$(xfs_db -r -c "sb 0" -c "convert fsblock $start byte" "$1" | sed -n "s/.*(\\([0-9]*\\))$/\\1/p");
          block=$(fact blocksize);
          [ -n "$start" ] || exit 1;
          dd if=/dev/zero of="$1" bs="$block" seek=$((start / block)) count="$(fact logblocks)" conv=notrunc,fsync || exit 1
          ;;
      esac;
      [ -z "$again" ] || xfs_repair "$1" || exit 1;
      said=$(xfs_db -x -p xfs_admin -c "uuid $2" "$1" 2>&1);
      echo "$said";
      case $said in *"failed to"* | *"check failed"*) fail "$1 did not get its UUID in each part of the file system" ;; esac
      ;;
  esac;
  sync "$1" && [ "$(uuid)" = "$2" ] || fail "$1 did not get its UUID";
  rm -f "$begun" "$judged";
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

/**
 * Refuses to forget an adoption that has not come to its end while its storage is away: without the records nobody would know
 * what half of it was done, nor find what has neither name.
 * @param what is not there
 */
export const putBackAway = (
  { uid, name }: Pick<Desired, 'uid' | 'name'>,
  what: string,
): Refusal => ({
  refusal: `an adoption that was begun is to be taken back, and ${what}`,
  hint: `Bring it back, and it gets the UID that it had. If it is gone for good, end the record of it on the node: rm ${intentPath(uid)}. If the node is gone, too: stowage delete volume ${name} --forget-node`,
  passing: true,
});
