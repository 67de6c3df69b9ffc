import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('machine.sh', import.meta.url));

/**
 * Ensures that a udev daemon runs and that the directories of a node exist, for all holders on the
 * machine. The daemon is the machine's own if it answers, else one that ends after the last holder.
 * Requires root.
 * @returns a function that releases them; the end of this process releases them, too
 * @throws Error with the script's output if udev cannot be started
 */
export async function ensureUdev(): Promise<() => Promise<void>> {
  const holder = spawn('sh', [SCRIPT], { stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = once(holder, 'exit');
  let errors = '';
  holder.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const ready = await Promise.race([once(holder.stdout, 'data'), ended.then(() => undefined)]);
  if (ready === undefined) throw new Error(`udev: ${errors.trim()}`);
  return async () => {
    holder.stdin.end();
    await ended;
  };
}
