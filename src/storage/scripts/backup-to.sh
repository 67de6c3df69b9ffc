#!/bin/sh
# Shell functions that restrict where data of volumes may be sent. The functions need `fail`,
# `shown`, `configured` and `read_url`.
#
# `may_send URL` fails with 3 unless the node's list has a line `backup-to PREFIX` for the URL. The
# scheme, host and port must be equal, and the path must be the prefix's, or continue it after a
# slash. Paths that servers may read in several ways are refused: with dot segments, empty segments,
# backslashes, or encoded slashes, dots and percent signs.

place_of() {
  read_url "$1"
  place_path=${1#*://}
  place_path=${place_path#"$authority"}
  place_path=${place_path%%[?#]*}
  place_path=${place_path:-/}
  case $place_path/ in
    [!/]* | *//?* | */./* | */../* | */.";"* | */..";"* | *[\\]* | *%2[EeFf]* | *%25* | *%5[Cc]*) fail "$(shown "$1") has a path that servers interpret differently: write it without . and .., empty segments, backslashes, and encoded slashes, dots and percent signs" ;;
  esac
  place=$(printf "%s " "$scheme://$host:$port" | tr "[:upper:]" "[:lower:]")$place_path
}

may_send() (
  prefixes=$(configured backup-to) || exit 3
  place_of "$1"
  to=$place example=$scheme://$authority/
  set -f
  for prefix in $prefixes; do
    case $prefix in *[?#]*) fail "$config on this node: $(shown "$prefix") is not a prefix, since it has a query" ;; esac
    place_of "$prefix"
    case $to in "$place" | "${place%/}"/*) exit 0 ;; esac
  done
  fail "$(shown "$1") begins with no prefix that $config on this node lists: add a line backup-to URL-PREFIX there, such as: backup-to $example"
)
