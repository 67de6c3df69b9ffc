import { expect, test } from '@jest/globals';
import { reason } from '../../../src/api/reasons.ts';
import { NodeError } from '../../../src/nodes/errors.ts';
import { classifySshFailure } from '../../../src/nodes/transport/ssh-failure.ts';

const CHANGED = `@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
The fingerprint for the ED25519 key sent by the remote host is
SHA256:/e8Q0bA4JaoszpMCLz9RLc+AYpm+mUum51yWUVXzHiA.
Please contact your system administrator.
Add correct host key in /root/.ssh/known_hosts to get rid of this message.
Offending ED25519 key in /root/.ssh/known_hosts:1
Host key for n1 has changed and you have requested strict checking.
Host key verification failed.`;

test.each([
  [
    'another host key',
    255,
    CHANGED,
    'refused',
    'differs from the known one: it sent the ED25519 key SHA256:/e8Q0bA4JaoszpMCLz9RLc+AYpm+mUum51yWUVXzHiA',
    '(/root/.ssh/known_hosts:1): ssh-keygen -R n1',
    reason('HostKeyChanged', {
      node: 'n1',
      type: 'ED25519',
      fingerprint: 'SHA256:/e8Q0bA4JaoszpMCLz9RLc+AYpm+mUum51yWUVXzHiA',
      file: '/root/.ssh/known_hosts',
      line: 1,
    }),
  ],
  [
    'an unknown host key',
    255,
    'No ED25519 host key is known for n1 and you have requested strict checking.\r\nHost key verification failed.',
    'refused',
    'its host key is unknown (of type ED25519)',
    'known_hosts under the name n1',
    reason('HostKeyUnknown', { node: 'n1', type: 'ED25519' }),
  ],
  [
    'a host certificate for other names',
    255,
    'Certificate invalid: name is not a listed principal\r\nNo ED25519 host key is known for n1 and you have requested strict checking.\r\nHost key verification failed.',
    'refused',
    'its host certificate is not accepted for the name n1: name is not a listed principal',
    '@cert-authority n1 CA-KEY',
    reason('HostCertificateRefused', {
      node: 'n1',
      said: 'name is not a listed principal',
    }),
  ],
  [
    'an unknown host key of a jump host with a certificate',
    255,
    'Certificate invalid: expired\r\nNo ED25519 host key is known for jump and you have requested strict checking.\r\nHost key verification failed.',
    'refused',
    'its host key is unknown',
    'known_hosts under the name n1',
    reason('HostKeyUnknown', { node: 'n1' }),
  ],
  [
    'a host key that known_hosts revokes',
    255,
    `${CHANGED.split('\n')[0]}\n@       WARNING: REVOKED HOST KEY DETECTED!               @\nThe ED25519 host key for n1 is marked as revoked.\nED25519 host key for n1 was revoked and you have requested strict checking.\nHost key verification failed.`,
    'refused',
    'its host key is revoked',
    'Find out why it was revoked',
    reason('HostKeyRevoked', { node: 'n1' }),
  ],
  [
    'a host key that a file revokes',
    255,
    'Host key ED25519 SHA256:x revoked by file /etc/ssh/revoked keys\r\nHost key verification failed.',
    'refused',
    'its host key is revoked, by the file /etc/ssh/revoked keys',
    'Find out why it was revoked',
    reason('HostKeyRevoked', { node: 'n1', file: '/etc/ssh/revoked keys' }),
  ],
  [
    'a refused key',
    255,
    'root@127.0.0.1: Permission denied (publickey).',
    'refused',
    'node n1 refuses the login: root@127.0.0.1: Permission denied (publickey).',
    'stowage check node n1',
    reason('LoginRefused', {
      node: 'n1',
      said: 'root@127.0.0.1: Permission denied (publickey).',
    }),
  ],
  [
    'a closed port',
    255,
    'ssh: connect to host 127.0.0.1 port 1: Connection refused',
    'unreachable',
    'Connection refused',
    'stowage check node n1',
    reason('NodeUnreachable', {
      node: 'n1',
      said: 'connect to host 127.0.0.1 port 1: Connection refused',
    }),
  ],
  [
    'an unknown host name',
    255,
    'ssh: Could not resolve hostname n1: Name or service not known',
    'unreachable',
    'over ssh: Could not resolve',
    'stowage check node n1',
    reason('NodeUnreachable', {
      node: 'n1',
      said: 'Could not resolve hostname n1: Name or service not known',
    }),
  ],
  [
    'a lost connection',
    255,
    '',
    'unreachable',
    'node n1 is unreachable over ssh: the connection broke, and ssh gave no reason',
    'stowage check node n1',
    reason('NodeUnreachable', {
      node: 'n1',
      said: 'the connection broke, and ssh gave no reason',
    }),
  ],
  [
    'no ssh client',
    undefined,
    'spawn ssh ENOENT',
    'unreachable',
    'ENOENT',
    'stowage check node n1',
    reason('NodeUnreachable', { node: 'n1', said: 'spawn ssh ENOENT' }),
  ],
  [
    'a silent sh',
    1,
    '\n',
    'protocol',
    'sh failed with status 1: it printed nothing',
    undefined,
    reason('ShellFailed', { node: 'n1', exit: 1, said: 'it printed nothing' }),
  ],
  [
    'a failed sh',
    2,
    'sh: 1: Syntax error',
    'protocol',
    'sh failed with status 2: sh: 1: Syntax error',
    undefined,
    reason('ShellFailed', { node: 'n1', exit: 2, said: 'sh: 1: Syntax error' }),
  ],
  [
    'no sh',
    127,
    'bash: sh: command not found',
    'protocol',
    'status 127',
    undefined,
    reason('ShellFailed', { node: 'n1', exit: 127, said: 'bash: sh: command not found' }),
  ],
] as const)('classifies %s', (_, exitCode, stderr, code, message, hint, why) => {
  const error = classifySshFailure('n1', exitCode, stderr);
  expect(error).toBeInstanceOf(NodeError);
  expect(error).toMatchObject({ code, node: 'n1', message: expect.stringContaining(message) });
  expect(error.reason).toEqual(why);
  if (hint === undefined) expect(error.hint).toBeUndefined();
  else expect(error.hint).toContain(hint);
});

test('long output of ssh is complete in the message, and truncated in the reason', () => {
  const said = 'x'.repeat(2000);
  const error = classifySshFailure('n1', 255, said);
  expect(error.message).toBe(`node n1 is unreachable over ssh: ${said}`);
  expect(error.reason).toEqual(reason('NodeUnreachable', { node: 'n1', said: 'x'.repeat(512) }));
});
