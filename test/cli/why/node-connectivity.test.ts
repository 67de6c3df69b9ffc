import { describe, expect, test } from '@jest/globals';
import { obstructionOf } from '../../../src/cli/why/obstruction.ts';
import type { NodeError } from '../../../src/nodes/errors.ts';
import { SudoRefusal } from '../../../src/nodes/sudo.ts';
import type { SaltAccess } from '../../../src/nodes/transport/salt/access.ts';
import * as salt from '../../../src/nodes/transport/salt/failures.ts';
import { ModuleRefusal } from '../../../src/nodes/transport/salt/refusal.ts';
import { classifySshFailure } from '../../../src/nodes/transport/ssh-failure.ts';

const ACCESS = {
  url: 'https://s:8000',
  user: 'stowage',
  eauth: 'pam',
  secretFile: '/s',
} as SaltAccess;
const CHANGED = `@@@
@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
The fingerprint for the ED25519 key sent by the remote host is
SHA256:abc/DEF+1.
Please contact your system administrator.
Offending ED25519 key in /home/me/known hosts:3
Host key verification failed.`;
const MISSING = "'stowage.observe' is not available.";

/** Returns the obstruction for a reason, as in the condition of a Volume. */
const obstruction = (node: string, { reason }: NodeError) => obstructionOf(reason, { node });
const ssh = (stderr: string) => classifySshFailure('n1', 255, stderr);

describe('a node error', () => {
  test.each<[string, NodeError, string[] | undefined]>([
    [
      'HostKeyChanged',
      ssh(CHANGED),
      [
        "ssh-keygen -R n1 -f '/home/me/known hosts'",
        "stowage check node n1 --trust-host-key 'SHA256:abc/DEF+1'",
      ],
    ],
    [
      'HostKeyUnknown',
      ssh('No ED25519 host key is known for n1 and you have requested strict checking.'),
      ['stowage check node n1 --trust-host-key SHA256:FINGERPRINT'],
    ],
    ['LoginRefused', ssh('me@n1: Permission denied (publickey).'), ['stowage check node n1']],
    [
      'SudoRefused',
      new SudoRefusal('stowage', 'losetup -d /dev/loop7', 'sudo: a password is required').on('n1'),
      [
        "stowage print sudoers --user stowage | ssh 'root@n1' 'install -m 0440 /dev/stdin /etc/sudoers.d/stowage.new && visudo -cf /etc/sudoers.d/stowage.new && mv /etc/sudoers.d/stowage.new /etc/sudoers.d/stowage'",
      ],
    ],
    [
      'SaltModuleMissing',
      salt.functionFailed('n1', 'm1', MISSING, 254),
      ['salt m1 saltutil.sync_modules'],
    ],
    [
      'SaltModuleMissing',
      salt.functionFailed('n1', 'm1', "'stowage' __virtual__ returned False: no flock", 254),
      ['salt m1 saltutil.sync_modules'],
    ],
    [
      'SaltModuleOld',
      salt.functionFailed('n1', 'm1', 'Passed invalid arguments: observe() got an unexpected', 1),
      ['salt m1 saltutil.sync_modules'],
    ],
    [
      'SaltModuleOld',
      new ModuleRefusal('version', 'version 0', '').on('n1', { minion: 'm1' }),
      ['salt m1 saltutil.sync_modules'],
    ],
    [
      'MinionDown',
      salt.minionDown('n1', 'm1'),
      ['ssh n1 systemctl start salt-minion', 'salt m1 test.ping'],
    ],
    [
      'SaltModuleOld',
      new ModuleRefusal('version', 'version 0', '').on('n1', { page: 'docs/ssh-guard.md' }),
      undefined,
    ],
    ['MinionUnknown', salt.noMinion('n1', 'm1'), ['salt-key -l all', 'salt-key -a m1']],
    [
      'SaltUnreachable',
      salt.apiUnreachable('n1', ACCESS, new Error('connect ECONNREFUSED')),
      ['systemctl start salt-master salt-api'],
    ],
    ['SaltLoginRefused', salt.loginRefused('n1', ACCESS, new Error('401')), undefined],
    [
      'SaltLoginRefused',
      salt.notAllowed('n1', ACCESS, 'stowage.call', new Error('401')),
      undefined,
    ],
  ])('is recognized as %s', (cause, error, run) => {
    const found = obstruction('n1', error);
    expect(found).toMatchObject({ cause, fix: { say: expect.any(String) } });
    expect(found?.fix?.run).toEqual(run);
  });

  test.each<[string, NodeError]>([
    ['a node that is down', ssh('ssh: connect to host n1 port 22: No route to host')],
    [
      'an exception in a Salt function',
      salt.functionFailed('n1', 'm1', 'Traceback\nKeyError: 1', 1),
    ],
  ])('is not recognized: %s', (_, error) => {
    expect(obstruction('n1', error)?.cause).toBeUndefined();
  });
});

test('quotes text of a node in commands', () => {
  const evil = "x;touch'/tmp/owned";
  const node = `n$(touch a)`;
  const lines = [
    ssh(CHANGED.replace('/home/me/known hosts', `/k'; touch a #`)),
    new SudoRefusal(evil, 'x', '').on(node),
    salt.minionDown(node, evil),
    salt.functionFailed(node, evil, MISSING, 254),
  ].flatMap((error) => obstruction(node, error)?.fix?.run ?? []);
  expect(lines).toEqual([
    `ssh-keygen -R '${node}' -f '/k'\\''; touch a #'`,
    `stowage check node '${node}' --trust-host-key 'SHA256:abc/DEF+1'`,
    `ssh '${node}' systemctl start salt-minion`,
    `salt 'x;touch'\\''/tmp/owned' test.ping`,
    `salt 'x;touch'\\''/tmp/owned' saltutil.sync_modules`,
  ]);
});
