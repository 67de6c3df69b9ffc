import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('machine.sh', import.meta.url));

/**
 * Ensures that a udev daemon runs and that the directories of a node exist, for this and all other holders on the machine:
 * the machine's own daemon if it answers, else one that ends after the last holder. Needs root.
 * @returns releases them; also released when this process ends
 * @throws Error with the script's output, where udev cannot be started
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
