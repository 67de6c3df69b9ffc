#!/bin/sh
# Prepares a checkout for its tests and its demo: npm packages, Debian packages, build.
# Skips packages that are already installed, so that it can run before every test.
set -eu
cd "$(dirname "$0")/.."
started=$(date +%s%3N)

# npm packages: installed only if package.json or the lock file changed since the last run.
stamp=node_modules/.stowage-setup
want=$(cat package.json package-lock.json | sha256sum)
if [ "$(cat "$stamp" 2>/dev/null)" != "$want" ]; then
  echo 'setup: npm ci' >&2
  npm ci --loglevel=error >&2
  printf '%s\n' "$want" >"$stamp"
fi
# The runtime is the npm package `node`: clear the shell's cache of program paths.
PATH=$PWD/node_modules/.bin:$PATH
hash -r

# Debian packages, by the program that each provides.
sh scripts/debian-packages.sh systemd-udevd:udev udevadm:udev sshd:openssh-server ssh:openssh-client losetup:mount \
  findmnt:util-linux mkfs.ext4:e2fsprogs mkfs.xfs:xfsprogs sgdisk:gdisk cmp:diffutils sudo:sudo ip:iproute2 \
  kubectl:kubernetes-client promtool:prometheus python3:python3 bash:bash zsh:zsh fish:fish man:man-db shellcheck:shellcheck \
  curl:curl zstd:zstd qemu-img:qemu-utils

node scripts/build.mjs

# Duration in ms, for `npm run test:times`.
mkdir -p node_modules/.cache/stowage
printf '{"run":%s,"stage":"set-up","ms":%s}\n' "$started" "$(($(date +%s%3N) - started))" >>node_modules/.cache/stowage/times.jsonl
