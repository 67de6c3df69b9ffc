import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { freePorts } from './free-ports.ts';

export interface SshdOptions {
  /** Names of this machine. */
  nodes: readonly string[];
  /**
   * Environment of every session, with precedence over sshd's: `PATH` can put programs of a test
   * first.
   */
  env?: Readonly<Record<string, string>>;
  /** User to log in, whose password must not be locked (`*` is not). Default: root. */
  user?: string;
  /**
   * Command that becomes the server; the server's own command is appended as its last arguments.
   */
  under?: readonly string[];
  /** Addresses of the nodes, in the network in which `under` runs. Default: loopback. */
  addresses?: ReadonlyMap<string, string>;
}

export interface Sshd {
  port: number;
  /** PID of the last started listening process. Every connection is a child of it. */
  pid: number;
  /**
   * File for `ssh -F`: the nodes and 127.0.0.1 with that user, an own key, and the host key under
   * the nodes' names.
   */
  configFile: string;
  /**
   * Directory of `client_key`, `host_key`, `known_hosts`, `authorized_keys`, `sshd_config` and
   * `log`.
   */
  folder: string;
  /**
   * Stops the server and all its connections. Programs that they started keep running, as on a
   * node.
   */
  down(): Promise<void>;
  /** Restarts the server after `down`, with the same port and keys. */
  up(): Promise<void>;
  /** Stops the server permanently. */
  stop(): Promise<void>;
}

/**
 * Directory for privilege separation, which is built into OpenSSH's sshd. Debian's service creates
 * it, and this module does so if that service never ran. The directory remains: without it, the
 * servers of concurrent tests accept no connection.
 */
const PRIVILEGE_SEPARATION = '/run/sshd';

/** Limit (ms) for a server that never listens. */
const LISTENS_WITHIN = 120_000;

/**
 * Starts an sshd with its own configuration and keys: neither ~/.ssh nor /etc/ssh is read or
 * written.
 */
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
      } catch {} // The connection has ended.
    }
  }

  async function stop(): Promise<void> {
    await down();
    await rm(folder, { recursive: true, force: true });
  }

  /**
   * Waits until the server listens.
   * @param from length of the log before the start
   */
  async function listening(from: number): Promise<void> {
    const deadline = Date.now() + LISTENS_WITHIN;
    for (;;) {
      const said = (await readFile(log, 'utf8').catch(() => '')).slice(from);
      // Works even if this process cannot reach the server.
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

/** Returns the PIDs of the direct children of a process. */
export async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return text.split(' ').filter(Boolean).map(Number);
}

/**
 * Kills the connections of an sshd with SIGKILL, but only its own processes. The shell of a session
 * and its jobs survive, as on a node that lost its network.
 */
export async function cutConnections(pid: number): Promise<void> {
  for (const child of await childrenOf(pid)) {
    const name = await readFile(`/proc/${child}/comm`, 'utf8').catch(() => '');
    if (!name.startsWith('sshd')) continue;
    await cutConnections(child);
    try {
      process.kill(child, 'SIGKILL');
    } catch (error) {
      // A monitor process ends by itself after the process of its session was killed.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/** Reports whether an sshd runs a program for one of its connections. */
export async function hasSession(pid: number): Promise<boolean> {
  for (const child of await childrenOf(pid)) {
    const name = await readFile(`/proc/${child}/comm`, 'utf8').catch(() => 'sshd');
    if (!name.startsWith('sshd') || (await hasSession(child))) return true;
  }
  return false;
}

/** @returns the public key in the format of known_hosts */
async function makeKey(file: string): Promise<string> {
  await execa('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', file]);
  return (await readFile(`${file}.pub`, 'utf8')).trim();
}

function serverConfig(
  folder: string,
  address: string,
  env: Readonly<Record<string, string>>,
): string {
  // The home has no startup files: bash under sshd reads ~/.bashrc, which would affect the tests.
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
