import { expect, test } from '@jest/globals';
import { execa } from 'execa';
import { SCRIPT_FILES } from '../../support/other-script.ts';

/** Runs the script's check whether data may be sent to a URL from a node that lists prefixes. */
async function send(url: string, ...prefixes: string[]) {
  const listed = 'listed=$2; configured() { [ -z "$listed" ] || printf "%s\\n" "$listed"; }';
  const script = `. ./fetch.sh; . ./backup-to.sh; ${listed}; may_send "$1"`;
  const words = ['-c', script, 'sh', url, prefixes.join('\n')];
  const { exitCode, stderr } = await execa('/bin/sh', words, { cwd: SCRIPT_FILES, reject: false });
  return { exitCode, stderr };
}

test.each([
  ['https://a.example/', 'https://a.example/x'],
  ['https://a.example', 'https://a.example/x/y.zst?sig=a/../b'],
  ['https://a.example', 'https://a.example'],
  ['https://A.example:443/', 'https://a.EXAMPLE/x'],
  ['http://a.example:80', 'http://a.example/x'],
  ['https://a.example/db', 'https://a.example/db'],
  ['https://a.example/db', 'https://a.example/db/x'],
  ['https://a.example/db/', 'https://a.example/db/x'],
  ['https://[fd00::5]:8443/', 'https://[FD00::5]:8443/x'],
  ['https://a.example/..x', 'https://a.example/..x/.y'],
])('a node that lists %s sends to %s', async (prefix, url) => {
  expect(await send(url, 'https://other.example/', prefix)).toEqual({ exitCode: 0, stderr: '' });
});

test.each([
  ['https://a.example', 'https://a.example.evil.test/x'],
  ['https://a.exam', 'https://a.example/x'],
  ['https://a.example/', 'http://a.example/x'],
  ['http://a.example/', 'https://a.example/x'],
  ['https://a.example/', 'https://a.example:8443/x'],
  ['https://a.example:8443/', 'https://a.example/x'],
  ['https://a.example/db', 'https://a.example/db2/x'],
  ['https://a.example/db/', 'https://a.example/db'],
  ['https://a.example/db', 'https://a.example/DB/x'],
  ['https://a.example/db', 'https://a.example/%64b/x'],
  ['https://a.example/db', 'https://a.example/?/db/x'],
])('a node that lists %s does not send to %s', async (prefix, url) => {
  const { exitCode, stderr } = await send(url, prefix);
  expect(exitCode).toBe(3);
  expect(stderr).toMatch(
    /begins with no prefix that .* add a line backup-to URL-PREFIX there, such as: /,
  );
});

test.each([
  ['..', 'https://a.example/db/../x'],
  ['.. at the end', 'https://a.example/db/..'],
  ['.', 'https://a.example/db/./x'],
  ['.. with a parameter', 'https://a.example/db/..;/x'],
  ['an encoded dot', 'https://a.example/db/.%2E/x'],
  ['an encoded slash', 'https://a.example/db/..%2fx'],
  ['an encoded percent sign', 'https://a.example/db/%252e%252e/x'],
  ['a backslash', 'https://a.example/db\\..\\x'],
  ['an encoded backslash', 'https://a.example/db/..%5Cx'],
  ['an empty segment', 'https://a.example/db//x'],
])('a path with %s is refused', async (_, url) => {
  expect(await send(url, 'https://a.example/db')).toEqual({
    exitCode: 3,
    stderr: expect.stringContaining('has a path that servers interpret differently'),
  });
});

test.each(['https://a.example@evil.test/x', 'https://a.example:443@evil.test/x'])(
  'a user in %s is refused',
  async (url) => {
    const { exitCode, stderr } = await send(url, 'https://a.example');
    expect([exitCode, stderr]).toEqual([3, expect.stringContaining('has a user before its host')]);
  },
);

test('a node that lists no prefix sends nothing', async () => {
  expect(await send('https://a.example/x?sig=s3cret')).toEqual({
    exitCode: 3,
    stderr: expect.stringMatching(
      /^https:\/\/a\.example\/x\?\.\.\. begins with no prefix .*: backup-to https:\/\/a\.example\/$/,
    ),
  });
});

test('a listed prefix with a query is rejected', async () => {
  const { stderr } = await send('https://a.example/x', 'https://a.example/?a');
  expect(stderr).toContain('is not a prefix, since it has a query');
});
