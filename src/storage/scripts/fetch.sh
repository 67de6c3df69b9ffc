#!/bin/sh
# POSIX shell functions for scripts that fetch the content of volumes. The scripts run in a mount
# and PID namespace of their own, with a tmpfs at `$work`: nothing of them remains, however they
# end.
#
# `open_source SOURCE` opens descriptor 5 at the first byte of a URL or a local path, and
# `close_source` checks that everything arrived. sources-conf.sh defines the permitted paths. `fail`
# exits with 3 for permanent failures, and with 1 for temporary ones.
#
# Connections are limited to public unicast addresses, and to those that the node lists. The special
# purpose registries of IANA are not public. Excluded as well are 168.63.129.16, at which Azure
# serves credentials, and the node's own addresses: those with a local route. Default routes do not
# count, since proxies put them into tables for marked packets. Services trust the addresses of a
# node, and metadata services give its credentials to any program on it.
#
# A NAT64 gateway connects to the IPv4 address in an address of the well-known prefix 64:ff9b::/96
# (RFC 6052), so that IPv4 address decides: its network has to be listed, and listing the prefix
# opens nothing. Each network divides the prefix of RFC 8215, 64:ff9b:1::/48, in its own way. The
# IPv4 address in it is unknown, so these addresses are not public.
#
# Addresses decide, and not names. The script resolves a name, checks each address, and passes curl
# the address to connect to, wherever the name leads by then. Each redirect is checked the same way.
# A number in another notation (0x7f.1) is refused, since curl and the resolver read them
# differently. Proxies are not used, since they would resolve names themselves.
#
# The headers come before the body (`curl -i`). The shell reads them byte by byte, so that the body
# stays in the pipe.

. ./sources-conf.sh
. ./jail.sh
. ./curl.sh

# No tr: that of uutils coreutils 0.0.17 prints nothing if a byte is no UTF-8. In 0.0.30
# and 0.2.2, [:print:] has no space, so that "No space left on device" would not be recognized.
fail() { printf "%s\n" "$1" | sed "s/[^ -~]/?/g" >&2; exit "${2:-3}"; }

need() { command -v "$1" >/dev/null || { echo "stowage-missing $1" >&2; fail "this node has no program $1, which $2 needs"; }; }

groups() (
  address=$1
  case $address in
    *.*)
      tail=${address##*:}
      head=${address%"$tail"}
      case $tail in *[!0-9.]* | *..* | .* | *.) exit 1 ;; esac
      IFS=.
      set -- $tail
      [ $# = 4 ] || exit 1
      for each; do
        case $each in 0?* | ????*) exit 1 ;; esac
        [ "$each" -le 255 ] || exit 1
      done
      address=${head:-::ffff:}$(printf "%x:%x" $(($1 * 256 + $2)) $(($3 * 256 + $4)))
      ;;
  esac
  case $address in "" | *[!0-9a-fA-F:]* | *:::* | *::*::*) exit 1 ;; esac
  left=$address right=
  case $address in *::*) left=${address%%::*} right=${address#*::} ;; esac
  IFS=:
  set -- $right
  behind=$#
  set -- $left
  before=$#
  case $address in *::*) [ $((before + behind)) -lt 8 ] || exit 1 ;; *) [ $before = 8 ] || exit 1 ;; esac
  set -- $left $(n=$((before + behind)); while [ $n -lt 8 ]; do printf 0:; n=$((n + 1)); done) $right
  for each; do
    case $each in ?????*) exit 1 ;; esac
    printf "%d " "0x$each"
  done
)

