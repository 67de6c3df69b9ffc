import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { StowageError } from '../../../api/errors.ts';
import type { Io } from '../../lib/io.ts';

/** Maximum size of a manifest; a larger one may be a device, which never ends. */
const MAX_BYTES = 32 * 1024 * 1024;
const MANIFEST = /\.(ya?ml|json)$/;

export interface ManifestText {
  /** Name as given on the command line, or within the given directory. */
  name: string;
  text: string;
}

/**
 * Reads files, the manifests of directories (not of subdirectories, as in kubectl) and standard
 * input (`-`). Throws a StowageError.
 */
export async function readSources(files: readonly string[], io: Io): Promise<ManifestText[]> {
  if (files.filter((file) => file === '-').length > 1) {
    throw new StowageError('usage', 'Standard input can be read only once');
  }
  const sources: ManifestText[] = [];
  for (const file of files) {
    if (file === '-')
      sources.push({ name: 'standard input', text: await textOf('standard input', io.stdin) });
    else
      for (const name of await manifestsAt(file))
        sources.push({ name, text: await readFile(name) });
  }
  return sources;
}

async function manifestsAt(path: string): Promise<string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const entries = await readdir(path, { withFileTypes: true });
    const names = entries.flatMap((entry) =>
      MANIFEST.test(entry.name) && !entry.isDirectory() ? [entry.name] : [],
    );
    names.sort();
    if (names.length > 0) return names.map((name) => join(path, name));
  } catch (cause) {
    throw unreadable(path, cause);
  }
  throw new StowageError('usage', `${path} has no manifests`, {
    hint: 'Add manifests to it: files that end in .yaml, .yml or .json are read.',
  });
}

async function readFile(path: string): Promise<string> {
  try {
    return await textOf(path, createReadStream(path));
  } catch (cause) {
    throw cause instanceof StowageError ? cause : unreadable(path, cause);
  }
}

async function textOf(name: string, stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.byteLength;
    if (bytes > MAX_BYTES)
      throw new StowageError('usage', `${name} has more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new StowageError('usage', `${name} is not UTF-8 text`);
  }
}

const unreadable = (path: string, cause: unknown): StowageError =>
  new StowageError('failed', `${path} cannot be read: ${(cause as Error).message}`, { cause });
