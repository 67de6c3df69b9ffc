#!/bin/sh
# Packs the content of a snapshot, and stores it elsewhere:
#
#     stowage-backup SNAPSHOT UID ext4|xfs|block OFFSET SIZE URL|PATH
#     stowage-backup cancel UID
#     stowage-backup leave UID URL|PATH
#
# A file system is mounted read-only, without its log, where no other process sees it, and becomes a
# tar archive. SIZE bytes of a device from OFFSET are taken as they are. zstd compresses both.
# `cancel` ends a running backup. `leave` removes what an attempt left on the node, but never an
# archive.
#
# A path must be in a directory that the node's root lists for backups. Directories for other
# sources do not serve: any Image may read files there, and would take an archive for an image. The
# file is made under another name, and gets its own once it is whole, unless a file has that name by
# then. A record beside the file has the UID of the Backup and the sha256, by which the node knows
# the owner.
#
# A URL gets a PUT, without redirects. The body ends only after everything was packed successfully,
# so that a broken connection makes no complete archive on the server. The server determines what is
# at the URL after a failure.
#
# Afterwards /run/stowage/backups/UID has the size in bytes and the sha256. A file keeps its other
# name until `leave`. If a reboot removes the result before it was read, a file with both names is
# known to be whole, and is read once more.

. ./fill-namespace.sh
. ./fetch.sh
. ./mount.sh
. ./backup-to.sh
. ./unwritten.sh

is_wanted() { [ ! -e "/run/stowage/backups/$2.cancel" ]; }

go_there() {
  folder=${TO%/*} name=${TO##*/}
  cd -P -- "${folder:-/}" 2>/dev/null || fail "there is no directory ${folder:-/} on this node" 1
  there=$(pwd -P)
  case $name in .*.stowage) fail "$TO has the name of a record: choose another one" ;; esac
  is_listed backups "${there%/}/$name" || fail "$TO is in no directory that $config on this node lists: add a line backups DIRECTORY there"
  partial=./.$name.$UUID.partial
}

record() {
  printf "%s\n" "$UUID $1" >"./.$name.$UUID.record" &&
    sync "./.$name.$UUID.record" &&
    mv -T -- "./.$name.$UUID.record" "$(record_of "./$name")" &&
    sync . || fail "the owner of the archive $TO could not be recorded beside it" 1
}

is_free() { [ ! -e "./$name" ] && [ ! -h "./$name" ] || fail "$TO already exists on this node, and is not replaced"; }

