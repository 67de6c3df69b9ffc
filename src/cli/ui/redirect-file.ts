import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface RedirectFile {
  path: string;
  /** Removes the file and its directory. Never rejects. */
  remove(): Promise<void>;
}

/**
 * Writes a page that leads to the URL, which has a token: arguments of a browser are visible to
 * other users, and a private file is not. Throws the error of the file system.
 * @param parent directory for a private directory with the file
 */
export async function writeRedirectFile(url: string, parent: string): Promise<RedirectFile> {
  // mkdtemp creates directories with mode 0700.
  const directory = await mkdtemp(join(parent, 'stowage-ui-'));
  const path = join(directory, 'open.html');
  const remove = () => rm(directory, { recursive: true, force: true }).catch(() => {});
  try {
    await writeFile(path, pageFor(url), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    await remove();
    throw error;
  }
  return { path, remove };
}

/** Returns the page. The URL has only letters, digits, `-`, `_` and the marks of a URL. */
function pageFor(url: string): string {
  if (!/^http:\/\/127\.0\.0\.1:\d+\/#[a-z]+=[\w-]+$/.test(url))
    throw new Error('the URL of the page is malformed');
  return `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=${url}">
<title>Stowage</title>
`;
}
