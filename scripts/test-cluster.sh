#!/bin/sh
# What only real parts can show: real Kubernetes, real Salt, real nodes. Builds first what is not in the cache yet.
# `smoke` runs the part of it that .ci/run has the time for.
set -eu
cd "$(dirname "$0")/.."
PATH=$PWD/node_modules/.bin:$PATH
export NODE_OPTIONS=--experimental-vm-modules NODE_NO_WARNINGS=1
if [ "$(id -u)" != 0 ]; then
  echo 'the cluster tests need root: loop devices, udev, sshd, a kubelet and the image of a VM' >&2
  exit 1
fi
if [ "${1:-}" = smoke ]; then
  shift
  set -- --testPathPatterns 'cluster/(api-server|rbac|kubelet/pods|salt/(logins|refusals|kinds)|vm/smoke)' "$@"
fi
node test/cluster/run.ts build
node test/at-once.ts cluster "$@"
