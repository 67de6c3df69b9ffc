import { chmod, mkdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { type Sshd, startSshd } from './sshd.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { until } from './until.ts';

const RUN = '/run/stowage';

/**
 * Rules of all tests' users. A file for each would be removed while sudo, which another test
 * started, is between listing the directory and reading it: sudo refuses everything then.
 */
const RULES = '/etc/sudoers.d/stowage-tests';

/**
 * Replaces the rules of a user. The file exists as long as it has any. sudo skips names with a dot,
 * and never reads half a file due to the rename.
 * @param $1 RULES
 * @param $2 name of the user
 * @param $3 file with the rules; '' for none
 */
const REPLACE_RULES = `set -eu
umask 337
{
  [ ! -e "$1" ] || sed "/^# begin $2$/,/^# end $2$/d" "$1"
  [ -z "$3" ] || { echo "# begin $2"; cat "$3"; echo "# end $2"; }
} >"$1.new"
if [ -s "$1.new" ]; then mv -f "$1.new" "$1"; else rm -f "$1.new" "$1"; fi`;

// A test may have the user's shell as `sh`.
const replaceRules = (user: string, file: string) =>
  execa('flock', ['/etc/sudoers.d', '/bin/sh', '-c', REPLACE_RULES, 'sh', RULES, user, file]);

/** Part of deploy/sudoers: all of it, or without the groups for raw devices and logical volumes. */
export type Sample = 'all' | 'sparse files alone';

export interface SudoUser {
  name: string;
  sshd: Sshd;
  /** Path of the user's `RUN`, which contains only what the test creates. */
  run: string;
  /** Directory for PATH, whose `sh` becomes a shell of the user. */
  bin: string;
  /** Reports whether the user may run that as root. */
  may(argv: readonly string[]): Promise<boolean>;
  /** Installs deploy/sudoers followed by these lines, with the user's name for USER. */
  allow(lines: readonly string[], sample?: Sample): Promise<void>;
  remove(): Promise<void>;
}

/**
 * Creates a user with the permissions of deploy/sudoers, and an sshd for logins to the node `n1`.
 * Jobs are in a mount namespace of the server, separate from root's.
 */
export async function makeSudoUser(): Promise<SudoUser> {
  const name = `stowage-test-${process.pid}`;
  const folder = await temporaryDirectory('sudo');
  const bin = join(folder.path, 'bin');
  await chmod(folder.path, 0o755);
  await execa('useradd', [
    '--system',
    '--no-create-home',
    '--shell',
    '/bin/sh',
    '--password',
    '*',
    name,
  ]);
  const madeRun = (await mkdir(RUN, { recursive: true })) !== undefined;

  async function allow(lines: readonly string[], sample: Sample = 'all'): Promise<void> {
    const all = await readFile('deploy/sudoers', 'utf8');
    const renamed = (sample === 'all' ? all : withoutRaw(all))
      .replace('User_Alias STOWAGE = stowage', `User_Alias STOWAGE = ${name}`)
      .replace('-o stowage ', `-o ${name} `)
      // sudo reads the files of all users together, and rejects an alias that is defined twice.
      .replace(/\bSTOWAGE(?=_|\b)/g, `STOWAGE_${process.pid}`);
    const file = join(folder.path, 'sudoers');
    const text = [renamed, ...lines.map((line) => `${line.replace('USER', name)}\n`)].join('');
    await writeFile(file, text, { mode: 0o440 });
    await execa('visudo', ['-cf', file]);
    await replaceRules(name, file);
    await rm(file);
  }

  async function remove(): Promise<void> {
    await sshd?.stop();
    await replaceRules(name, '');
    // Sessions end after the server.
    const runs = () => execa('pgrep', ['--euid', name], { reject: false });
    await until(`${name} runs nothing`, async () => (await runs()).exitCode === 1 || undefined);
    await execa('userdel', [name]);
    await folder.remove();
    if (madeRun) await rmdir(RUN);
  }

  let sshd: Sshd | undefined;
  try {
    await allow([]);
    const mounted = `mount -t tmpfs -o mode=0755 tmpfs ${RUN} && exec "$0" "$@"`;
    sshd = await startSshd({
      nodes: ['n1'],
      user: name,
      under: ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', mounted],
    });
    await mkdir(bin);
    const become = `nsenter --mount=/proc/${sshd.pid}/ns/mnt setpriv --reuid ${name} --regid ${name} --clear-groups`;
    await writeFile(
      join(bin, 'sh'),
      `#!/bin/sh\n[ "$(id -u)" = 0 ] || exec /bin/sh "$@"\nexec ${become} /bin/sh "$@"\n`,
    );
    await chmod(join(bin, 'sh'), 0o755);
    return {
      name,
      sshd,
      run: `/proc/${sshd.pid}/root${RUN}`,
      bin,
      async may(argv) {
        const asked = await execa('sudo', ['-U', name, '-l', '--', ...argv], { reject: false });
        return asked.exitCode === 0;
      },
      allow,
      remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Empty lines separate groups. */
function withoutRaw(sudoers: string): string {
  const groups = sudoers.split('\n\n');
  const kept = groups.filter(
    (group) => !/^(Cmnd_Alias STOWAGE_(RAW|LVM)|STOWAGE .*STOWAGE_(RAW|LVM))/m.test(group),
  );
  return `${kept.join('\n\n').trimEnd()}\n`;
}
