import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { reason } from '../../../src/api/reasons.ts';
import { createSshShell } from '../../../src/nodes/transport/ssh-shell.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** UID of no user: its directory of sockets is in XDG_RUNTIME_DIR. */
const USER = 54_321;

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
/** Directory whose path is short enough for sockets. */
let runtime: string;
const { PATH, XDG_RUNTIME_DIR } = process.env;

beforeEach(async () => {
  folder = await temporaryDirectory('ssh');
  await standIn(`echo "$*" >>'${folder.path}/arguments'`);
  process.env.PATH = `${folder.path}:${PATH}`;
  runtime = await mkdtemp('/tmp/s-');
  process.env.XDG_RUNTIME_DIR = runtime;
});
afterEach(async () => {
  jest.restoreAllMocks();
  process.env.PATH = PATH;
  if (XDG_RUNTIME_DIR === undefined) delete process.env.XDG_RUNTIME_DIR;
  else process.env.XDG_RUNTIME_DIR = XDG_RUNTIME_DIR;
  await folder.remove();
  await rm(runtime, { recursive: true });
});

/**
 * Replaces ssh by a script. `printed`: answer to `ssh -G`, with which Stowage learns what ssh
 * knows.
 */
async function standIn(script: string, printed = 'exit 0'): Promise<void> {
  const ssh = join(folder.path, 'ssh');
  await writeFile(ssh, `#!/bin/sh\n[ "$1" != -G ] || { ${printed}; exit 0; }\n${script}\n`);
  await chmod(ssh, 0o755);
}

const shell = (host = '10.0.0.1') => createSshShell({ addressOf: () => ({ host }) });
const sshArguments = () => readFile(join(folder.path, 'arguments'), 'utf8').catch(() => undefined);

/** Returns the directory of sockets for a user ID. Its owner is the user who runs the tests. */
async function socketsOf(user: number): Promise<string> {
  jest.spyOn(process, 'getuid').mockReturnValue(user);
  return join(runtime, `stowage-ssh-${user}`);
}

test('host keys are checked under the name of the node', async () => {
  await shell().run('n1', '', 5000);
  const words = (await sshArguments())?.split(' ') ?? [];
  expect(words).toEqual(
    expect.arrayContaining(['StrictHostKeyChecking=yes', 'HostKeyAlias=n1', 'BatchMode=yes']),
  );
});

test('refuses a socket directory of another user', async () => {
  const user = (process.getuid?.() ?? 0) + USER;
  await mkdir(await socketsOf(user));
  await expect(shell().run('n1', '', 5000)).rejects.toMatchObject({
    code: 'refused',
    message: expect.stringContaining('is not a directory of this user'),
    reason: { code: 'SocketFolderUnusable' },
  });
  expect(await sshArguments()).toBeUndefined();
});

test('refuses a socket directory that is a symbolic link', async () => {
  const sockets = await socketsOf(USER);
  await mkdir(join(folder.path, 'elsewhere'));
  await symlink(join(folder.path, 'elsewhere'), sockets);
  await expect(shell().run('n1', '', 5000)).rejects.toThrow('is not a directory of this user');
});

test.each(['-oProxyCommand=x', 'n1;x', 'N1', '', '.n1'])(
  '%j is not a valid node name',
  async (name) => {
    await expect(shell().run(name, '', 5000)).rejects.toMatchObject({
      message: `${JSON.stringify(name)} is not a valid node name`,
      reason: reason('NodeNameInvalid', { name: JSON.stringify(name) }),
    });
    expect(await sshArguments()).toBeUndefined();
  },
);

test.each([
  ['before a session request: retried', 'session: write packet: Broken pipe', 2],
  ['before an alive check: retried', 'alive: write packet: Broken pipe', 2],
  [
    'after a session request, so that something may have run: not retried',
    'session: read from master failed: Broken pipe',
    1,
  ],
])('the shared connection ends %s', async (_, said, calls) => {
  const count = `${folder.path}/arguments`;
  await standIn(`echo "$*" >>'${count}'
[ "$(wc -l <'${count}')" -gt 1 ] && exec echo answer
echo 'mux_client_request_${said}' >&2
exit 255`);
  const answer = await shell()
    .run('n1', '', 5000)
    .catch((error: Error) => error.message);
  expect(answer).toMatch(calls === 2 ? /^answer$/m : /is unreachable over ssh: mux_client/);
  expect((await sshArguments())?.trim().split('\n')).toHaveLength(calls);
});

test('closes a connection with endless output, as from a compromised node', async () => {
  await standIn('exec yes ""');
  // Far longer than the timeout of the test.
  await expect(shell().run('n1', '', 3_600_000)).rejects.toMatchObject({
    code: 'protocol',
    message: 'node n1 answered with more than 4 MiB',
    reason: reason('AnswerTooLong', { node: 'n1', limit: 4 }),
  });
}, 30_000);

test('reports a node that does not respond in time as silent', async () => {
  await standIn('exec sleep 60');
  await expect(shell().run('n1', '', 100)).rejects.toMatchObject({
    code: 'unreachable',
    message: 'node n1 did not answer within 0.1 s',
    reason: reason('NodeSilent', { node: 'n1', seconds: 0.1 }),
  });
});