is_in() (
  network=${2%/*} bits=${2##*/}
  case $network in *:*) most=128 first=0 ;; *) most=32 first=96 ;; esac
  case $2 in */*) ;; *) bits=$most ;; esac
  case $bits in "" | *[!0-9]* | ????*) fail "$config on this node: $2 is not a network" ;; esac
  [ "$bits" -le $most ] && there=$(groups "$network") || fail "$config on this node: $2 is not a network"
  bits=$((bits + first))
  set -- $(groups "$1") $there
  [ $# = 16 ] || exit 1
  while [ $bits -gt 0 ]; do
    drop=$((bits < 16 ? 16 - bits : 0))
    [ $(($1 >> drop)) = $(($9 >> drop)) ] || exit 1
    shift
    bits=$((bits - 16))
  done
)

is_in_any() (
  address=$1
  shift
  for each; do ! is_in "$address" "$each" || exit 0; done
  exit 1
)

is_public() {
  case $1 in
    *:*) is_in "$1" 2000::/3 && ! is_in_any "$1" 2001::/23 2001:db8::/32 2002::/16 3fff::/20 ;;
    *)
      ! is_in_any "$1" 0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 \
        192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4
      ;;
  esac
}

local_networks() {
  case $1 in
    *:*)
      [ ! -e /proc/net/ipv6_route ] ||
        sed -n "/ [89a-f][0-9a-f]\{7\} *[^ ]*$/{s, \(..\) .*,/0x\1,;$(printf "s/..../&:/%d;" 7 6 5 4 3 2 1)p}" /proc/net/ipv6_route
      ;;
    *) sed -n "/|--/{s/.*-- //;h};/ LOCAL/{s/^ *\([^ ]*\) .*/\1/;H;g;s/\n//;p;s,/.*,,;h}" /proc/net/fib_trie ;;
  esac
}

is_own() {
  case $1 in *:*) single=$(printf "%04x:" $(groups "$1")) single=${single%:}/0x80 ;; *) single=$1/32 ;; esac
  networks=$(local_networks "$1") || return 0
  ! printf "%s\n" "$networks" | grep -qxF "$single" || return 0
  for network in $(printf "%s\n" "$networks" | grep -v "/32$\|/0x80$\|/0$\|/0x00$"); do
    ! is_in "$1" "${network%/*}/$((${network##*/}))" || return 0
  done
  return 1
}

behind_nat64() (
  is_in "$1" 64:ff9b::/96 || { printf "%s\n" "$1"; exit; }
  set -- $(groups "$1")
  printf "%d.%d.%d.%d\n" $(($7 >> 8)) $(($7 & 255)) $(($8 >> 8)) $(($8 & 255))
)

may_connect() {
  allowed=$(configured allow-address) || exit 3
  judged=$(behind_nat64 "$1")
  is_in_any "$judged" $allowed && return
  is_public "$judged" && ! is_own "$judged" && ! is_own "$1"
}

