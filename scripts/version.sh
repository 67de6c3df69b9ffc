#!/bin/sh
# Version script of package.json: `npm version` runs it after writing package.json and the lock
# file, then commits the staged files.
# shellcheck disable=SC2154 # npm sets npm_old_version and npm_new_version
set -eu
cd "$(dirname "$0")/.."
sh scripts/debian-packages.sh towncrier:towncrier
old=$(printf %s "$npm_old_version" | sed 's/\./\\./g')
sed -i "s/\([-:']\)$old\b/\1$npm_new_version/g" src/api/version.ts deploy/Containerfile docs/installing.md docs/snapshots.md
npm run --silent generate
git add src/api/version.ts deploy docs completions man
towncrier build --yes --version "$npm_new_version"
