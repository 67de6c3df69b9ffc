#!/bin/sh
# Brings a checkout to where its tests and its demo can run: npm packages, Debian packages, build.
# Every part is skipped when it is done already, so that this can run before every test.
set -eu
cd "$(dirname "$0")/.."

# npm packages: only when the lock file differs from the one that was installed last.
stamp=node_modules/.stowage-setup
want=$(cat package.json package-lock.json | sha256sum)
if [ "$(cat "$stamp" 2>/dev/null)" != "$want" ]; then
  echo 'setup: npm ci' >&2
  npm ci --loglevel=error >&2
  printf '%s\n' "$want" >"$stamp"
fi
# The runtime is the npm package `node`; a shell that looked it up before must look again.
PATH=$PWD/node_modules/.bin:$PATH
hash -r

# Debian packages, by the program that each is needed for.
missing=
need() { # PROGRAM PACKAGE
  PATH=$PATH:/usr/sbin:/sbin:/lib/systemd command -v "$1" >/dev/null || missing="$missing $2"
}
need systemd-udevd udev
need udevadm udev
need sshd openssh-server
need ssh openssh-client
need losetup mount
need findmnt util-linux
need mkfs.ext4 e2fsprogs
need mkfs.xfs xfsprogs
need sgdisk gdisk
need cmp diffutils
need sudo sudo
need ip iproute2
need kubectl kubernetes-client
need promtool prometheus
missing=$(printf '%s\n' $missing | sort -u | tr '\n' ' ')

if [ -n "${missing% }" ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "setup: installing Debian packages: $missing" >&2
    # Nothing that is installed here may start a service of its own (see policy-rc.d in invoke-rc.d(8)).
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
  else
    echo "setup: these Debian packages are missing: $missing(root could install them; what needs them is left out)" >&2
  fi
fi

node scripts/build.mjs