read_url() {
  case $1 in *[!!-~]*) fail "the URL has a character that is not printable ASCII" ;; esac
  case $1 in http://?* | https://?*) ;; *) fail "$(shown "$1") is neither an http nor an https URL" ;; esac
  scheme=${1%%://*}
  authority=${1#*://}
  authority=${authority%%[/?#]*}
  case $authority in
    "" | *@*) fail "the URL has a user before its host, or no host: write the host alone" ;;
    "["*"]") host=${authority#?} port=; host=${host%?} ;;
    "["*"]:"*) host=${authority#?} port=${authority##*:}; host=${host%"]:$port"} ;;
    *:*) host=${authority%:*} port=${authority##*:} ;;
    *) host=$authority port= ;;
  esac
  case $scheme,$port in http,) port=80 ;; https,) port=443 ;; esac
  case $port in 0* | *[!0-9]* | ??????*) fail "$(shown "$1") has no valid port" ;; esac
  improper="$(shown "$1") has no valid address"
  case $authority in
    "["*) case $host in *:*) groups "$host" >/dev/null || fail "$improper" ;; *) fail "$improper" ;; esac ;;
    *)
      case $host in "" | *[!A-Za-z0-9.-]* | .* | *. | *..* | -*) fail "$(shown "$1") has no valid host" ;; esac
      case ${host##*.} in 0[xX]* | *[!0-9]*) ;; *) groups "$host" >/dev/null || fail "$improper" ;; esac
      case ${host##*.} in 0[xX]*) fail "$improper" ;; esac
      ;;
  esac
}

check_url() {
  read_url "$1"
  addresses=$(getent ahosts "$host" | sed -n "s/^\([^ ]*\) *STREAM.*/\1/p")
  [ -n "$addresses" ] || fail "this node cannot resolve $host" 1
  for address in $addresses; do
    may_connect "$address" ||
      fail "$host is at $(behind_nat64 "$address"), to which $config on this node allows no connection: addresses of this node, of private networks and all others that are not public need a line allow-address there"
  done
}

reason_of() { sed "s/^curl: ([0-9]*) //" "$work/said" | head -n 1; }

request() {
  for address in $addresses; do
    case $address in *:*) to="[$address]" ;; *) to=$address ;; esac
    rm -f "$work/body"
    mkfifo "$work/body"
    [ "$scheme://$host:$port" = "$origin" ] && configure "$1" "$authorization" || configure "$1"
    { become_curl -i --speed-limit 1024 --speed-time 60 --connect-to "::$to:$port"; } >"$work/body" 2>"$work/said" 5<&- &
    curl_pid=$!
    exec 5<"$work/body"
    status= said= location= total= count=0
    while IFS= read -r line <&5; do
      line=${line%"$return"}
      count=$((count + 1))
      [ $count -le 200 ] || fail "$(shown "$1"): the server sends endless headers"
      case $line in
        HTTP/*) said=${line#* } status=${line#* } location= total=; status=${status%% *} ;;
        "") case $status in 1??) ;; *) return 0 ;; esac ;;
        [Ll][Oo][Cc][Aa][Tt][Ii][Oo][Nn]:*) location=${line#*:}; location=${location#" "} ;;
        [Cc][Oo][Nn][Tt][Ee][Nn][Tt]-[Ll][Ee][Nn][Gg][Tt][Hh]:*) total=${line#*:}; total=${total#" "} ;;
      esac
    done
    exec 5<&-
    wait "$curl_pid"
    got=$?
    case $got in 7 | 28) ;; *) break ;; esac
  done
  fail "$(shown "$1") could not be fetched: $(reason_of)" 1
}

open_source() {
  curl_pid= total=
  case $1 in
    /*) open_path path "$1"; return ;;
    backup:*:/*) backup=${1#backup:}; open_path backups "${1#backup:*:}" "${backup%%:*}"; return ;;
  esac
  prepare_curl "a source at a URL"
  return=$(printf "\r")
  url=$1 origin= hops=0
  while :; do
    check_url "$url"
    [ -n "$origin" ] || origin=$scheme://$host:$port
    request "$url"
    case $status in
      200) break ;;
      301 | 302 | 303 | 307 | 308) ;;
      *) fail "$(shown "$url"): the server answered $said" 1 ;;
    esac
    exec 5<&-
    { kill "$curl_pid"; wait "$curl_pid"; } 2>/dev/null
    hops=$((hops + 1))
    [ $hops -le 5 ] || fail "$(shown "$1") redirects more than 5 times"
    before=$scheme
    case $location in
      "") fail "$(shown "$url"): the server answered $said without a location" ;;
      //*) url=$scheme:$location ;;
      /*) url=$scheme://$authority$location ;;
      *://*) url=$location ;;
      *) fail "$(shown "$url") redirects to neither a URL nor an absolute path" ;;
    esac
    case $before,$url in https,https:*) ;; https,*) fail "$(shown "$1") redirects from https to $(shown "$url")" ;; esac
  done
  case $total in *[!0-9]* | ????????????????*) total= ;; esac
}

close_source() {
  exec 5<&-
  [ -n "$curl_pid" ] || return 0
  wait "$curl_pid"
  got=$?
  case $got in
    0 | 23) ;;
    18) fail "$(shown "$url") was cut off: $(reason_of)" 1 ;;
    28)
      case $(reason_of) in
        *"too slow"*) fail "$(shown "$url") was too slow, less than 1024 bytes a second for a minute" 1 ;;
        *) fail "$(shown "$url") took longer than the $((3600 + SIZE / 524288)) seconds that a volume of this size may take" 1 ;;
      esac
      ;;
    *) fail "$(shown "$url") could not be fetched: $(reason_of)" 1 ;;
  esac
}

read_secrets() {
  IFS= read -r authorization || :
  IFS= read -r query || :
  exec </dev/null
}

tell_progress() {
  [ -z "$curl_pid" ] || exec 5<&-
  while sleep 2; do
    case $curl_pid in
      "") came=$(sed -n "s/^pos:[^0-9]*//p" "/proc/self/fdinfo/5") ;;
      *) came=$(sed -n "s/^wchar: //p" "/proc/$curl_pid/io" 2>/dev/null) ;;
    esac
    [ -z "$came" ] || echo "stowage-progress $came ${total:--}"
  done
}
