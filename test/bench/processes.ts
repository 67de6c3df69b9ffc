import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { build } from 'esbuild';
import { loaders } from '../../scripts/loaders/esbuild.mjs';
import { slimPackages } from '../../scripts/slim/plugin.mjs';
import { until } from '../support/until.ts';

/** Clock ticks of /proc per second. */
const TICKS = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

export interface Usage {
  /** User and system time, in s. */
  cpu: number;
  /** Resident memory, in MiB: the current value, and the peak since the start. */
  rss: number;
  peak: number;
}

/** Returns what a process has used so far, from the kernel's counters. */
export async function usageOf(pid: number): Promise<Usage> {
  const [stat, status] = await Promise.all([
    readFile(`/proc/${pid}/stat`, 'utf8'),
    readFile(`/proc/${pid}/status`, 'utf8'),
  ]);
  // The program's name, in parentheses, may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return {
    cpu: (Number(fields[11]) + Number(fields[12])) / TICKS,
    rss: Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024,
    peak: Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) / 1024,
  };
}

export interface Program {
  pid: number;
  /** Rejects if the program ends by itself. */
  broken: Promise<never>;
  /**
   * Sends SIGTERM and waits for the end.
   * @returns its standard output
   * @throws Error if the exit status is not 0
   */
  stop(): Promise<string>;
}

/**
 * Starts a program. Its standard error is discarded, as if by a journal that is no bottleneck, or
 * goes to an open file.
 */
export function start(
  command: string,
  args: readonly string[],
  env = process.env,
  errors: 'ignore' | number = 'ignore',
): Program {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', errors], env });
  const printed = text(child.stdout as Readable);
  const ended = once(child, 'exit');
  let stopping = false;
  const broken = ended.then(([status, signal]) =>
    stopping
      ? new Promise<never>(() => {})
      : Promise.reject(new Error(`${command} ended with ${signal ?? status}`)),
  );
  broken.catch(() => {});
  return {
    pid: child.pid ?? 0,
    broken,
    async stop() {
      stopping = true;
      child.kill('SIGTERM');
      const [status, signal] = await ended;
      if (status !== 0) throw new Error(`${command} ended with ${signal ?? status}`);
      return printed;
    },
  };
}

/** Starts the built `stowage sandbox`. */
export async function startSandbox(kubeconfig: string): Promise<Program> {
  const sandbox = start('bin/stowage', ['sandbox', '--kubeconfig-out', kubeconfig]);
  const isWhole = async () => {
    const written = await readFile(kubeconfig, 'utf8').catch(() => '');
    return written.includes('token:') ? true : undefined;
  };
  await until('the kubeconfig of the sandbox', isWhole);
  return sandbox;
}

/** V8 flags and environment that `bin/stowage` sets for `watch`. */
export const WATCH_FLAGS = ['--max-semi-space-size=8'];
export const WATCH_ENV = { ...process.env, MALLOC_ARENA_MAX: '1' };

/**
 * Bundles a program of this directory as Stowage is shipped: minified, without types.
 * @returns the path of the bundle
 */
export async function bundle(entry: string, folder: string): Promise<string> {
  const outfile = join(folder, entry.replace(/\.ts$/, '.mjs'));
  await build({
    entryPoints: [join(import.meta.dirname, entry)],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    minifyWhitespace: true,
    minifySyntax: true,
    banner: {
      js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);",
    },
    plugins: [loaders, slimPackages],
    logLevel: 'warning',
  });
  return outfile;
}
