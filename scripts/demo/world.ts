import { access, mkdir, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { leftovers } from '../../test/support/leftovers.ts';
import { startSshd } from '../../test/support/sshd.ts';
import { ensureUdev } from '../../test/support/udev.ts';
import { until } from '../../test/support/until.ts';
import type { Stage } from './stage.ts';

const GATE = '--feature-gates=CrossNamespaceVolumeDataSource=true';
const NODE = `apiVersion: v1
kind: Node
metadata: { name: n1, labels: { kubernetes.io/hostname: n1 } }
status: { conditions: [{ type: Ready, status: 'True' }] }
`;

/** Starts the cluster: an API server in memory. */
export async function startCluster(stage: Stage): Promise<void> {
  await mkdir(join(stage.folder, 'bin'));
  await symlink(resolve('bin/stowage'), join(stage.folder, 'bin/stowage'));
  await stage.say('An API server in memory. Any cluster would do.');
  await stage.start('sandbox', GATE, '--port', '0', '--kubeconfig-out', stage.kubeconfig);
  await until('the kubeconfig of the sandbox', () =>
    access(stage.kubeconfig).then(
      () => true,
      () => undefined,
    ),
  );
}

/** Starts the node n1, which is this machine, and the daemon. Needs root and kubectl. */
export async function startNode(stage: Stage): Promise<void> {
  await stage.say('A node: an sshd on loopback, as n1. Nothing of Stowage is installed on it.');
  stage.onEnd(await ensureUdev());
  const sshd = await startSshd({ nodes: ['n1'] });
  stage.onEnd(() => sshd.stop());
  await symlink(sshd.configFile, join(stage.folder, 'ssh_config'));
  await stage.apply(NODE);
  await stage.run('stowage', 'install', '--components', 'populator-crds');
  await stage.say('The daemon, which reaches nodes over ssh.');
  await stage.start('watch', GATE, '--ssh-config', join(stage.folder, 'ssh_config'));
  stage.onEnd(() => removeAll(stage));
}

/** Deletes what is left in the cluster, and throws if traces remain on the machine. */
async function removeAll(stage: Stage): Promise<void> {
  await stage.noteVolumes();
  for (const kinds of ['pods', 'pvc,volumesnapshots'])
    await stage.run('kubectl', 'delete', kinds, '-A', '--all', '--timeout=30s');
  await stage.run('stowage', 'delete', 'volumes', '--all', '--wait', '--timeout', '30s');
  // Other storage of this machine does not count: names of all traces contain a Volume's UID.
  const uids = [...stage.uids];
  const left = (await leftovers({ uids })).filter((each) => uids.some((uid) => each.includes(uid)));
  if (left.length > 0) throw new Error(`left behind: ${left.join('; ')}`);
}
