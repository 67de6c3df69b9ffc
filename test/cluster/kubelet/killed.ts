/**
 * Starts a kubelet with two pods that hold a file system and a device, reports that on stdout, and
 * waits to be killed. The only argument is KilledOptions as JSON.
 */
import { execa } from 'execa';
import { PERSISTENT_VOLUMES } from '../../../src/api/resources.ts';
import type { VolumeMode } from '../../../src/api/volume.ts';
import { connect } from '../../../src/kube/connect.ts';
import { makeDisk } from '../../support/disks.ts';
import { onNode } from '../../support/volumes.ts';
import { startKubelet } from './kubelet.ts';
import { podsOf } from './pods.ts';

export interface KilledOptions {
  node: string;
  /** Paths of the administrator's and the node's kubeconfig. */
  kubeconfig: string;
  nodeKubeconfig: string;
}

const { node, kubeconfig, nodeKubeconfig } = JSON.parse(process.argv[2] ?? '') as KilledOptions;
const { folder } = await startKubelet({ kubeconfig, kubeconfigOf: () => nodeKubeconfig }, node);
const { client } = await connect({ kubeconfig });
const pods = podsOf(client);

for (const volumeMode of ['Filesystem', 'Block'] satisfies VolumeMode[]) {
  const name = volumeMode.toLowerCase();
  const disk = await makeDisk(folder, name, 64n << 20n);
  if (volumeMode === 'Filesystem') await execa('mkfs.ext4', ['-q', disk.path]);
  const spec = {
    ...{
      storageClassName: name,
      volumeMode,
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '64Mi' },
    },
    ...{ local: { path: disk.path }, nodeAffinity: onNode(node) },
  };
  await client.create(PERSISTENT_VOLUMES, {
    ...{ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name }, spec },
  } as never);
  await pods.start(name, await pods.claim(name, name, volumeMode));
}
process.stdout.write('held\n');
setInterval(() => {}, 1000);