begin_put() {
  case $TO in
    /*)
      go_there
      [ ! -h "./$name" ] && [ ! -h "$partial" ] && [ "./$name" -ef "$partial" ] && made=yes && return
      rm -f -- "$partial"
      is_free
      floor=$(($(df -B1 --output=size . | tail -n 1) / 20))
      [ "$floor" -le 1073741824 ] || floor=1073741824
      floor=$((floor + $(unwritten .)))
      has_room || fail "$full" 1
      set -C
      command exec 8>"$partial" || fail "no file can be created in $folder" 1
      set +C
      ;;
    *)
      may_send "$TO" || exit $?
      check_url "$TO"
      address=${addresses%%[!0-9a-f.:]*}
      case $address in *:*) address="[$address]" ;; esac
      configure "$TO" "$authorization"
      mkfifo "$work/body"
      { become_curl --speed-limit 1 --speed-time 600 --connect-to "::$address:$port" -T - -o /dev/null -w "%{http_code}"; } \
        <"$work/body" >"$work/status" 2>"$work/said" &
      curl_pid=$!
      exec 8>"$work/body"
      ;;
  esac
}

give_up() {
  case $TO in
    /*) rm -f -- "$partial" ;;
    *) kill -s KILL "$curl_pid" 2>/dev/null ;;
  esac
  fail "$@"
}

end_put() {
  case $TO in
    /*)
      exec 8>&-
      sync "$partial" || give_up "$TO could not be written" 1
      ln -T -- "$partial" "./$name" 2>/dev/null ||
        { mv -n -T -- "$partial" "./$name" && [ ! -e "$partial" ]; } || give_up "$TO appeared meanwhile, and is not replaced"
      record "${result#* }"
      ;;
    *)
      exec 8>&-
      wait "$curl_pid" || fail "$where could not be reached, or the connection broke: $(reason_of)" 1
      status=$(cat "$work/status")
      case $status in
        2??) ;;
        3??) fail "$where: the server answered $status, and redirects are not followed" ;;
        *) fail "$where: the server answered $status" 1 ;;
      esac
      ;;
  esac
}

has_room() {
  case $TO in /*) ;; *) return 0 ;; esac
  full="the file system of $folder on this node is too full for the archive, which must leave $floor bytes free, including those that files of volumes may still take"
  [ "$(free_in .)" -ge $((floor + 16777216)) ]
}

in_parts() {
  came=64
  while [ "$came" = 64 ]; do
    has_room || return 1
    dd bs=256K count=64 iflag=fullblock status=noxfer 2>"$here/parts" || return 2
    came=$(sed -n "s/+.* records in//p" "$here/parts")
  done
}

pack() {
  case $CONTENT in
    block) dd if="$SNAPSHOT" bs=1M iflag=skip_bytes,count_bytes,fullblock skip="$OFFSET" count="$SIZE" status=none ;;
    *)
      jailed ,+dac_read_search tar -c --numeric-owner --acls --xattrs "--xattrs-include=user.*" \
        --xattrs-include=security.capability --sparse --one-file-system --warning=no-file-ignored -C /new -f - .
      ;;
  esac
}

pack_all() {
  here=$work
  mkfifo "$here/sum" "$here/count"
  said=$(
    {
      (exec 8>&-; echo "sum $(sha256sum <"$here/sum" | cut -c 1-64)" >&3) &
      (exec 8>&-; echo "count $(wc -c <"$here/count")" >&3) &
      { exec 8>&-; pack 2>"$here/packing"; echo "packed $?" >&3; } |
        { exec 8>&-; nobody zstd -q 2>"$here/compressing"; echo "compressed $?" >&3; } |
        { exec 8>&-; in_parts; echo "parted $?" >&3; } |
        { tee "$here/sum" "$here/count" >&8 2>"$here/writing"; echo "written $?" >&3; }
      wait
    } 3>&1
  )
  value() { printf %s "$said" | sed -n "s/^$1 //p"; }
  [ "$(value parted)" != 1 ] || give_up "$full" 1
  case $(value packed) in
    0) [ ! -s "$here/packing" ] || give_up "the snapshot was not packed completely: $(printable <"$here/packing")" ;;
    141) ;;
    *) give_up "the snapshot could not be packed: $(printable <"$here/packing")" 1 ;;
  esac
  case $(value compressed) in
    0 | 141) ;;
    *) give_up "the snapshot could not be compressed: $(printable <"$here/compressing")" 1 ;;
  esac
  case $TO,$(value written),$(value packed),$(value parted) in
    *,0,0,0) ;;
    /*) give_up "$TO could not be written: $(printable <"$here/writing")" 1 ;;
    *) exec 8>&-; wait "$curl_pid"; fail "the connection to $where broke, the server answered $(cat "$work/status"): $(reason_of)" 1 ;;
  esac
  result="$(value count) $(value sum)"
}

case $0 in
  stowage-backup)
    case $#$1 in
      2cancel)
        case $2 in "" | *[!0-9a-f-]*) exit 2 ;; esac
        mkdir -p /run/stowage/backups && : >"/run/stowage/backups/$2.cancel"
        exit
        ;;
      3leave)
        UUID=$2 TO=$3
        case $2 in "" | *[!0-9a-f-]*) exit 2 ;; esac
        case $3 in *[!!-~]* | */) exit 2 ;; /*) ;; http://?* | https://?*) ;; *) exit 2 ;; esac
        rm -f -- "/run/stowage/backups/$2" "/run/stowage/backups/$2.new" "/run/stowage/backups/$2.cancel"
        case $3 in /*) (go_there && rm -f -- "$partial" "./.$name.$UUID.record") 2>/dev/null ;; esac
        exit 0
        ;;
      6/*) ;;
      *) exit 2 ;;
    esac
    case $1 in *[!A-Za-z0-9_.+/:@=-]* | */../* | */./* | *//*) exit 2 ;; /*/snapshots/*) ;; *) exit 2 ;; esac
    case $2 in "" | *[!0-9a-f-]*) exit 2 ;; esac
    case $3 in ext4 | xfs | block) ;; *) exit 2 ;; esac
    for each in "$4" "$5"; do case $each in "" | *[!0-9]* | 0?* | ????????????????????*) exit 2 ;; esac; done
    case $6 in *[!!-~]* | */) exit 2 ;; /*) ;; http://?* | https://?*) ;; *) exit 2 ;; esac
    [ ! -e "/run/stowage/backups/$2" ] || exit 0
    umask 077
    mkdir -p /run/stowage/mounts /run/stowage/backups || exit 1
    take_place "$1" "$2"
    # shellcheck disable=SC2016 # the inner shell expands it
    unshare --mount --pid --fork --kill-child --mount-proc --propagation slave sh -c 'eval "$text"' stowage-backup-inside "$@"
    got=$?
    left_alone "$1"
    exit $got
    ;;
  stowage-backup-inside)
    begin_inside "$1" "$2"
    SNAPSHOT=$1 UUID=$2 CONTENT=$3 OFFSET=$4 SIZE=$5
    [ $SIZE != 0 ] || SIZE=$(stat -L -c %s -- "$SNAPSHOT")
    in_url "$6"
    TO=$source where=$(shown "$source")
    case $TO in /*) ;; *) prepare_curl "a backup to a URL" ;; esac
    for tool in tar zstd setpriv; do need $tool "a Backup"; done
    make_jail root
    case $CONTENT in
      ext4) mount_new "$SNAPSHOT" $work/root/new ext4 ro,noload,nosuid,nodev,noexec -r ;;
      xfs) mount_new "$SNAPSHOT" $work/root/new xfs ro,norecovery,nouuid,nosuid,nodev,noexec -r ;;
    esac
    made=
    begin_put
    if [ -n "$made" ]; then
      sum=$(sha256sum <"./$name" | cut -c 1-64)
      [ ${#sum} = 64 ] || fail "$TO could not be read" 1
      result="$(wc -c <"./$name") $sum"
      record "$sum"
    else
      pack_all
      end_put
    fi
    printf "%s\n" "$result" >"/run/stowage/backups/$UUID.new" && mv -T "/run/stowage/backups/$UUID.new" "/run/stowage/backups/$UUID"
    ;;
  *) exit 2 ;;
esac
