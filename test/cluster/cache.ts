import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * Returns the directory of artifacts that are built once and shared by all checkouts. Removing it
 * costs only time.
 */
export function cacheDirectory(environment: NodeJS.ProcessEnv = process.env): string {
  const { STOWAGE_CLUSTER_CACHE, XDG_CACHE_HOME } = environment;
  return (
    STOWAGE_CLUSTER_CACHE || join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'stowage-cluster')
  );
}

/** Returns a cache key for `inputs`: versions, and the contents of files. */
export function keyOf(...inputs: (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const input of inputs) hash.update(`${Buffer.byteLength(input)}:`).update(input);
  return hash.digest('hex').slice(0, 16);
}

/**
 * Returns the directory that `build` filled for this name and key, in this process or another.
 * `build` gets an empty directory that is renamed when complete: the artifacts must not depend on
 * its path.
 * Throws what `build` throws, and leaves no directory then.
 */
export async function cached(
  name: string,
  key: string,
  build: (folder: string) => Promise<void>,
  root = cacheDirectory(),
): Promise<string> {
  const folder = join(root, `${name}-${key}`);
  if (existsSync(folder)) return folder;
  await mkdir(root, { recursive: true });
  const free = await lock(`${folder}.lock`);
  try {
    if (existsSync(folder)) return folder;
    const partial = `${folder}.partial`;
    await rm(partial, { recursive: true, force: true });
    await mkdir(partial);
    process.stderr.write(`cluster: building ${name} into ${folder}\n`);
    const began = Date.now();
    try {
      await build(partial);
    } catch (error) {
      await rm(partial, { recursive: true, force: true });
      throw error;
    }
    await rename(partial, folder);
    process.stderr.write(
      `cluster: built ${name} in ${Math.round((Date.now() - began) / 1000)} s\n`,
    );
    return folder;
  } finally {
    await free();
  }
}

/** Locks `file` until the returned function is called or this process ends in any way. */
export async function lock(file: string): Promise<() => Promise<void>> {
  // cat exits when its stdin closes, so that no lock outlives its holder.
  const holder = spawn('flock', [file, 'sh', '-c', 'echo locked; exec cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(holder, 'exit');
  await Promise.race([firstOutput(holder), ended.then(([code]) => refuse(file, code))]);
  return async () => {
    holder.stdin.end();
    await ended;
  };
}

const firstOutput = (child: ChildProcess) => once(child.stdout as NodeJS.ReadableStream, 'data');

function refuse(file: string, code: unknown): never {
  throw new Error(`flock ended with ${code} before it held ${file}`);
}
