#!/bin/sh
# Shell functions that bound where the data of volumes may be sent. They need `fail`, `shown`,
# `configured` and `read_url`.
#
# `may_send URL` ends with 3 unless the node's list has a line `backup-to PREFIX` for the URL: the
# same scheme, host and port, and a path that is the prefix's or continues it after a slash. A path
# that servers may read as another one is refused: with dots as segments, empty segments,
# backslashes, or slashes, dots and percent signs that are encoded.

place_of() {
  read_url "$1"
  place_path=${1#*://}
  place_path=${place_path#"$authority"}
  place_path=${place_path%%[?#]*}
  place_path=${place_path:-/}
  case $place_path/ in
    [!/]* | *//?* | */./* | */../* | */.";"* | */..";"* | *[\\]* | *%2[EeFf]* | *%25* | *%5[Cc]*) fail "$(shown "$1") has a path that servers read in several ways: write it without . and .., empty segments, backslashes, and encoded slashes, dots and percent signs" ;;
  esac
  place=$(printf "%s " "$scheme://$host:$port" | tr "[:upper:]" "[:lower:]")$place_path
}

may_send() (
  prefixes=$(configured backup-to) || exit 3
  place_of "$1"
  to=$place example=$scheme://$authority/
  set -f
  for prefix in $prefixes; do
    case $prefix in *[?#]*) fail "$config on this node: $(shown "$prefix") is no prefix, as it has a query" ;; esac
    place_of "$prefix"
    case $to in "$place" | "${place%/}"/*) exit 0 ;; esac
  done
  fail "$(shown "$1") begins with no prefix that $config on this node lists: it takes a line backup-to URL-PREFIX there, such as: backup-to $example"
)
