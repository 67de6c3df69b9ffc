#!/bin/sh
# Brings a checkout to where its tests and its demo can run: npm packages, Debian packages, build.
# Every part is skipped when it is done already, so that this can run before every test.
set -eu
cd "$(dirname "$0")/.."
started=$(date +%s%3N)

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
sh scripts/debian-packages.sh systemd-udevd:udev udevadm:udev sshd:openssh-server ssh:openssh-client losetup:mount \
  findmnt:util-linux mkfs.ext4:e2fsprogs mkfs.xfs:xfsprogs sgdisk:gdisk cmp:diffutils sudo:sudo ip:iproute2 \
  kubectl:kubernetes-client promtool:prometheus python3:python3 bash:bash zsh:zsh fish:fish man:man-db shellcheck:shellcheck \
  curl:curl zstd:zstd qemu-img:qemu-utils

node scripts/build.mjs

# For `npm run test:times`: how long it took, in ms.
mkdir -p node_modules/.cache/stowage
printf '{"run":%s,"stage":"set-up","ms":%s}\n' "$started" "$(($(date +%s%3N) - started))" >>node_modules/.cache/stowage/times.jsonl
