import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Opens a file with the user's browser: the path is one argument of the desktop's program. Throws
 * an Error if that program cannot be started.
 */
export async function openFile(path: string): Promise<void> {
  const program = process.platform === 'darwin' ? 'open' : 'xdg-open';
  // Detached: the browser may outlive this command, and a Ctrl-C is not meant for it.
  const child = spawn(program, [path], { stdio: 'ignore', detached: true });
  await once(child, 'spawn');
  child.unref();
}
