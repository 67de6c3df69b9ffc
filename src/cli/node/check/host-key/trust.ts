import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { StowageError } from '../../../../api/errors.ts';
import type { SshAddress } from '../../../../nodes/transport/ssh-shell.ts';
import { decideTrust, type HostKey, parseKeys, parseRevoked, settingOf } from './keys.ts';

/** Runs a program to its end, whatever its exit status. */
export type RunProgram = (
  program: string,
  args: readonly string[],
) => Promise<{ exitCode: number | undefined; stdout: string; stderr: string }>;

export interface TrustOptions {
  node: string;
  /** `SHA256:…` */
  fingerprint: string;
  address: SshAddress;
  /** Configuration of ssh; by default, the user's and the system's. */
  sshConfig: string | undefined;
  run: RunProgram;
}

export interface Trusted {
  key: HostKey;
  knownHosts: string;
  /** The key was known before. */
  known: boolean;
}

/**
 * Adds a node's host key to the known hosts, under the node's name, if it has the given
 * fingerprint. Throws a StowageError: `conflict` if it has another one, or another key is known.
 */
export async function trustHostKey(options: TrustOptions): Promise<Trusted> {
  const { node, fingerprint, run } = options;
  const { host, port, knownHosts, others } = await settings(options);
  const scan = await run('ssh-keyscan', ['-T', '10', '-p', port, '--', host]);
  const shown = parseKeys(scan.stdout);
  if (shown.length === 0) {
    const output = scan.stderr.trim().split('\n').at(-1) || 'it printed no error';
    throw new StowageError(
      'failed',
      `ssh-keyscan got no host key of node ${node} (${host}, port ${port}): ${output}`,
      {
        hint: 'Check that sshd runs there, and the address and port in the Node or in the ssh configuration.',
      },
    );
  }
  const search = async (file: string) => (await run('ssh-keygen', ['-F', node, '-f', file])).stdout;
  const found = await search(knownHosts);
  const all = [found, ...(await Promise.all(others.map(search)))];
  const revoked = all.flatMap(parseRevoked);
  const decision = decideTrust(node, fingerprint, shown, parseKeys(found), revoked, knownHosts);
  if ('refused' in decision) {
    throw new StowageError('conflict', decision.refused, { hint: decision.hint });
  }
  if ('known' in decision) return { key: decision.known, knownHosts, known: true };
  await append(knownHosts, `${node} ${decision.add.type} ${decision.add.key}`);
  return { key: decision.add, knownHosts, known: false };
}

/** Returns the address that ssh would use, and the files in which it searches keys. */
async function settings({ node, address, sshConfig, run }: TrustOptions) {
  const { stdout, stderr, exitCode } = await run('ssh', [
    ...(sshConfig === undefined ? [] : ['-F', sshConfig]),
    ...(address.port === undefined ? [] : ['-p', String(address.port)]),
    ...['-G', '--', address.host ?? node],
  ]);
  if (exitCode !== 0) {
    throw new StowageError(
      'failed',
      `ssh -G does not print the address of node ${node}: ${stderr.trim()}`,
    );
  }
  const jump = settingOf(stdout, 'proxyjump') ?? settingOf(stdout, 'proxycommand');
  if (jump !== undefined && jump !== 'none') {
    throw new StowageError(
      'failed',
      `node ${node} is reached through ${jump}, which ssh-keyscan does not support`,
      {
        hint: `Log in by hand, compare the fingerprint, then accept the key: ssh -o HostKeyAlias=${node} ${node}`,
      },
    );
  }
  // Several files may be named; ssh also writes to the first.
  const files = (name: string) =>
    (settingOf(stdout, name)?.split(/\s+/) ?? []).map((file) =>
      file.replace(/^~(?=\/)/, homedir()),
    );
  const [knownHosts = join(homedir(), '.ssh/known_hosts'), ...more] = files('userknownhostsfile');
  if (!isAbsolute(knownHosts) || knownHosts === '/dev/null') {
    throw new StowageError(
      'failed',
      `ssh keeps no known hosts: its UserKnownHostsFile is ${knownHosts}`,
      {
        hint: 'Set UserKnownHostsFile to a file: host keys are always checked.',
      },
    );
  }
  return {
    host: settingOf(stdout, 'hostname') ?? address.host ?? node,
    port: settingOf(stdout, 'port') ?? '22',
    knownHosts,
    /** Other files that ssh reads. */
    others: [...more, ...files('globalknownhostsfile')].filter(isAbsolute),
  };
}

async function append(file: string, line: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const before = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  // A single write does not mix with concurrent ones.
  const end = before === '' || before.endsWith('\n') ? '' : '\n';
  await appendFile(file, `${end}${line}\n`, { mode: 0o600 });
}
