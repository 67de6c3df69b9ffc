import { createHash } from 'node:crypto';
import { chmod, lstat, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** Maximum length of a socket's path, in bytes (unix(7)). */
const PATH_LIMIT = 107;

/** Bytes that ssh adds to the path while it creates the socket. */
const SUFFIX = 17;

/** Bytes of the socket's name: those of `socketName`, in which ssh replaces `%C` by 40 digits. */
const NAME = 52;

/** Paths in which ssh replaces nothing, and that need no quotes. */
const LITERAL = /^[A-Za-z0-9/._+,:@=-]+$/;

/** Directory of sockets, and whether a better one was unsuitable. */
export interface ControlDirectory {
  path: string;
  isFallback: boolean;
}

/**
 * Returns the directory for the sockets of shared connections. Not in /tmp if there is another
 * directory: in /tmp any user can take the name first. It is in /tmp if the path of a socket would
 * be too long elsewhere, or not literal for ssh: ssh then exits, and each node seems unreachable.
 */
export function controlDirectoryOf(
  uid: number,
  runtimeDirectory = process.env.XDG_RUNTIME_DIR ?? '',
  temporaryDirectory = tmpdir(),
): ControlDirectory {
  const within = (parent: string) => join(parent, `stowage-ssh-${uid}`);
  const user = isAbsolute(runtimeDirectory) ? runtimeDirectory : temporaryDirectory;
  const preferred = within(uid === 0 ? '/run' : user);
  const isShort = Buffer.byteLength(preferred) + 1 + NAME + SUFFIX <= PATH_LIMIT;
  return isShort && isAbsolute(preferred) && LITERAL.test(preferred)
    ? { path: preferred, isFallback: false }
    : { path: within('/tmp'), isFallback: true };
}

/**
 * Makes the directory for the sockets of shared connections. A user who can open one is logged in,
 * so the directory must belong to this user alone. Returns the problem if the fallback cannot be
 * used: connections are not shared then. Throws an Error if another directory cannot be used.
 */
export async function makeControlDirectory(
  uid: number,
): Promise<{ path: string } | { problem: Error }> {
  const { path, isFallback } = controlDirectoryOf(uid);
  try {
    await makeOwn(path, uid);
    return { path };
  } catch (error) {
    if (isFallback) return { problem: error as Error };
    throw error;
  }
}

async function makeOwn(directory: string, uid: number): Promise<void> {
  await mkdir(directory, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  const found = await lstat(directory);
  if (!found.isDirectory() || found.uid !== uid) {
    throw new Error(
      `${directory} is not a directory of this user; remove it, or set XDG_RUNTIME_DIR to a directory of this user`,
    );
  }
  await chmod(directory, 0o700);
}

/**
 * Returns the socket name of a node's shared connection. ssh checks the host key only when it
 * connects, so a connection belongs to one node. `%C` alone is a hash of address, port, user and
 * jump hosts, which two nodes can share.
 */
export const socketName = (node: string): string =>
  `${createHash('sha256').update(`${process.pid} ${node}`).digest('base64url').slice(0, 12)}%C`;
