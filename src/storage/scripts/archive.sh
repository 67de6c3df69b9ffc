#!/bin/sh
# Unpacks a tar archive into an empty file system:
#
#     stowage-archive FILE|DEVICE UID ext4|xfs OFFSET SIZE zeroes|dirty COMPRESSION ALLOWED
#       SHA256|- URL|PATH|backup:UID:PATH
#
# ALLOWED is `plain`, `devices`, `setuid` or `devices+setuid`. The script reads the archive once,
# and unpacks it as it arrives. The volume does not exist before all checks, so that no user sees
# unchecked files. Exit status 3 means that another attempt does not help.
#
# tar runs in a root directory that is read-only except for the new file system, with only the
# capabilities for owners and modes. So names and links that lead elsewhere find nothing there.
# Unless ALLOWED permits them, the kernel also denies device files and file capabilities. Device 0:0
# is an exception: any user may make it, as overlayfs does. tar prints a message for each name that
# it changes (`Removing leading`), and exits with 0, so any message is a refusal. At the end, the
# script searches the file system for device files, and for setuid and setgid programs, unless
# ALLOWED permits them. The setgid bit of a directory only passes on its group, and stays.
#
# tar unpacks only these extended attributes: those of users, file capabilities, and ACLs. Others
# belong to a system: SELinux labels, records of overlayfs. A tar archive ends with two blocks of
# zeros, which prove that it is complete if neither a length nor a checksum does.

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
    *"Cannot mknod"*) fail "the archive has a device file, which is not allowed: $tar" ;;
    *security.capability*) fail "the archive has a program with capabilities, which is not allowed: $tar" ;;
    *"Removing leading "* | *"Member name contains"*) fail "the archive has names that lead out of the volume: $tar" ;;
    *"No space left"* | *"Wrote only"*) fail "the archive does not fit in the volume: $tar" ;;
    *) fail "the archive cannot be unpacked: $tar" ;;
  esac
  case $said in *short*) fail "the archive has no end: it was cut off, or is not a tar archive" ;; esac
}

refuse_found() {
  what=$1
  shift
  found=$(find root/new -xdev "$@" -printf "/%P" -quit) || fail "the unpacked files could not be searched for a $what" 1
  [ -z "$found" ] || fail "the archive has a $what, which is not allowed: $(printf %s "$found" | printable)"
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
    sync -f root/new && umount root/new || fail "the unpacked files could not be written to the volume" 1
    ;;
  *) exit 2 ;;
esac
