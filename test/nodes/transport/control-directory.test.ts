import { expect, test } from '@jest/globals';
import { controlDirectoryOf, socketName } from '../../../src/nodes/transport/control-directory.ts';

const LONG = `/${'x'.repeat(50)}`;
const fallback = (uid: number) => ({ path: `/tmp/stowage-ssh-${uid}`, isFallback: true });
const preferred = (path: string) => ({ path, isFallback: false });

test.each([
  ['root', 0, '/x', '/y', preferred('/run/stowage-ssh-0')],
  ['a user', 1000, '/run/user/1000', '/y', preferred('/run/user/1000/stowage-ssh-1000')],
  ['a user without a session', 1000, '', '/tmp', preferred('/tmp/stowage-ssh-1000')],
  ['a relative runtime directory', 1000, 'x', '/y', preferred('/y/stowage-ssh-1000')],
  ['a long TMPDIR', 1000, '', LONG, fallback(1000)],
  ['a long runtime directory', 1000, LONG, '/y', fallback(1000)],
  [
    'a user of a directory service',
    1_234_567_890,
    '/run/user/1234567890',
    '/y',
    fallback(1_234_567_890),
  ],
  ['a name in which ssh replaces %u', 1000, '/a%u', '/y', fallback(1000)],
  ['a name with a space', 1000, '/a b', '/y', fallback(1000)],
])(
  'the sockets of %s are in a directory that ssh can use',
  (_, uid, runtime, temporary, expected) => {
    expect(controlDirectoryOf(uid, runtime, temporary)).toEqual(expected);
  },
);

test.each([0, 1000, 4_294_967_294])('the path of a socket of user %i is not too long', (uid) => {
  const runtime = '/run/user/4294967294';
  const { path } = controlDirectoryOf(uid, runtime, '/tmp');
  const name = socketName('n1').replace('%C', 'c'.repeat(40));
  // ssh first creates the socket under a name with 17 more characters.
  expect(`${path}/${name}${'.'.repeat(17)}`.length).toBeLessThanOrEqual(107);
});
