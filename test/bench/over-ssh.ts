import { join } from 'node:path';
import type { StorageClass } from '../../src/api/core.ts';
import { STORAGE_CLASSES } from '../../src/api/resources.ts';
import { connect } from '../../src/kube/connect.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { startSshd } from '../support/sshd.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { ensureUdev } from '../support/udev.ts';
import type { StartApi } from './api-servers.ts';
import { start } from './processes.ts';

export interface OverSsh {
  client: KubeClient;
  /** For `ssh -F`: it leads to the node. */
  sshConfig: string;
  /** For files. */
  folder: string;
  /** Calls back before the node's sshd ends. */
  atEnd(undo: () => Promise<unknown>): void;
}

/** This machine as a node, by an sshd on loopback, with a daemon and a class `local`. Without root all is left out. */
export async function withDaemonOverSsh(
  node: string,
  startApi: StartApi,
  use: (scene: OverSsh) => Promise<void>,
): Promise<void> {
  if (process.getuid?.() !== 0) {
    console.log('left out: it takes root, for loop devices, udev and sshd');
    return;
  }
  const cleanUps: (() => Promise<unknown>)[] = [];
  try {
    const folder = await temporaryFolder('bench');
    cleanUps.push(() => folder.remove());
    cleanUps.push(await ensureUdev());
    const sshd = await startSshd({ nodes: [node] });
    cleanUps.push(() => sshd.stop());
    const { kubeconfig, stop } = await startApi(join(folder.path, 'kubeconfig'));
    cleanUps.push(stop);
    const { client } = await connect({ kubeconfig });
    await client.create<StorageClass>(STORAGE_CLASSES, {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'local' },
      provisioner: 'kubernetes.io/no-provisioner',
    });
    const { configFile } = sshd;
    const daemon = start('bin/stowage', ['watch', '--kubeconfig', kubeconfig, '--ssh-config', configFile]);
    cleanUps.push(() => daemon.stop());
    await use({
      ...{ client, sshConfig: configFile, folder: folder.path },
      atEnd: (undo) => cleanUps.push(undo),
    });
  } finally {
    for (const undo of cleanUps.reverse()) await undo().catch(console.error);
  }
}
