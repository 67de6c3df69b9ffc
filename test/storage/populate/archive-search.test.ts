import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { execa } from 'execa';

const [refuseFound = ''] =
  /^refuse_found\(\) \{\n[\s\S]*?\n\}$/m.exec(
    readFileSync('src/storage/scripts/archive.sh', 'utf8'),
  ) ?? [];

/** Runs the search for device files with a `find` of this body. */
const search = (find: string) =>
  execa(
    '/bin/sh',
    [
      '-c',
      `${refuseFound}
fail() { printf %s "$1"; exit "\${2:-3}"; }
printable() { cat; }
find() { ${find}; }
refuse_found "device file" -type b`,
    ],
    { reject: false },
  );

test.each([
  ['finds nothing', 'true', 0, ''],
  ['finds one', 'printf /a', 3, 'the archive has a device file, which is not allowed: /a'],
  [
    'fails, as busybox does for -printf',
    'echo "find: unrecognized: -printf" >&2; return 1',
    1,
    'the unpacked files could not be searched for a device file',
  ],
])('an archive is refused unless the search is complete: it %s', async (_, find, exit, said) => {
  const { exitCode, stdout } = await search(find);
  expect({ exitCode, stdout }).toEqual({ exitCode: exit, stdout: said });
});
