#!/bin/sh
# LVM records a new thin volume, makes the pool create it, and makes the pool count the transaction.
# If LVM is killed before the last step, it can do nothing more in the pool, since it requests the
# creation of an existing volume. `forget` deletes such a volume in the pool: one that the pool has
# not counted, and that LVM's tag marks as unfinished. `tpool` finds a pool's device by its name,
# which a group on a Volume may already have. So a device counts only with the group's UUID.

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
