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
  /** SIGTERM, and SIGKILL for what is there still after a while; waits for the end of it and of all that it started. */
  stop(): Promise<void>;
}

export type Daemon = 'salt_master' | 'salt_minion' | 'salt_api';

const environment = (salt: SaltInstallation) => ({
  PYTHONPATH: salt.path,
  PYTHONWARNINGS: 'ignore',
});

/** Starts a daemon of Salt's with the configuration of a folder; it prints into a file there. */
export function startProgram(salt: SaltInstallation, daemon: Daemon, folder: string): Program {
  const log = openSync(join(folder, `${daemon}.out`), 'a');
  const code = `import sys; from salt.scripts import ${daemon}; sys.argv[0] = '${daemon.replace('_', '-')}'; ${daemon}()`;
  const child = spawn(salt.python, ['-c', code, '-c', folder, '-l', 'warning'], {
    env: { ...process.env, ...environment(salt) },
    stdio: ['ignore', log, log],
    // A group of its own, so that all of it can be ended: Salt's daemons are many processes.
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
    // Children that their parent did not end.
    signal('SIGKILL');
    endWithUs.kill('SIGKILL');
  }

  function signal(name: NodeJS.Signals): void {
    try {
      process.kill(-pid, name);
    } catch {} // It is gone already.
  }
}

/**
 * Ends a process group when this process has ended, in whatever way: then the other end of the pipe is closed. The kernel's
 * own signal for that (setpriv --pdeathsig) reaches none of the group's other processes.
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

/** What one of Salt's commands prints, with the configuration of a folder. Its status says little: 2 where no minion matched. */
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

/** What daemons printed and logged, for the message of a test. */
export async function printed(folder: string, daemon: Daemon): Promise<string> {
  return (await readFile(join(folder, `${daemon}.out`), 'utf8').catch(() => '')).slice(-2000);
}
