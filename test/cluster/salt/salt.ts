import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { SaltAccess } from '../../../src/nodes/transport/salt/access.ts';
import { selfSigned } from '../../../src/sandbox/certificate.ts';
import { freePorts } from '../../support/free-ports.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';
import { installSalt } from './install.ts';
import { type Program, printed, runSalt, startProgram } from './programs.ts';

export interface SaltOptions {
  /** Minions on this machine. All of them run as root. */
  minions: readonly string[];
  /** Content of each minion's allowlist. Default: backing files in the default directory. */
  allowed?: string;
  /** Additional configuration of the master: `external_auth` and the like. */
  master?: object;
  /** salt-api's module: Salt's own, or Stowage's. Default: Stowage's. */
  api?: 'rest_cherrypy' | 'rest_stowage';
}

/** A salt-master, salt-api and minions on loopback, with directories of their own. */
export interface Salt {
  /** Access by the account that docs/ describes. */
  access: SaltAccess;
  folder: string;
  master: Restartable;
  api: Restartable;
  minion(id: string): Restartable;
  /** Runs `salt ARGS` on the master. */
  salt(...args: string[]): Promise<string>;
  stop(): Promise<void>;
}

export interface Restartable {
  stop(): Promise<void>;
  /** Waits until it responds. */
  start(): Promise<void>;
}

const DEFAULT = 'directory /var/lib/metalk8s/storage/sparse\n';
const SECRET = 'a secret of tests';
export const USER = 'stowage';

export async function startSalt(options: SaltOptions): Promise<Salt> {
  const { minions, allowed = DEFAULT, master = {}, api = 'rest_stowage' } = options;
  const salt = await installSalt();
  const temporary = await temporaryDirectory('salt');
  const folder = temporary.path;
  const [publish = 0, answer = 0, https = 0] = await freePorts(3);
  const url = `https://127.0.0.1:${https}`;
  const { key, cert } = selfSigned(new Date());
  const own = (name: string) => join(folder, name);
  // A copy of the directory, as an installation has it.
  await cp('salt', own('stowage'), { recursive: true });
  await writeFile(own('key.pem'), key, { mode: 0o600 });
  await writeFile(own('cert.pem'), cert);
  await writeFile(own('secret'), `${SECRET}\n`, { mode: 0o600 });
  await configure('master', {
    interface: '127.0.0.1',
    publish_port: publish,
    ret_port: answer,
    root_dir: own('master'),
    auto_accept: true,
    worker_threads: 3,
    file_roots: { base: [own('stowage')] },
    auth_dirs: [join(own('stowage'), '_auth')],
    runner_dirs: [join(own('stowage'), '_runners')],
    netapi_dirs: [join(own('stowage'), '_netapi')],
    netapi_enable_clients: ['runner'],
    sharedsecret: SECRET,
    external_auth: { sharedsecret: { [USER]: ['@stowage'] } },
    [api]: {
      host: '127.0.0.1',
      port: https,
      ssl_crt: own('cert.pem'),
      ssl_key: own('key.pem'),
      thread_pool: 20,
    },
    ...master,
  });
  for (const id of minions) {
    await configure(`minion-${id}`, {
      id,
      master: '127.0.0.1',
      master_port: answer,
      publish_port: publish,
      root_dir: own(`minion-${id}`),
      acceptance_wait_time: 1,
      acceptance_wait_time_max: 1,
      recon_default: 100,
      recon_max: 1000,
      auth_timeout: 5,
      grains_cache: true,
      stowage_allowed: own(`minion-${id}/allowed`),
    });
    await writeFile(own(`minion-${id}/allowed`), allowed);
  }

  async function configure(name: string, config: object): Promise<void> {
    await mkdir(own(name), { mode: 0o700 });
    await writeFile(
      join(own(name), name.replace(/-.*/, '')),
      stringify({ user: 'root', ...config }),
    );
  }

  const running = new Map<string, Program>();
  const restartable = (
    name: string,
    daemon: 'salt_master' | 'salt_api' | 'salt_minion',
    answers: () => Promise<boolean>,
  ): Restartable => {
    const config = own(daemon === 'salt_api' ? 'master' : name);
    return {
      async stop() {
        await running.get(name)?.stop();
        running.delete(name);
      },
      async start() {
        running.set(name, startProgram(salt, daemon, config));
        await until(`${name} answers`, async () => ((await answers()) ? true : undefined)).catch(
          async (error: Error) => {
            throw new Error(`${error.message}: ${await printed(config, daemon)}`);
          },
        );
      },
    };
  };
  const command = (...args: string[]) => runSalt(salt, 'salt_main', own('master'), args);
  const pings = (...args: string[]) =>
    command(...args, 'test.ping', '--out=json', '--timeout=2').then(
      (text) => text.includes('true'),
      () => false,
    );
  const parts = {
    master: restartable('master', 'salt_master', async () => {
      // No minion matches: the response shows that the master runs.
      return (await command('nobody', 'test.ping').catch(() => '')).includes('No minions matched');
    }),
    api: restartable('api', 'salt_api', async () => {
      const response = await fetchInsecure(`${url}/`);
      return response;
    }),
  };
  const ofMinion = new Map(
    minions.map((id) => [id, restartable(`minion-${id}`, 'salt_minion', () => pings(id))]),
  );

  async function fetchInsecure(address: string): Promise<boolean> {
    const { createSaltHttp } = await import('../../../src/nodes/transport/salt/http.ts');
    const http = createSaltHttp(address, cert);
    try {
      await http.send({
        method: 'GET',
        path: '/',
        timeoutMs: 2000,
        signal: new AbortController().signal,
      });
      return true;
    } catch {
      return false;
    } finally {
      await http.close();
    }
  }

  /** Syncs again if a minion was too slow to answer, or the master had no files to offer yet. */
  async function syncModules(): Promise<true | undefined> {
    await command('*', 'saltutil.sync_modules').catch(() => {});
    const listed = await command('*', 'sys.list_modules', 'stowage', '--out=json', '--static').then(
      (text) => JSON.parse(text) as Record<string, unknown>,
      () => ({}) as Record<string, unknown>,
    );
    const has = (id: string) => Array.isArray(listed[id]) && listed[id].includes('stowage');
    return minions.every(has) ? true : undefined;
  }

  async function stop(): Promise<void> {
    await Promise.all([...running.values()].map((program) => program.stop()));
    await temporary.remove();
  }

  try {
    await parts.master.start();
    await Promise.all([
      parts.api.start(),
      ...[...ofMinion.values()].map((minion) => minion.start()),
    ]);
    if (minions.length > 0) await until('each minion has the module', syncModules);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    access: {
      url,
      eauth: 'sharedsecret',
      user: USER,
      secretFile: own('secret'),
      caFile: own('cert.pem'),
    },
    folder,
    ...parts,
    minion: (id) => ofMinion.get(id) as Restartable,
    salt: command,
    stop,
  };
}

/** Returns the flags with which `stowage` reaches nodes through this Salt. */
export const flagsFor = ({ access }: Pick<Salt, 'access'>): string[] => [
  ...['--transport', 'salt', '--salt-url', access.url, '--salt-eauth', access.eauth],
  ...['--salt-user', access.user, '--salt-secret-file', access.secretFile],
  ...(access.caFile === undefined ? [] : ['--salt-ca-file', access.caFile]),
];

/** Returns a node's allowlist: backing files of a directory, and disks that are loop devices. */
export const allowedFor = (folder: string): string =>
  `directory ${folder}\ndevice /dev/loop[0-9]*\n`;
