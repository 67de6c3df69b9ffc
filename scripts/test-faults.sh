#!/bin/sh
# Kills jobs and the daemon at many more points than `npm test` has the time for, tries volumes over each transport, takes
# away each right of the daemon on a real API server, then that server, parts of Salt, sshd and the network for a minute each,
# restores etcd to a backup, and cuts the power of a VM in the middle of work. STOWAGE_FAULTS_SEED repeats a run.
set -eu
cd "$(dirname "$0")/.."
PATH=$PWD/node_modules/.bin:$PATH
export NODE_OPTIONS=--experimental-vm-modules NODE_NO_WARNINGS=1 STOWAGE_FAULTS="${STOWAGE_FAULTS:-200}"
if [ "$(id -u)" != 0 ]; then
  echo 'test:faults needs root: loop devices, udev, sshd and the image of a VM' >&2
  exit 1
fi
jest --selectProjects integration --runInBand --testPathPatterns 'integration/(faults|crash|freeze-daemon|packet-loss|metrics|volume|daemon/((attachment|claim)-crash|populators-orders))' "$@"
jest --selectProjects cluster --runInBand --testPathPatterns 'cluster/(rbac|outages|salt/(outages|kinds))' "$@"
export STOWAGE_POWER_CUTS="${STOWAGE_POWER_CUTS:-20}"
jest --selectProjects cluster --runInBand --testPathPatterns 'cluster/vm/faults' "$@"
