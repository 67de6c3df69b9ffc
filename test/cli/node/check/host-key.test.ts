import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { runProgram } from '../../../../src/cli/node/check/host-key/run.ts';
import { type RunProgram, trustHostKey } from '../../../../src/cli/node/check/host-key/trust.ts';
import { stowage } from '../../../support/fake-io.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

/** Keys created by ssh-keygen, with its fingerprint of the first. */
const ED25519 = 'AAAAC3NzaC1lZDI1NTE5AAAAIPtO94QCJNZDpGxhQEetsOfQoId3YQyJNO8wlXUcaIHv';
const OTHER = 'AAAAC3NzaC1lZDI1NTE5AAAAIASryg4ph//7wshC/QnTL6FUkSzCla83WdrigI79NTL3';
const FINGERPRINT = 'SHA256:4I9q9867sgg9Vqiy25UZHWyLuanRKOhSWAt/r6dmlYg';

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
let knownHosts: string;
let asked: string[];
beforeEach(async () => {
  folder = await temporaryDirectory('known-hosts');
  knownHosts = join(folder.path, 'ssh', 'known_hosts');
  asked = [];
});
afterEach(() => folder.remove());

/** Returns a function that stands for programs and prints texts by their names. */
const programs =
  (texts: Record<string, string>): RunProgram =>
  async (program, args) => {
    asked.push([program, ...args].join(' '));
    const stdout = texts[program] ?? '';
    return {
      exitCode: stdout === '' ? 1 : 0,
      stdout,
      stderr: stdout === '' ? 'no route to host' : '',
    };
  };
const settings = () =>
  `hostname 10.0.0.7\nport 2222\nuserknownhostsfile ${knownHosts} ${knownHosts}2\n`;
const trust = (texts: Record<string, string>, address = {}) =>
  trustHostKey({
    node: 'n1',
    fingerprint: FINGERPRINT,
    address,
    sshConfig: undefined,
    run: programs({
      ssh: settings(),
      'ssh-keyscan': `10.0.0.7 ssh-ed25519 ${ED25519}\n`,
      ...texts,
    }),
  });

test('--trust-host-key adds the key with the fingerprint under the node’s name', async () => {
  expect(await trust({}, { host: 'a.example', port: 7 })).toMatchObject({
    knownHosts,
    known: false,
  });
  expect(asked).toEqual([
    'ssh -p 7 -G -- a.example',
    'ssh-keyscan -T 10 -p 2222 -- 10.0.0.7',
    `ssh-keygen -F n1 -f ${knownHosts}`,
    `ssh-keygen -F n1 -f ${knownHosts}2`,
  ]);
  expect(await readFile(knownHosts, 'utf8')).toBe(`n1 ssh-ed25519 ${ED25519}\n`);
  expect((await stat(knownHosts)).mode & 0o777).toBe(0o600);
});

test('--trust-host-key keeps other keys, even after a line without a newline', async () => {
  await mkdir(join(folder.path, 'ssh'));
  await writeFile(knownHosts, `n2 ssh-ed25519 ${OTHER}`);
  await trust({});
  expect(await readFile(knownHosts, 'utf8')).toBe(
    `n2 ssh-ed25519 ${OTHER}\nn1 ssh-ed25519 ${ED25519}\n`,
  );
});

test('--trust-host-key does not add a known key again', async () => {
  const found = `# Host n1 found: line 1\n|1|abc=|def= ssh-ed25519 ${ED25519}\n`;
  expect(await trust({ 'ssh-keygen': found })).toMatchObject({ known: true });
  await expect(stat(knownHosts)).rejects.toThrow('ENOENT');
});

test.each([
  ['its own file', '', 'n1'],
  ['its own file, for all', '', '*'],
  ['another file that ssh reads', '2', 'n1'],
])('a key that is revoked in %s is refused', async (_, which, host) => {
  await mkdir(join(folder.path, 'ssh'));
  const revoked = `@revoked ${host} ssh-ed25519 ${ED25519}\n`;
  await writeFile(`${knownHosts}${which}`, revoked);
  const fake = programs({ ssh: settings(), 'ssh-keyscan': `10.0.0.7 ssh-ed25519 ${ED25519}\n` });
  const run: RunProgram = (program, args) =>
    program === 'ssh-keygen' ? runProgram(program, args) : fake(program, args);
  const trusting = trustHostKey({
    node: 'n1',
    fingerprint: FINGERPRINT,
    address: {},
    sshConfig: undefined,
    run,
  });
  await expect(trusting).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining(`${FINGERPRINT} (ssh-ed25519) of node n1 is revoked`),
  });
  if (which === '') expect(await readFile(knownHosts, 'utf8')).toBe(revoked);
  else await expect(stat(knownHosts)).rejects.toThrow('ENOENT');
});

test('a key is added although another key of the node is revoked', async () => {
  await trust({ 'ssh-keygen': `@revoked n1 ssh-ed25519 ${OTHER}\n` });
  expect(await readFile(knownHosts, 'utf8')).toContain(ED25519);
});

test('a key is added beside a known key of another type', async () => {
  await trust({ 'ssh-keygen': 'n1 ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQ==\n' });
  expect(await readFile(knownHosts, 'utf8')).toContain(ED25519);
});

test.each<[string, Record<string, string>, string, string]>([
  [
    'a node that presents another key',
    { 'ssh-keyscan': `# 10.0.0.7:22 SSH-2.0\n10.0.0.7 ssh-ed25519 ${OTHER}\n` },
    'shows no host key with the fingerprint SHA256:',
    'another machine',
  ],
  [
    'a key that has changed',
    { 'ssh-keygen': `n1 ssh-ed25519 ${OTHER}\n` },
    'has another host key than before',
    'ssh-keygen -R n1 -f ',
  ],
  ['a node that does not answer', { 'ssh-keyscan': '' }, 'got no host key of node n1', 'sshd runs'],
  [
    'a node behind a jump host',
    { ssh: 'hostname n1\nport 22\nproxyjump bastion\n' },
    'is reached through bastion',
    'HostKeyAlias=n1',
  ],
  ['an invalid configuration', { ssh: '' }, 'no route to host', ''],
  [
    'a configuration without known hosts',
    { ssh: 'hostname n1\nport 22\nuserknownhostsfile none\n' },
    'ssh keeps no known hosts',
    'Set UserKnownHostsFile to a file',
  ],
])('%s is refused, and nothing is written', async (_, texts, message, hint) => {
  const error = await trust(texts).then(
    () => undefined,
    (thrown: Error & { hint?: string }) => thrown,
  );
  expect(error?.message).toContain(message);
  expect(error?.hint ?? '').toContain(hint);
  await expect(stat(knownHosts)).rejects.toThrow('ENOENT');
});

test.each([
  [['n1', '--trust-host-key', 'MD5:aa'], 'SHA256: and 43 characters'],
  [['n1', 'n2', '--trust-host-key', FINGERPRINT], 'takes one node, with --transport ssh'],
  [
    ['n1', '--transport', 'local', '--local-node', 'n1', '--trust-host-key', FINGERPRINT],
    'takes one node, with --transport ssh',
  ],
])('%j is wrong usage', async (argv, message) => {
  const { code, err } = await stowage(['check', 'node', ...argv]);
  expect(code).toBe(2);
  expect(err).toContain(message);
});
