import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { freePorts } from './free-ports.ts';

export interface SshdOptions {
  /** The names that this machine is reached under. */
  nodes: readonly string[];
  /** Set in every session, over what sshd sets: `PATH` puts programs of a test first. */
  env?: Readonly<Record<string, string>>;
  /** Who is logged in as, with a password that is not locked (`*`). Default: root. */
  user?: string;
  /** A command that becomes the server, with the server's own as its last arguments. */
  under?: readonly string[];
  /** Where each node is reached, once `under` is in the network that has these addresses. Default: on loopback. */
  addresses?: ReadonlyMap<string, string>;
}

export interface Sshd {
  port: number;
  /** Of the listening process that was started last; every connection is a child of it. */
  pid: number;
  /** For `ssh -F`: the nodes and 127.0.0.1, as that user, with a key of their own and the host key under the nodes' names. */
  configFile: string;
  /** Holds `client_key`, `host_key`, `known_hosts`, `authorized_keys`, `sshd_config` and `log`. */
  folder: string;
  /** Ends the server and all its connections. What they started goes on, as on a node. */
  down(): Promise<void>;
  /** Starts it again after `down`, on the same port with the same keys. */
  up(): Promise<void>;
  /** Ends it for good. */
  stop(): Promise<void>;
}

/**
 * OpenSSH's sshd is told about its folder for privilege separation when it is built. Debian's service makes it, and so do
 * we where that never ran; it stays, for a server without it answers nobody, and other tests have servers at the same time.
 */
const PRIVILEGE_SEPARATION = '/run/sshd';

/** Ends only the wait for a server that never listens, in ms. */
const LISTENS_WITHIN = 120_000;

/** An sshd with configuration and keys of its own: neither ~/.ssh nor /etc/ssh is read or written. */
export async function startSshd(options: SshdOptions): Promise<Sshd> {
  const { nodes, env = {}, user = 'root', under = [], addresses } = options;
  const folder = await mkdtemp(join(tmpdir(), 'stowage-sshd-'));
  const [port = 0] = await freePorts(1);
  const [hostKey] = await Promise.all([
    makeKey(join(folder, 'host_key')),
    makeKey(join(folder, 'client_key')),
  ]);
  await writeFile(join(folder, 'authorized_keys'), await readFile(join(folder, 'client_key.pub')));
  await writeFile(
    join(folder, 'known_hosts'),
    [...nodes, `[127.0.0.1]:${port}`].map((name) => `${name} ${hostKey}\n`).join(''),
  );
  const listen = addresses === undefined ? '127.0.0.1' : '0.0.0.0';
  await writeFile(join(folder, 'sshd_config'), serverConfig(folder, `${listen}:${port}`, env));
  const configFile = join(folder, 'ssh_config');
  const hosts = [...(addresses ?? [])].map(
    ([node, address]) => `Host ${node}\n  HostName ${address}\n`,
  );
  await writeFile(configFile, hosts.join('') + clientConfig(folder, port, nodes, user));
  // The server reads the keys as the user that logs in.
  if (user !== 'root') await chmod(folder, 0o711);

  await mkdir(PRIVILEGE_SEPARATION, { recursive: true, mode: 0o755 });
  const log = join(folder, 'log');
  const server = ['/usr/sbin/sshd', '-D', '-f', join(folder, 'sshd_config'), '-E', log];
  const [program = '', ...args] = [...under, ...server];
  let daemon = run(program, args);

  async function down(): Promise<void> {
    const connections = await childrenOf(daemon.pid);
    daemon.kill();
    await daemon.end;
    for (const connection of connections) {
      try {
        process.kill(connection, 'SIGTERM');
      } catch {} // It ended by itself.
    }
  }

  async function stop(): Promise<void> {
    await down();
    await rm(folder, { recursive: true, force: true });
  }

  /** `from`: what was in the log before it was started. */
  async function listening(from: number): Promise<void> {
    const deadline = Date.now() + LISTENS_WITHIN;
    for (;;) {
      const said = (await readFile(log, 'utf8').catch(() => '')).slice(from);
      // Also where this process cannot reach it.
      if (said.includes(`Server listening on ${listen} port ${port}.`)) return;
      if (daemon.hasEnded() || Date.now() > deadline) {
        await stop();
        throw new Error(`sshd does not listen on port ${port}: ${said || 'it said nothing'}`);
      }
      await sleep(20);
    }
  }

  await listening(0);
  return {
    port,
    get pid() {
      return daemon.pid;
    },
    configFile,
    folder,
    down,
    async up() {
      const { length } = await readFile(log, 'utf8');
      daemon = run(program, args);
      await listening(length);
    },
    stop,
  };
}

function run(program: string, args: readonly string[]) {
  const daemon = execa(program, args, { stdio: 'ignore', reject: false });
  let ended = false;
  const end = daemon.then(() => {
    ended = true;
  });
  return { pid: daemon.pid ?? 0, end, hasEnded: () => ended, kill: () => daemon.kill('SIGTERM') };
}

/** The direct children of a process, by id. */
export async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return text.split(' ').filter(Boolean).map(Number);
}

/**
 * Kills the connections of an sshd by SIGKILL: its own processes only. The shell of a session and its jobs live on, as on a node
 * whose network went away.
 */
export async function cutConnections(pid: number): Promise<void> {
  for (const child of await childrenOf(pid)) {
    const name = await readFile(`/proc/${child}/comm`, 'utf8').catch(() => '');
    if (!name.startsWith('sshd')) continue;
    await cutConnections(child);
    try {
      process.kill(child, 'SIGKILL');
    } catch (error) {
      // A monitor ends by itself when the process of its session was killed.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/** Says whether an sshd runs a program for one of its connections. */
export async function hasSession(pid: number): Promise<boolean> {
  for (const child of await childrenOf(pid)) {
    const name = await readFile(`/proc/${child}/comm`, 'utf8').catch(() => 'sshd');
    if (!name.startsWith('sshd') || (await hasSession(child))) return true;
  }
  return false;
}

/** @returns the public key as known_hosts has it */
async function makeKey(file: string): Promise<string> {
  await execa('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', file]);
  return (await readFile(`${file}.pub`, 'utf8')).trim();
}

function serverConfig(
  folder: string,
  address: string,
  env: Readonly<Record<string, string>>,
): string {
  // A home without startup files: bash reads ~/.bashrc when sshd starts it, and whatever that does would be tested too.
  const variables = Object.entries({ HOME: folder, ...env }).map(
    ([name, value]) => ` ${name}="${value}"`,
  );
  return `ListenAddress ${address}
HostKey ${folder}/host_key
AuthorizedKeysFile ${folder}/authorized_keys
PidFile none
UsePAM no
# The keys lie in a folder for temporary files, which anyone may write in.
StrictModes no
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
# Tests start many connections at once.
MaxStartups 100
SetEnv${variables.join('')}
`;
}

function clientConfig(
  folder: string,
  port: number,
  nodes: readonly string[],
  user: string,
): string {
  return `Host ${[...nodes, '127.0.0.1'].join(' ')}
  HostName 127.0.0.1
  Port ${port}
  User ${user}
  IdentityFile ${folder}/client_key
  IdentitiesOnly yes
  UserKnownHostsFile ${folder}/known_hosts
  GlobalKnownHostsFile /dev/null
`;
}
