import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { loaders } from '../../scripts/loaders/esbuild.mjs';
import type { CrashingWatchOptions } from './crashing-watch.ts';
import type { ElectingWatchOptions } from './electing-watch.ts';

export interface Daemon {
  process: ChildProcess;
  /** Resolves to the name of the terminating signal, or the exit status. */
  ended: Promise<string>;
  /** Sends SIGTERM and waits for the end. */
  stop(): Promise<void>;
}

export interface DaemonProgram<Options = CrashingWatchOptions> {
  start(options: Options): Daemon;
  remove(): Promise<void>;
}

/** Bundles the crashing daemon once: each start then takes a fraction of a second. */
export const bundleDaemon = (): Promise<DaemonProgram> =>
  bundle('test/support/crashing-watch.ts', () => 'inherit');

/** Bundles the daemon that takes part in leader election. It logs into a file. */
export const bundleElectingDaemon = (): Promise<DaemonProgram<ElectingWatchOptions>> =>
  bundle('test/support/electing-watch.ts', ({ messages }) => openSync(messages, 'a'));

async function bundle<Options>(
  entryPoint: string,
  stderr: (options: Options) => 'inherit' | number,
): Promise<DaemonProgram<Options>> {
  const folder = await mkdtemp(join(tmpdir(), 'stowage-daemon-'));
  const outfile = join(folder, 'daemon.mjs');
  await build({
    entryPoints: [entryPoint],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    banner: {
      js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);",
    },
    plugins: [loaders],
    logLevel: 'warning',
  });
  return {
    start(options) {
      const to = stderr(options);
      const child = spawn(process.execPath, [outfile, JSON.stringify(options)], {
        stdio: ['ignore', 'inherit', to],
        env: { ...process.env, NODE_OPTIONS: '' },
      });
      if (typeof to === 'number') closeSync(to);
      const ended = once(child, 'exit').then(([code, signal]) => String(signal ?? code));
      return {
        process: child,
        ended,
        async stop() {
          child.kill('SIGTERM');
          await ended;
        },
      };
    },
    remove: () => rm(folder, { recursive: true }),
  };
}
