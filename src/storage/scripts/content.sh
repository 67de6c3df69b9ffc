#!/bin/sh
# Shell functions that recognize the content of a source by its first 512 bytes. The functions need
# `jail.sh`.
#
# `kind_of FILE` sets `kind`: empty for none of these formats, else a name that `describe` spells
# out. Formats are listed only if their first bytes are unmistakable, since a raw disk may begin
# with any bytes. A document counts only if all of the 512 bytes are text.
#
# `choose FORMAT COMPRESSION FILE` sets `unpack` to the program that unpacks the source, empty for
# none. If the source must not be used, it sets `refusal` to the reason. FORMAT is `raw`, `qcow2`,
# `tar`, or `exact` for the content of a volume from a backup, which may be anything. COMPRESSION is
# `auto`, a program, or `none`. With `none` the source is written as it is, unless it is a page or a
# disk of another format. A missing program has a line of its own in `refusal`, for programs that
# read the output. `check_plain FORMAT FILE` sets `refusal` for unpacked content.
#
# `unpack_by PROGRAM` unpacks from standard input to standard output, without privileges. xz has a
# memory limit, since its input can demand gigabytes.

kind_of() {
  kind=
  hex=$(od -A n -v -t x1 -N 512 "$1" | tr -d " \n")
  case $hex in
    1f8b08*) kind=gzip ;;
    28b52ffd*) kind=zstd ;;
    fd377a585a00*) kind=xz ;;
    425a683[1-9]314159265359* | 425a683[1-9]177245385090*) kind=bzip2 ;;
    504b030414* | 504b03040a* | 504b03042d* | 504b050600*) kind=zip ;;
    377abcaf271c*) kind=7z ;;
    526172211a07*) kind=rar ;;
    04224d18*) kind=lz4 ;;
    4c5a495001*) kind=lzip ;;
    894c5a4f000d0a1a0a*) kind=lzop ;;
    514649fb*) kind=qcow2 ;;
    4b444d5601* | 4b444d5602* | 4b444d5603* | 23204469736b2044657363726970746f7246696c65*) kind=vmdk ;;
    636f6e6563746978*) kind=vhd ;;
    7668647866696c65*) kind=vhdx ;;
  esac
  [ -z "$kind" ] || return 0
  [ "$(printf %s "$hex" | cut -c 129-136)" != 7f10dabe ] || kind=vdi
  [ "$(printf %s "$hex" | cut -c 515-524)" != 7573746172 ] || kind=tar
  [ -z "$kind" ] || return 0
  # A control character. The tr of uutils coreutils 0.0.17 prints nothing if a byte is no UTF-8.
  ! od -A n -v -t x1 -N 512 "$1" | grep -q -e " 0[0-8bcef]" -e " 1" -e " 7f" || return 0
  hex=${hex#efbbbf}
  while :; do case $hex in 09* | 0a* | 0d* | 20*) hex=${hex#??} ;; *) break ;; esac; done
  case $hex in
    3c21[46]4[46]f[46]3[57]4[57]9[57]0[46]5* | 3c[46]8[57]4[46]d[46]c*) kind=html ;;
    3c3f[57]8[46]d[46]c*) kind=xml ;;
    76657273696f6e2068747470733a2f2f6769742d6c66732e*) kind=git-lfs ;;
    7b*)
      hex=${hex#7b}
      while :; do case $hex in 09* | 0a* | 0d* | 20*) hex=${hex#??} ;; *) break ;; esac; done
      case $hex in 22*) kind=json ;; esac
      ;;
  esac
}

describe() {
  case $1 in
    gzip | zstd | xz | bzip2 | lz4 | lzip | lzop) echo "data compressed with $1" ;;
    zip | 7z | rar | tar) echo "a $1 archive" ;;
    html) echo "an HTML page" ;;
    xml) echo "an XML document" ;;
    json) echo "a JSON document" ;;
    git-lfs) echo "a Git LFS pointer instead of a file" ;;
    exact) echo "the content of a device" ;;
    raw | qcow2 | vmdk | vhd | vhdx | vdi) echo "a disk of format $1" ;;
  esac
}

refuse_kind() {
  refusal="$2 begins like $(describe "$kind"), and should be $(describe "$1")"
  case $kind,$1 in
    html,* | xml,* | json,* | git-lfs,*) refusal="$refusal: the server may have sent an error or a login page, correct spec.source" ;;
    qcow2,raw) refusal="$refusal: create the Image with spec.format qcow2" ;;
    qcow2,* | vmdk,* | vhd,* | vhdx,* | vdi,*) refusal="$refusal: convert it to qcow2 or raw with qemu-img" ;;
    tar,*) refusal="$refusal: create an Archive, or unpack it and use the disk in it" ;;
    *) refusal="$refusal: unpack it, and compress it with gzip, zstd, xz or bzip2, or not at all" ;;
  esac
}

choose() {
  kind_of "$3"
  refusal= unpack=
  case $2 in auto | none) ;; *) unpack=$2 ;; esac
  case $kind,$2,$1 in
    ,*) ;;
    html,* | xml,* | json,* | git-lfs,*) refuse_kind "$1" "the source" ;;
    gzip,auto,* | zstd,auto,* | xz,auto,* | bzip2,auto,*) unpack=$kind ;;
    "$1,auto,$1" | "$1,none,$1" | "$2,$2,$1") ;;
    qcow2,none,raw | vmdk,none,raw | vhd,none,raw | vhdx,none,raw | vdi,none,raw) refuse_kind "$1" "the source" ;;
    *,none,raw) ;;
    *,auto,* | *,none,*) refuse_kind "$1" "the source" ;;
    *) refusal="the source begins like $(describe "$kind"), and by its name or spec.compression should be compressed with $2: correct spec.compression or spec.source" ;;
  esac
  [ -n "$refusal" ] || [ -z "$unpack" ] || for tool in "$unpack" setpriv; do
    command -v "$tool" >/dev/null || refusal=$(printf "stowage-missing %s\nthis node has no program %s, which a source compressed with %s needs" "$tool" "$tool" "$unpack")
  done
}

check_plain() {
  kind_of "$2"
  refusal=
  case $kind,$1 in
    ,* | *,exact | "$1,$1") ;;
    *) refuse_kind "$1" "the unpacked content" ;;
  esac
}

unpack_by() {
  case $1 in
    gzip) nobody gzip -dc ;;
    zstd) nobody zstd -dcq ;;
    xz) nobody xz -dcq -T1 --memlimit-decompress=512MiB ;;
    bzip2) nobody bzip2 -dc ;;
  esac
}
