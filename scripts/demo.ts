/**
 * `npm run demo [-- --only PART,… --interactive]`: shows what Stowage does, on this machine alone,
 * with the commands as a user would type them. Ends all that it starts, and leaves nothing behind.
 */
import { access, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { leftovers } from '../test/support/leftovers.ts';
import { startSshd } from '../test/support/sshd.ts';
import { ensureUdev } from '../test/support/udev.ts';
import { until } from '../test/support/until.ts';
import { claims, images, snapshots } from './demo/claims.ts';
import { attachments, why } from './demo/operations.ts';
import { isThere, Stage } from './demo/stage.ts';
import { consent, volumes } from './demo/volumes.ts';

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

const GATE = '--feature-gates=CrossNamespaceVolumeDataSource=true';
const NODE = `apiVersion: v1
kind: Node
metadata: { name: n1, labels: { kubernetes.io/hostname: n1 } }
status: { conditions: [{ type: Ready, status: 'True' }] }
`;

const folder = await mkdtemp(join(tmpdir(), 'stowage-demo-'));
const stage = new Stage(folder, values.interactive);
stage.onEnd(() => rm(folder, { recursive: true }));

async function demo(): Promise<void> {
  await mkdir(join(folder, 'bin'));
  await symlink(resolve('bin/stowage'), join(folder, 'bin/stowage'));
  await stage.say('An API server in memory. Any cluster would do.');
  await stage.start('sandbox', GATE, '--port', '0', '--kubeconfig-out', stage.kubeconfig);
  await until('the kubeconfig of the sandbox', () =>
    access(stage.kubeconfig).then(
      () => true,
      () => undefined,
    ),
  );
  if (!(await isThere('kubectl'))) return withoutNode('kubectl, which is not installed');
  if (process.getuid?.() !== 0) return withoutNode('root, for sshd, loop devices and mounts');

  await stage.say('A node: an sshd on loopback, as n1. Nothing of Stowage is installed on it.');
  stage.onEnd(await ensureUdev());
  const sshd = await startSshd({ nodes: ['n1'] });
  stage.onEnd(() => sshd.stop());
  await symlink(sshd.configFile, join(folder, 'ssh_config'));
  await stage.apply(NODE);
  await stage.run('stowage', 'install', '--components', 'populator-crds');
  await stage.say('The daemon, which reaches nodes over ssh.');
  await stage.start('watch', GATE, '--ssh-config', join(folder, 'ssh_config'));
  stage.onEnd(removeAll);

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

/** Deletes what parts left, and throws if traces remain on the machine. */
async function removeAll(): Promise<void> {
  await stage.noteVolumes();
  for (const kinds of ['pods', 'pvc,volumesnapshots'])
    await stage.run('kubectl', 'delete', kinds, '-A', '--all', '--timeout=30s');
  await stage.run('stowage', 'delete', 'volumes', '--all', '--wait', '--timeout', '30s');
  // Other storage of this machine does not count: names of all traces contain a Volume's UID.
  const uids = [...stage.uids];
  const left = (await leftovers({ uids })).filter((each) => uids.some((uid) => each.includes(uid)));
  if (left.length > 0) throw new Error(`left behind: ${left.join('; ')}`);
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
