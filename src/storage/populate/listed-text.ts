/**
 * Shell functions for what the node's root-owned configuration lists, /etc/stowage/sources.conf: `allow-address NETWORK`,
 * `path FOLDER` and `backups FOLDER`. They need `fail`.
 *
 * `configured WORD` prints what is listed by a word. `is_listed WORD PATH` says whether a path, without links in it, is in a folder of those.
 *
 * `open_path path|backups PATH` opens descriptor 5. An Image or Archive of any namespace may name any path: so one of those opens nothing in
 * a folder of backups, whatever else is said of that. To an archive there only the Backup leads that it is of.
 */
export const LISTED_TEXT = `
  config=/etc/stowage/sources.conf;
  configured() {
    [ -e "$config" ] || return 0;
    [ "$(find /etc/stowage "$config" -maxdepth 0 -user root ! -perm /022 "(" -type d -o -type f ")" | wc -l)" = 2 ] ||
      fail "$config on this node does not count: it and its folder must belong to root, and nobody else may write to them";
    while read -r word value rest || [ -n "$word" ]; do
      case $word,$rest in
        "#"* | ,) ;;
        allow-address, | path, | backups, | backup-to, | scratch,) [ "$word" != "$1" ] || printf "%s\\n" "$value" ;;
        *) fail "$config on this node has a line that is not understood, $word: there are allow-address NETWORK, path FOLDER, backups FOLDER, backup-to URL-PREFIX and scratch BYTES" ;;
      esac;
    done <"$config";
  };
  is_listed() (
    folders=$(configured "$1") || exit 3;
    for folder in $folders; do
      folder=$(realpath -e -- "$folder" 2>/dev/null) || continue;
      case $2 in "\${folder%/}"/*) exit 0 ;; esac;
    done;
    exit 1;
  );
  may_open() { is_listed "$1" "$2" && { [ "$1" = backups ] || ! is_listed backups "$2"; }; };
  open_path() {
    real=$(realpath -m -- "$2");
    may_open "$1" "$real" || fail "$2 is in no folder that $config on this node lists: it takes a line $1 FOLDER there, and what is in one of backups is read by their Backups alone";
    [ -f "$real" ] || fail "there is no plain file $2 on this node" 1;
    exec 5<"$real";
    opened=$(readlink /proc/self/fd/5);
    may_open "$1" "$opened" && [ -f /proc/self/fd/5 ] || fail "$2 leads to $opened, which is in no folder that $config on this node lists";
    total=$(stat -L -c %s /proc/self/fd/5);
  };
`;
