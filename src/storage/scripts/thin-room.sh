#!/bin/sh
# Shell function that checks the room of a thin pool: `thin_room /dev/VG/NAME UID`. The pool must
# have room for outstanding writes to this logical volume, and to older ones that are filled at the
# same time. A check of one volume alone would find room for each. Among concurrent checks the
# oldest volume passes, so that they never block each other forever. LVM reports usage in hundredths
# of a percent, so that much of the pool is tolerated. A volume that is not thin has all its room.
# The device's UUID identifies the group, since another one may have its name.

thin_room() (
  lv=${1#/dev/} vg=${1#/dev/}
  vg=${vg%/*}
  dm=$(readlink -f "$1")
  uuid=$(sed -n "s/^LVM-\(.\{6\}\)\(.\{4\}\)\(.\{4\}\)\(.\{4\}\)\(.\{4\}\)\(.\{4\}\)\(.\{6\}\).\{32\}$/\1-\2-\3-\4-\5-\6-\7/p" "/sys/class/block/${dm##*/}/dm/uuid" 2>/dev/null)
  named() { printf %s "vg_uuid=$uuid&&lv_name=$1"; }
  report() { lvs --noheadings --units b --nosuffix --separator , "$@" 2>/dev/null | sed -n "s/^ *\([^ ]*,[^ ]*\) *$/\1/p"; }
  hundredths() { case $1 in *.??) echo $((${1%.*} * 100 + 1${1#*.} - 100)) ;; *) echo "$2" ;; esac; }
  case $(lvs --noheadings -o segtype --select "$(named "${lv#*/}")" 2>/dev/null | tr -d " ") in
    thin) ;;
    "") echo "the logical volume $lv cannot be observed" >&2; exit 1 ;;
    *) exit 0 ;;
  esac
  own=$(report -o thin_id,pool_lv --select "$(named "${lv#*/}")&&segtype=thin&&lv_tags={stowage.dev/unfinished=$2}")
  pool=${own#*,}
  own=${own%%,*}
  case $own in "" | *[!0-9]*) echo "$lv was not created for $2" >&2; exit 1 ;; esac
  needed=$(
    sum=0
    report -o thin_id,lv_size,data_percent,lv_tags --select "vg_uuid=$uuid&&segtype=thin&&pool_lv=$pool" |
      {
        while IFS=, read -r id size used tags; do
          case ,$tags in *,stowage.dev/unfinished=*) ;; *) continue ;; esac
          [ "$id" -gt "$own" ] || sum=$((sum + size / 10000 * (10000 - $(hundredths "$used" 0))))
        done
        echo $sum
      }
  )
  IFS=,
  set -- $(report -o lv_size,data_percent,metadata_percent,lv_attr --select "$(named "$pool")")
  case $4 in t???????-*) ;; *) echo "the thin pool $vg/$pool is unhealthy: $4" >&2; exit 1 ;; esac
  left=$(($1 / 10000 * (10000 - $(hundredths "$2" 10000))))
  [ "$(hundredths "$3" 10000)" -lt 9000 ] && [ "$needed" -le $((left + $1 / 10000)) ] || {
    echo "the thin pool $vg/$pool has $left bytes left, its metadata is $3 percent full, and volumes that are being populated in it may still write $needed" >&2
    exit 1
  }
)
