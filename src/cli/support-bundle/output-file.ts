import { randomBytes } from 'node:crypto';
import { type FileHandle, link, lstat, open, rename, rm } from 'node:fs/promises';
import { StowageError } from '../../api/errors.ts';

/** A file that appears under its name once it is complete. */
export interface OutputFile {
  write(bytes: Uint8Array): Promise<void>;
  /** Syncs the file and gives it its name. Throws a StowageError. */
  commit(): Promise<void>;
  /** Removes the file, unless it was committed. */
  discard(): Promise<void>;
}

/** Errors of file systems without hard links. */
const WITHOUT_LINKS: readonly unknown[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'];

/**
 * Creates a file under a temporary name beside `path`, which only its owner may read. Never follows
 * a symbolic link at either name. Throws a StowageError: `conflict` if `path` exists.
 * @param force replaces an existing file, or a symbolic link itself
 * @param addLink for tests
 */
export async function createOutputFile(
  path: string,
  force: boolean,
  addLink: (existing: string, added: string) => Promise<void> = link,
): Promise<OutputFile> {
  if (!force) await refuseExisting(path);
  const partial = `${path}.${randomBytes(6).toString('hex')}.partial`;
  let file: FileHandle | undefined = await open(partial, 'wx', 0o600).catch(failed(path));
  const close = async () => {
    const opened = file;
    file = undefined;
    await opened?.close();
  };
  return {
    async write(bytes) {
      await file?.writeFile(bytes).catch(failed(path));
    },
    async commit() {
      try {
        await file?.sync();
        await close();
        if (force) await rename(partial, path);
        else await nameNew(partial, path, addLink);
      } catch (error) {
        throw error instanceof StowageError ? error : failure(path, error);
      }
    },
    async discard() {
      await close();
      await rm(partial, { force: true });
    },
  };
}

/** Renames a file to a name that must be free. rename(2) alone would replace a file there. */
async function nameNew(
  partial: string,
  path: string,
  addLink: (existing: string, added: string) => Promise<void>,
): Promise<void> {
  try {
    await addLink(partial, path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw exists(path);
    if (!WITHOUT_LINKS.includes(code)) throw error;
    await refuseExisting(path);
    await rename(partial, path);
    return;
  }
  await rm(partial, { force: true });
}

async function refuseExisting(path: string): Promise<void> {
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw failure(path, error);
  });
  if (found !== undefined) throw exists(path);
}

const exists = (path: string): StowageError =>
  new StowageError('conflict', `write ${path}: the file exists`, {
    hint: 'Name another file with --file, or replace it with --force.',
  });

const failure = (path: string, cause: unknown): StowageError =>
  new StowageError('failed', `write ${path}: ${(cause as Error).message}`, { cause });

const failed =
  (path: string) =>
  (cause: unknown): never => {
    throw failure(path, cause);
  };
