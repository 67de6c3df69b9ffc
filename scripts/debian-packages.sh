#!/bin/sh
# Installs the Debian packages of missing programs: debian-packages.sh PROGRAM:PACKAGE…
# Without root, only reports the missing packages.
set -eu
missing=
for pair in "$@"; do
  PATH=$PATH:/usr/sbin:/sbin:/lib/systemd command -v "${pair%%:*}" >/dev/null || missing="$missing ${pair#*:}"
done
# shellcheck disable=SC2086 # a list of names
missing=$(printf '%s\n' $missing | sort -u | tr '\n' ' ')
[ -n "${missing% }" ] || exit 0

if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo "setup: these Debian packages are missing: $missing(root could install them; what needs them is left out)" >&2
  exit 0
fi
# Serializes concurrent runs: apt-get does not wait for another apt-get.
if [ "${STOWAGE_PACKAGES_LOCKED:-}" = "" ]; then
  STOWAGE_PACKAGES_LOCKED=1 exec flock /run/lock/stowage-packages sh "$0" "$@"
fi
echo "setup: installing Debian packages: $missing" >&2
# Packages must not start services, neither now (see policy-rc.d in invoke-rc.d(8)) nor at boot.
enabled() {
  find /etc/systemd/system -type l -path '*.wants/*' 2>/dev/null | sort
}
before=$(enabled)
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
  trap 'rm -f "$policy"' EXIT
  # A signal alone runs no EXIT trap in dash.
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
fi
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
# shellcheck disable=SC2086 # a list of names
if ! { apt-get update && apt-get install -y --no-install-recommends $missing; } >"$log" 2>&1 </dev/null; then
  tail -n 20 "$log" >&2
  echo "setup: apt-get could not install: $missing" >&2
  exit 1
fi
rm -f "$log"
for link in $(enabled); do
  case "$before" in
    *"$link"*) ;;
    *) systemctl --quiet disable "$(basename "$link")" 2>/dev/null || rm -f "$link" ;;
  esac
done
