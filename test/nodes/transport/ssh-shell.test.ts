import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { reason } from '../../../src/api/reasons.ts';
import { createSshShell } from '../../../src/nodes/transport/ssh-shell.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** UID of no user: its directory of sockets is in XDG_RUNTIME_DIR. */
const USER = 54_321;

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
const { PATH, XDG_RUNTIME_DIR } = process.env;

beforeEach(async () => {
  folder = await temporaryDirectory('ssh');
  const ssh = join(folder.path, 'ssh');
  await writeFile(ssh, `#!/bin/sh\necho "$*" >>'${folder.path}/arguments'\n`);
  await chmod(ssh, 0o755);
  process.env.PATH = `${folder.path}:${PATH}`;
  process.env.XDG_RUNTIME_DIR = folder.path;
});
afterEach(async () => {
  jest.restoreAllMocks();
  process.env.PATH = PATH;
  if (XDG_RUNTIME_DIR === undefined) delete process.env.XDG_RUNTIME_DIR;
  else process.env.XDG_RUNTIME_DIR = XDG_RUNTIME_DIR;
  await folder.remove();
});

const shell = (host = '10.0.0.1') => createSshShell({ addressOf: () => ({ host }) });
const sshArguments = () => readFile(join(folder.path, 'arguments'), 'utf8').catch(() => undefined);

/** Returns the directory of sockets for a user ID. Its owner is the user who runs the tests. */
async function socketsOf(user: number): Promise<string> {
  jest.spyOn(process, 'getuid').mockReturnValue(user);
  return join(folder.path, `stowage-ssh-${user}`);
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
  await writeFile(
    join(folder.path, 'ssh'),
    `#!/bin/sh
echo "$*" >>'${count}'
[ "$(wc -l <'${count}')" -gt 1 ] && exec echo answer
echo 'mux_client_request_${said}' >&2
exit 255
`,
  );
  const answer = await shell()
    .run('n1', '', 5000)
    .catch((error: Error) => error.message);
  expect(answer).toMatch(calls === 2 ? /^answer$/m : /is unreachable over ssh: mux_client/);
  expect((await sshArguments())?.trim().split('\n')).toHaveLength(calls);
});

test('closes a connection with endless output, as from a compromised node', async () => {
  await writeFile(join(folder.path, 'ssh'), '#!/bin/sh\nexec yes ""\n');
  // Far longer than the timeout of the test.
  await expect(shell().run('n1', '', 3_600_000)).rejects.toMatchObject({
    code: 'protocol',
    message: 'node n1 answered with more than 4 MiB',
    reason: reason('AnswerTooLong', { node: 'n1', limit: 4 }),
  });
}, 30_000);

test('reports a node that does not respond in time as silent', async () => {
  await writeFile(join(folder.path, 'ssh'), '#!/bin/sh\nexec sleep 60\n');
  await expect(shell().run('n1', '', 100)).rejects.toMatchObject({
    code: 'unreachable',
    message: 'node n1 did not answer within 0.1 s',
    reason: reason('NodeSilent', { node: 'n1', seconds: 0.1 }),
  });
});
