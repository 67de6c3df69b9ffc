#!/bin/sh
# Shell functions that run curl. The functions need `jail.sh`, `fail` and `need`.
#
# `prepare_curl WHAT` makes the root directory that curl sees, `$work/net`. It has no files for a
# resolver, since curl gets the address to connect to.
#
# `configure URL [AUTHORIZATION]` writes confidential options to a file that only curl reads. All
# users of the node see its arguments.
#
# `become_curl ARGUMENT …` replaces the shell by curl, without privileges, since curl parses data of
# servers. The time limit is an hour, and the time for `$SIZE` bytes at 512 KiB a second. An endless
# server would keep a place on the node from others.
#
# `shown SOURCE` prints a source for messages: a URL without its user and its query, which often
# hold a signature; a path as it is.
#
# `in_url SOURCE` sets `$source` from an argument, and from `$query` of standard input.

# 65521 is the user and group of curl alone. The paths are certificates and TLS settings, where
# distributions have them.

prepare_curl() {
  need curl "$1"
  need setpriv "$1"
  [ ! -d "$work/net" ] || return 0
  make_jail net etc/ssl/certs etc/ssl/cert.pem etc/ssl/ca-bundle.pem etc/ssl/openssl.cnf \
    etc/ca-certificates etc/pki/tls/certs etc/pki/tls/cert.pem etc/pki/tls/openssl.cnf \
    etc/pki/ca-trust etc/crypto-policies var/lib/ca-certificates etc/ld.so.cache dev/null
  mkdir -m 0711 "$work/curl" && : >"$work/curl/config" && chown 65521:65521 "$work/curl/config" &&
    mount --bind "$work/curl" "$work/net/new" &&
    mount -o remount,bind,ro,nosuid,nodev,noexec "$work/net/new" || fail "no private root directory could be created" 1
}

quoted() { printf "%s\n" "$2" | sed "s/[\\\\\"]/\\\\&/g; s/^/$1/; s/\$/\"/"; }

configure() {
  {
    quoted "url = \"" "$1"
    [ -z "$2" ] || quoted "header = \"Authorization: " "$2"
  } >"$work/curl/config"
}

become_curl() {
  enter net 1048576 "" --reuid=65521 --regid=65521 --clear-groups \
    curl -q -sS -g --http1.1 --noproxy "*" --proto "=http,https" --connect-timeout 30 --max-time "$((3600 + SIZE / 524288))" --config /new/config "$@"
}

shown() {
  case $1 in
    *://*)
      shown_rest=${1#*://}
      shown_host=${shown_rest%%[/?#]*}
      shown_path=${shown_rest#"$shown_host"}
      case $shown_path in *[?#]*) shown_path="${shown_path%%[?#]*}?..." ;; esac
      printf %s "${1%%://*}://${shown_host##*@}$shown_path"
      ;;
    *) printf %s "${1#backup:*:}" ;;
  esac
}

in_url() {
  case $query,$1 in
    ,*) source=$1 ;;
    "?"*,*://*[?#]*) exit 2 ;;
    "?"*,http://* | "?"*,https://*) source=$1$query ;;
    *) exit 2 ;;
  esac
}
