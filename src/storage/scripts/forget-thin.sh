#!/bin/sh
# LVM writes down that there is to be a thin volume, has the pool make it, and has the pool count
# that. Killed between the last two, it can do nothing more in the pool: it tells it to make what is
# there. So that is deleted in the pool, where the pool has not counted it and LVM says that it is
# of what is not finished. A pool's device is found by its name, which a group on a Volume may have
# taken first, so it counts only with the group's UUID.

tpool() {
  case $(dmsetup info -c --noheadings -o uuid "$vg-$(double "$1")-tpool" 2>/dev/null) in
    "LVM-$(printf %s "$2" | sed s/-//g)"*-tpool) echo "$vg-$(double "$1")-tpool" ;;
  esac
}

forget() {
  set -- $(
    lvs --config "$config" --noheadings --separator , -o thin_id,transaction_id,pool_lv,vg_uuid --select "segtype=thin&&lv_tags={stowage.dev/unfinished=$2}" "$1" 2>/dev/null |
      sed -n "s/^ *\([0-9]\{1,\}\),\([0-9]\{1,\}\),\([^ ,]\{1,\}\),\([^ ,]\{1,\}\) *$/\1 \2 \3 \4/p"
  )
  [ $# = 4 ] || return 0
  set -- "$1" "$2" "$(tpool "$3" "$4")"
  [ -n "$3" ] || return 0
  [ "$(dmsetup status --noflush "$3" | cut -d " " -f 4)" != "$2" ] || dmsetup message "$3" 0 "delete $1" 2>/dev/null || return 0
}
