/**
 * `npm run demo [-- --only PART,… --interactive]`: shows what Stowage does, on this machine alone,
 * with the commands as a user would type them. Ends all that it starts, and leaves nothing behind.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { claims, images, snapshots } from './demo/claims.ts';
import { attachments, why } from './demo/operations.ts';
import { isThere, Stage } from './demo/stage.ts';
import { consent, volumes } from './demo/volumes.ts';
import { startCluster, startNode } from './demo/world.ts';

const PARTS = { volumes, consent, claims, snapshots, images, attachments, why };

const { values } = parseArgs({
  options: { only: { type: 'string' }, interactive: { type: 'boolean', default: false } },
});
const only = values.only?.split(',');
const unknown = only?.find((part) => !(part in PARTS));
if (unknown !== undefined) {
  console.error(`demo: there is no part "${unknown}": take ${Object.keys(PARTS).join(', ')}`);
  process.exit(2);
}

const folder = await mkdtemp(join(tmpdir(), 'stowage-demo-'));
const stage = new Stage(folder, values.interactive);
stage.onEnd(() => rm(folder, { recursive: true }));

async function demo(): Promise<void> {
  await startCluster(stage);
  if (!(await isThere('kubectl'))) return withoutNode('kubectl, which is not installed');
  if (process.getuid?.() !== 0) return withoutNode('root, for sshd, loop devices and mounts');
  await startNode(stage);
  for (const [name, part] of Object.entries(PARTS))
    if (only === undefined || only.includes(name)) await part(stage);
}

/** Shows what needs no node. */
async function withoutNode(missing: string): Promise<void> {
  await stage.say(`Left out, without ${missing}: all but a Volume that the server checks.`);
  await stage.stowage(
    ...['create', 'volume', 'demo', '--node', 'n1', '--size', '1Gi', '--storage-class', 'demo'],
    ...['--dry-run=server', '-o', 'yaml'],
  );
}

const interrupted = new Promise<never>((_, reject) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => reject(new Error(`ended by ${signal}`)));
  }
});

const started = Date.now();
const errors: unknown[] = [];
try {
  await Promise.race([demo(), interrupted]);
} catch (error) {
  errors.push(error);
}
errors.push(...(await stage.end()));
for (const error of errors)
  console.error(`demo: ${error instanceof Error ? error.message : error}`);
if (errors.length > 0) process.exit(1);
console.log(`\n# Nothing is left. Done in ${((Date.now() - started) / 1000).toFixed(1)} s.`);
