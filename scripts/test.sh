#!/bin/sh
# The linter, the types, the unit suite, then what needs real parts: kubectl, and as root loop devices, udev, sshd.
set -eu
cd "$(dirname "$0")/.."
PATH=$PWD/node_modules/.bin:$PATH
export NODE_OPTIONS=--experimental-vm-modules NODE_NO_WARNINGS=1
biome check --error-on-warnings .
tsc --noEmit
jest --selectProjects unit "$@"

if [ "$(id -u)" = 0 ]; then
  exec node test/at-once.ts integration "$@"
fi
without=/node_modules/
echo 'not root: left out is what needs loop devices, udev and sshd; each test says so' >&2
if ! command -v kubectl >/dev/null; then
  echo 'no kubectl: left out are test/integration/kubectl*.test.ts, cli*.test.ts, completion.test.ts and docs*.test.ts' >&2
  without='integration/(kubectl|cli|completion|docs)'
fi
if ! command -v promtool >/dev/null; then
  echo 'no promtool: left out are test/integration/promtool.test.ts, alerts.test.ts and docs.test.ts' >&2
  without="$without|integration/(promtool|alerts|docs)"
fi
jest --selectProjects integration --runInBand --testPathIgnorePatterns "$without" "$@"
