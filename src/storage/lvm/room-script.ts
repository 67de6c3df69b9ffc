import { oneLine } from '../snapshot/script.ts';

/**
 * Looks whether a thin pool has room for all that is still to be written to a logical volume that is being filled, and to those that
 * are filled beside it and were made before it: `stowage-thin-room VG/NAME UID`. Each would find room by itself. Of several that
 * look at once it is the eldest that goes on, so that they do not keep each other from it for ever. How full they are LVM tells in
 * hundredths of a percent, so that many of the pool count for nothing.
 */
export const ROOM_SCRIPT = oneLine(`
run() {
  case $#$0 in 2stowage-thin-room) ;; *) exit 2 ;; esac;
  case $1 in "" | -* | */-* | */*/* | *[!A-Za-z0-9_+./-]*) exit 2 ;; ?*/?*) ;; *) exit 2 ;; esac;
  case $2 in "" | *[!0-9a-f-]*) exit 2 ;; esac;
  vg=\${1%/*};
  report() { lvs --noheadings --units b --nosuffix --separator , "$@" 2>/dev/null | sed -n "s/^ *\\([^ ]*,[^ ]*\\) *$/\\1/p"; };
  hundredths() { case $1 in *.??) echo $((\${1%.*} * 100 + 1\${1#*.} - 100)) ;; *) echo "$2" ;; esac; };
  own=$(report -o thin_id,pool_lv --select "segtype=thin&&lv_tags={stowage.dev/unfinished=$2}" "$1");
  pool=\${own#*,};
  own=\${own%%,*};
  case $own in "" | *[!0-9]*) echo "$1 is no thin volume that is made for $2"; exit 1 ;; esac;
  needed=$(
    sum=0;
    report -o thin_id,lv_size,data_percent,lv_tags --select "segtype=thin&&pool_lv=$pool" "$vg" |
      {
        while IFS=, read -r id size used tags; do
          case ,$tags in *,stowage.dev/unfinished=*) ;; *) continue ;; esac;
          [ "$id" -gt "$own" ] || sum=$((sum + size / 10000 * (10000 - $(hundredths "$used" 0))));
        done;
        echo $sum;
      }
  );
  oldifs=$IFS;
  IFS=,;
  set -- $(report -o lv_size,data_percent,metadata_percent,lv_attr "$vg/$pool");
  IFS=$oldifs;
  case $4 in t???????-*) ;; *) echo "the thin pool $vg/$pool is not well: $4"; exit 1 ;; esac;
  left=$(($1 / 10000 * (10000 - $(hundredths "$2" 10000))));
  [ "$(hundredths "$3" 10000)" -lt 9000 ] && [ "$needed" -le $((left + $1 / 10000)) ] || {
    echo "the thin pool $vg/$pool has $left bytes left, its metadata are full to $3 percent, and $needed may still be written to what is being filled in it";
    exit 1;
  };
};
run "$@"
`);