test('a call ends with ssh, though its shared connection keeps the standard error open', async () => {
  // As the master of OpenSSH before 8.8. The large answer is read to its end nonetheless.
  await standIn(`sleep 600 >/dev/null &
echo $! >'${folder.path}/pid'
head -c 1000000 /dev/zero | tr '\\0' x`);
  try {
    const answer = await shell().run('n1', '', 3_600_000);
    expect(answer).toHaveLength(1_000_000);
  } finally {
    process.kill(Number(await readFile(join(folder.path, 'pid'), 'utf8')));
  }
}, 60_000);

test('ssh ignores commands, terminals and forwarding of the configuration of the user', async () => {
  await shell().run('n1', '', 5000);
  const words = (await sshArguments())?.trim().split(' ') ?? [];
  expect(words).toEqual(
    expect.arrayContaining([
      ...['-T', 'ForwardAgent=no', 'ForwardX11=no', 'Tunnel=no', 'PermitLocalCommand=no'],
      ...['RemoteCommand=none', 'SessionType=default', 'StdinNull=no'],
      ...['ForkAfterAuthentication=no', 'GSSAPIDelegateCredentials=no'],
    ]),
  );
});

test.each([
  ['7.4', ['RemoteCommand', 'SessionType', 'StdinNull', 'Fork'], []],
  ['8.4', ['SessionType', 'StdinNull', 'Fork'], ['RemoteCommand=none']],
])('OpenSSH %s gets no options that it refuses', async (_, unknown, passed) => {
  const refused = unknown.map((option) => `*${option}*`).join('|');
  await standIn(
    `echo "$*" >>'${folder.path}/arguments'`,
    `case "$*" in ${refused}) exit 255 ;; esac`,
  );
  await shell().run('n1', '', 5000);
  const words = (await sshArguments())?.trim().split(' ') ?? [];
  expect(words.filter((word) => /^(RemoteC|SessionT|StdinN|Fork)/.test(word))).toEqual(passed);
});

test('connections are not shared if no directory for their sockets is short enough', async () => {
  process.env.XDG_RUNTIME_DIR = join(folder.path, 'x'.repeat(50));
  // The directory in /tmp cannot belong to this user ID.
  jest.spyOn(process, 'getuid').mockReturnValue(USER);
  const onUnshared = jest.fn();
  const node = createSshShell({ addressOf: () => ({}), onUnshared });
  try {
    await node.run('n1', '', 5000);
    await node.run('n2', '', 5000);
  } finally {
    await rm(`/tmp/stowage-ssh-${USER}`, { recursive: true, force: true });
  }
  const words = (await sshArguments())?.trim().split(' ') ?? [];
  expect(words).toEqual(expect.arrayContaining(['ControlMaster=no', 'ControlPath=none']));
  expect(onUnshared).toHaveBeenCalledTimes(1);
});

test('an option of a library that ssh was built without is not passed', async () => {
  const said = `echo 'command-line line 0: Unsupported option "gssapidelegatecredentials"' >&2`;
  await standIn(`echo "$*" >>'${folder.path}/arguments'`, `case "$*" in *GSSAPI*) ${said} ;; esac`);
  await shell().run('n1', '', 5000);
  expect(await sshArguments()).not.toContain('GSSAPI');
  expect(await sshArguments()).toContain('SessionType=default');
});

test.each([['exit 255'], ['exit 1'], ['kill -9 $$']])(
  'an ssh that does not print its configuration (%s) is asked again at the next call',
  async (ending) => {
    const busy = join(folder.path, 'busy');
    await writeFile(busy, '');
    await standIn(`echo "$*" >>'${folder.path}/arguments'`, `[ ! -e '${busy}' ] || ${ending}`);
    const node = shell();
    await node.run('n1', '', 5000);
    await rm(busy);
    await node.run('n1', '', 5000);
    const calls = (await sshArguments())?.trim().split('\n') ?? [];
    expect(calls.map((each) => each.includes('RemoteCommand=none'))).toEqual([false, true]);
  },
);

describe('a host key that ssh does not accept', () => {
  const UNKNOWN = 'No ED25519 host key is known for n1 and you have requested strict checking.';
  const FAILED = 'Host key verification failed.';

  test.each([
    ['is unknown', UNKNOWN, reason('HostKeyUnknown', { node: 'n1', type: 'ED25519' })],
    [
      'has a certificate for another name',
      `Certificate invalid: name is not a listed principal\n${UNKNOWN}`,
      reason('HostCertificateRefused', { node: 'n1', said: 'name is not a listed principal' }),
    ],
    [
      'is revoked',
      '@       WARNING: REVOKED HOST KEY DETECTED!               @',
      reason('HostKeyRevoked', { node: 'n1' }),
    ],
  ])('because it %s is not tried under another name', async (_, said, why) => {
    await standIn(`echo "$*" >>'${folder.path}/arguments'
printf '%s\n' '${said}' '${FAILED}' >&2
exit 255`);
    await expect(shell('n1.example.com').run('n1', '', 5000)).rejects.toMatchObject({
      code: 'refused',
      reason: why,
    });
    const calls = (await sshArguments())?.trim().split('\n') ?? [];
    expect(calls).toHaveLength(1);
    expect(calls[0]).toContain('HostKeyAlias=n1 ');
  });
});
