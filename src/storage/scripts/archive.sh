#!/bin/sh
# Unpacks a tar archive into an empty file system:
#
#     stowage-archive FILE|DEVICE UID ext4|xfs OFFSET SIZE zeroes|dirty COMPRESSION ALLOWED SHA256|- URL|PATH|backup:UID:PATH
#
# ALLOWED is `plain`, `devices`, `setuid` or `devices+setuid`. What it is given is read once, and
# unpacked as it comes: nobody sees any of it before all was looked at, as the volume is not there
# yet. It ends with 3 for what trying again does not help.
#
# tar runs in a root of its own in which all but the new file system is read-only, and with the
# capabilities that it takes to give files their owners and modes: so names and links that lead
# elsewhere find nothing there, and the kernel lets it make no device (but 0:0, which anybody may
# make, as overlayfs does) and no file capabilities. What tar leaves out (`Removing leading`) it
# only mentions, and ends with 0: so whatever it says is a refusal. Afterwards the file system is
# searched for what tar may make as it is told: setuid and setgid programs. A folder's setgid hands
# down its group, and stays.
#
# Of extended attributes are unpacked those of users, file capabilities, and ACLs. In others a
# system keeps what is its own: labels of SELinux, notes of overlayfs. A tar ends with two blocks of
# zeros, by which is known that nothing was cut off where neither a length nor a checksum tells.

. ./fill-namespace.sh
. ./fetch.sh
. ./mount.sh
. ./content.sh

fetch() {
  open_source "$SOURCE"
  (exec >&4; tell_progress) &
  if [ "$SHA256" = - ]; then
    cat <&5 || exit 141
  else
    mkfifo "$work/copy" || exit 1
    sha256sum <"$work/copy" >"$work/sum" 5<&- &
    summing=$!
    tee "$work/copy" <&5 || exit 141
    wait $summing
  fi
  close_source
  [ "$SHA256" = - ] || [ "$(cut -c 1-64 <"$work/sum")" = "$SHA256" ] ||
    fail "the sha256 of $(shown "$SOURCE") is not $SHA256"
}

unpack() {
  dd bs=512 count=1 iflag=fullblock status=none >./head
  choose tar "$COMPRESSION" head
  printf %s "$refusal" >refusal
  [ -z "$refusal" ] || exit 3
  printf %s "$unpack" >unpack
  case $unpack in
    "") cat head - ;;
    *) cat head - 2>/dev/null | unpack_by "$unpack" ;;
  esac
}

untar() {
  capabilities=,+chown,+dac_override,+fowner,+fsetid
  case $ALLOWED in *devices*) capabilities=$capabilities,+mknod ;; esac
  case $ALLOWED in *setuid*) capabilities=$capabilities,+setfcap ;; esac
  jailed "$capabilities" tar -x -p --numeric-owner --delay-directory-restore --acls --xattrs \
    "--xattrs-include=user.*" --xattrs-include=security.capability \
    --warning=no-timestamp --warning=no-unknown-keyword -C /new -f - 2>&1
  echo "ended $?"
}

unpack_all() {
  mkfifo end
  head -c 1024 /dev/zero >zeros
  exec 4>&1
  said=$(
    {
      { tail -c 1024 <end | cmp -s - zeros || echo short >&3; } &
      { (exec 3>&-; fetch); echo "fetched $?" >&3; } |
        { (unpack 2>errors); echo "unpacked $?" >&3; } |
        tee end |
        untar |
        head -n 1 | sed "s/^/tar /" >&3
      wait
    } 3>&1
  )
  fetched=$(printf %s "$said" | sed -n "s/^fetched //p")
  case $fetched in 0 | 141) ;; *) exit "${fetched:-1}" ;; esac
  [ ! -s refusal ] || fail "$(cat refusal)"
  case $(printf %s "$said" | sed -n "s/^unpacked //p") in
    0 | 141) ;;
    *) fail "the archive is damaged, or its compression is not $(cat unpack): $(printable <errors)" ;;
  esac
  tar=$(printf %s "$said" | sed -n "s/^tar //p" | printable)
  case $tar in
    "ended 0") ;;
    *"Cannot mknod"*) fail "the archive has a device file, which it may not: $tar" ;;
    *security.capability*) fail "the archive has a program with capabilities, which it may not: $tar" ;;
    *"Removing leading "* | *"Member name contains"*) fail "the archive has names that lead out of the volume: $tar" ;;
    *"No space left"* | *"Wrote only"*) fail "the archive does not fit in the volume: $tar" ;;
    *) fail "the archive can not be unpacked: $tar" ;;
  esac
  case $said in *short*) fail "the archive has no end: it was cut off, or is no tar" ;; esac
}

refuse_found() {
  what=$1
  shift
  found=$(find root/new -xdev "$@" -printf "/%P" -quit)
  [ -z "$found" ] || fail "the archive has a $what, which it may not: $(printf %s "$found" | printable)"
}

case $0 in
  stowage-archive)
    [ $# = 10 ] || exit 2
    check_target "$1" "$2" "$3" "$4" "$5" "$6"
    case $3 in block) exit 2 ;; esac
    case $7 in auto | none | gzip | zstd | xz | bzip2) ;; *) exit 2 ;; esac
    case $8 in plain | devices | setuid | devices+setuid) ;; *) exit 2 ;; esac
    case $9 in -) ;; *[!0-9a-f]*) exit 2 ;; esac
    case ${10} in "" | *[!!-~]*) exit 2 ;; esac
    go_inside stowage-archive-inside "$@"
    ;;
  stowage-archive-inside)
    begin_inside "$1" "$2"
    TARGET=$1 CONTENT=$3 SIZE=$5 COMPRESSION=$7 ALLOWED=$8 SHA256=$9
    in_url "${10}"
    SOURCE=$source
    for tool in tar setpriv; do need $tool "an Archive"; done
    make_jail root
    mount_new "$TARGET" $work/root/new $CONTENT nosuid,nodev,noexec
    unpack_all
    case $ALLOWED in *devices*) ;; *) refuse_found "device file" "(" -type b -o -type c ")" ;; esac
    case $ALLOWED in *setuid*) ;; *) refuse_found "setuid or setgid program" -type f -perm /6000 ;; esac
    sync -f root/new && umount root/new || fail "what was unpacked could not be written to the volume" 1
    ;;
  *) exit 2 ;;
esac
