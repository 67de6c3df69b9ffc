import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { NodeError } from '../../src/nodes/errors.ts';
import type { Executor } from '../../src/nodes/job.ts';
import { limitNodes } from '../../src/nodes/node-limiter.ts';
import { createLocalShell } from '../../src/nodes/transport/local-shell.ts';
import { createShellExecutor } from '../../src/nodes/transport/shell-executor.ts';
import { createSshShell, type SshAddress } from '../../src/nodes/transport/ssh-shell.ts';
import { systemClock } from '../../src/workqueue/clock.ts';
import { NODE } from '../support/job-scene.ts';
import { describeAsRoot } from '../support/root.ts';
import { type Sshd, startSshd } from '../support/sshd.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

describeAsRoot('a connection by ssh', () => {
  let sshd: Sshd;
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;

  beforeAll(async () => {
    folder = await temporaryDirectory('ssh-connection');
    // `changed` has another host key than the server.
    sshd = await startSshd({ nodes: [NODE, 'changed'] });
    const knownHosts = await readFile(join(sshd.folder, 'known_hosts'), 'utf8');
    const otherKey = await readFile(join(sshd.folder, 'client_key.pub'), 'utf8');
    const lines = knownHosts.split('\n').filter((line) => !line.startsWith('changed '));
    await writeFile(join(sshd.folder, 'known_hosts'), `${lines.join('\n')}changed ${otherKey}`);
  });
  afterAll(async () => {
    await sshd?.stop();
    await folder?.remove();
  });
  const overSsh = (address: SshAddress = {}) =>
    createShellExecutor(createSshShell({ configFile: sshd.configFile, addressOf: () => address }));

  test('20 observations at once do not exceed the sessions of one connection', async () => {
    const shell = createSshShell({ configFile: sshd.configFile, addressOf: () => ({}) });
    const executor = createShellExecutor(limitNodes(shell, systemClock));
    const log = join(folder.path, 'log');
    await appendFile(log, '');
    // A node gets only one session until its first response.
    await executor.observe(NODE, []);
    // No command ends before 8 have begun. Then a ninth would have the time to begin.
    const script = `echo 1 >>"$0"; until [ "$(grep -c '^1' "$0")" -ge 8 ]; do sleep 0.02; done; sleep 0.1; echo -1 >>"$0"`;
    const argv = ['sh', '-c', script, log];
    const seen = await Promise.all(
      Array.from({ length: 20 }, () => executor.observe(NODE, [{ name: 'a', argv }])),
    );
    await executor.close();
    expect(seen.map((each) => each.get('a')?.exit)).toEqual(Array.from({ length: 20 }, () => 0));
    let now = 0;
    const counts = (await readFile(log, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => (now += Number(line)));
    expect(Math.max(...counts)).toBe(8);
    expect(now).toBe(0);
  });

  test('ssh runs the script whatever the configuration of the user says', async () => {
    const configFile = join(folder.path, 'config');
    const forPeople = `Host *
  RemoteCommand echo other
  RequestTTY force
  PermitLocalCommand yes
  LocalCommand echo other
  VisualHostKey yes
  ForwardAgent yes
  Tunnel yes
`;
    await writeFile(configFile, `${forPeople}${await readFile(sshd.configFile, 'utf8')}`);
    const shell = createSshShell({ configFile, addressOf: () => ({}) });
    expect(await shell.run(NODE, 'echo this', 60_000)).toBe('this\n');
    await shell.close();
  });

  describe('a node', () => {
    const fails = async (node: string, executor: Executor) => {
      const error = await executor.observe(node, []).catch((thrown: unknown) => thrown);
      await executor.close();
      expect(error).toBeInstanceOf(NodeError);
      return error;
    };

    test('with an unknown host key is refused', async () => {
      expect(await fails('unknown', overSsh({ host: '127.0.0.1' }))).toMatchObject({
        code: 'refused',
        node: 'unknown',
        message: 'node unknown: its host key is unknown (of type ED25519)',
        hint: expect.stringContaining('to known_hosts under the name unknown'),
      });
    });

    test('with a changed host key is refused', async () => {
      expect(await fails('changed', overSsh())).toMatchObject({
        code: 'refused',
        node: 'changed',
        message: expect.stringMatching(
          /^node changed: its host key differs from the known one: it sent the ED25519 key SHA256:\S{43}$/,
        ),
        hint: expect.stringMatching(/known_hosts:\d+\): ssh-keygen -R changed/),
      });
    });

    // The case of a changed address annotation: the connection belongs only to the node whose key
    // was checked.
    test('at the address of a node that is connected is refused', async () => {
      const executor = overSsh({ host: '127.0.0.1' });
      await executor.observe(NODE, []);
      expect(await fails('changed', executor)).toMatchObject({
        code: 'refused',
        message: expect.stringContaining('its host key differs from the known one'),
      });
    });

    test('is refused if it does not accept the key', async () => {
      const keys = join(sshd.folder, 'authorized_keys');
      const content = await readFile(keys);
      await writeFile(keys, '');
      try {
        expect(await fails(NODE, overSsh())).toMatchObject({
          code: 'refused',
          message: expect.stringMatching(
            /^node n1 refuses the login: root@127.0.0.1: Permission denied \(publickey\)/,
          ),
          hint: 'Check the node: stowage check node n1',
        });
      } finally {
        await writeFile(keys, content);
      }
    });

    test('with no server at the port is unreachable', async () => {
      expect(await fails(NODE, overSsh({ port: 1 }))).toMatchObject({
        code: 'unreachable',
        message: expect.stringContaining('Connection refused'),
      });
    });

    test('with a host certificate is accepted only if it is valid for its name', async () => {
      const at = (name: string) => join(sshd.folder, name);
      await execa('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at('ca')]);
      const certify = async (name: string) => {
        const key = at('host_key.pub');
        await execa('ssh-keygen', ['-q', '-s', at('ca'), '-h', '-I', 'x', '-n', name, key]);
        await sshd.down();
        await sshd.up();
      };
      await appendFile(at('sshd_config'), `HostCertificate ${at('host_key-cert.pub')}\n`);
      const ca = await readFile(at('ca.pub'), 'utf8');
      const key = await readFile(at('host_key.pub'), 'utf8');
      const known = await readFile(at('known_hosts'), 'utf8');
      // The raw key is known under the address, to which ssh must not fall back.
      const byAddress = `127.0.0.1,[127.0.0.1]:* ${key}`;
      await writeFile(at('known_hosts'), `@cert-authority * ${ca}${byAddress}`);
      try {
        await certify(NODE);
        const executor = overSsh();
        expect(await executor.observe(NODE, [])).toEqual(new Map());
        await executor.close();
        await certify('127.0.0.1');
        expect(await fails(NODE, overSsh())).toMatchObject({
          code: 'refused',
          message: `node ${NODE}: its host certificate is not accepted for the name ${NODE}: name is not a listed principal`,
        });
        await writeFile(at('known_hosts'), `@revoked * ${key}@cert-authority * ${ca}`);
        expect(await fails(NODE, overSsh())).toMatchObject({
          code: 'refused',
          message: `node ${NODE}: its host key is revoked`,
        });
      } finally {
        await writeFile(at('known_hosts'), known);
      }
    });

    test('is not managed by the local shell if it is another machine', async () => {
      expect(await fails('n2', createShellExecutor(createLocalShell([NODE])))).toMatchObject({
        code: 'not-ours',
        hint: expect.stringContaining('Current local nodes: n1'),
      });
    });
  });
});
