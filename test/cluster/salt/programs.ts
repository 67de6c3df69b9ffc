import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { execa } from 'execa';
import type { SaltInstallation } from './install.ts';

export interface Program {
  pid: number;
  /**
   * Sends SIGTERM, and later SIGKILL to all remaining processes of the group. Waits until they have
   * ended.
   */
  stop(): Promise<void>;
}

export type Daemon = 'salt_master' | 'salt_minion' | 'salt_api';

const environment = (salt: SaltInstallation) => ({
  PYTHONPATH: salt.path,
  PYTHONWARNINGS: 'ignore',
});

/**
 * Starts a daemon of Salt with the configuration of a directory. Its output goes to a file there.
 */
export function startProgram(salt: SaltInstallation, daemon: Daemon, folder: string): Program {
  const log = openSync(join(folder, `${daemon}.out`), 'a');
  const code = `import sys; from salt.scripts import ${daemon}; sys.argv[0] = '${daemon.replace('_', '-')}'; ${daemon}()`;
  const child = spawn(salt.python, ['-c', code, '-c', folder, '-l', 'warning'], {
    env: { ...process.env, ...environment(salt) },
    stdio: ['ignore', log, log],
    // A process group of its own, so that all processes of the daemon can be killed.
    detached: true,
  });
  closeSync(log);
  const exited = once(child, 'exit');
  const pid = child.pid ?? 0;
  const endWithUs = endWhenWeEnd(pid);
  let ended: Promise<void> | undefined;
  return {
    pid,
    stop() {
      ended ??= end();
      return ended;
    },
  };

  async function end(): Promise<void> {
    signal('SIGTERM');
    const killed = setTimeout(() => signal('SIGKILL'), 8000);
    await exited;
    clearTimeout(killed);
    // Kills children that outlived their parent.
    signal('SIGKILL');
    endWithUs.kill('SIGKILL');
  }

  function signal(name: NodeJS.Signals): void {
    try {
      process.kill(-pid, name);
    } catch {} // The group has already ended.
  }
}

/**
 * Kills a process group when this process has ended in any way: then the pipe is closed. The
 * kernel's signal for that purpose (setpriv --pdeathsig) does not reach the group's other
 * processes.
 */
function endWhenWeEnd(group: number) {
  const watcher = spawn('sh', ['-c', 'read -r _; kill -KILL "-$1"', 'sh', String(group)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  watcher.unref();
  (watcher.stdin as Socket).unref();
  return watcher;
}

/**
 * Runs a command of Salt with the configuration of a directory.
 * @returns its output, as the exit status is unreliable: 2 if no minion matches
 */
export async function runSalt(
  salt: SaltInstallation,
  command: 'salt_main' | 'salt_call' | 'salt_run',
  folder: string,
  args: readonly string[],
): Promise<string> {
  const code = `import sys; from salt.scripts import ${command}; sys.argv[0] = '${command}'; ${command}()`;
  const how = { env: environment(salt), reject: false, all: true, timeout: 60_000 } as const;
  return (await execa(salt.python, ['-c', code, '-c', folder, ...args], how)).all;
}

/** Returns the end of a daemon's output, for the message of a test. */
export async function printed(folder: string, daemon: Daemon): Promise<string> {
  return (await readFile(join(folder, `${daemon}.out`), 'utf8').catch(() => '')).slice(-2000);
}
