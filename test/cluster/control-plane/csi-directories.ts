import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeObject } from '../../../src/api/meta.ts';
import { CSI_DRIVERS } from '../../../src/api/resources.ts';
import type { KubeClient } from '../../../src/kube/types.ts';
import { type Part, startPart } from '../part.ts';
import { buildCsiDirectories } from './programs.ts';

export const CSI_DIRECTORIES = 'directories.csi.example.com';

export interface CsiDirectoriesOptions {
  client: KubeClient;
  /** Path of a kubeconfig of a user with all rights. */
  kubeconfig: string;
  /** Directory of its logs and its socket. */
  folder: string;
  /** Directory of its volumes. */
  volumes: string;
  /** Node of this machine, and the root directory of its kubelet. */
  node: string;
  kubelet: string;
}

/**
 * Starts CSI's external-provisioner with a driver whose volumes are directories. Builds them first.
 */
export async function startCsiDirectories(
  options: CsiDirectoriesOptions,
): Promise<Pick<Part, 'stop'>> {
  const { client, kubeconfig, folder, volumes, node, kubelet } = options;
  const program = await buildCsiDirectories();
  const socket = join(folder, 'csi-directories.sock');
  const says = (name: string, text: string) => async () =>
    (await readFile(join(folder, `${name}.log`), 'utf8')).includes(text);
  await client.create<KubeObject & { spec: object }>(CSI_DRIVERS, {
    ...{ apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', metadata: { name: CSI_DIRECTORIES } },
    spec: { attachRequired: false },
  });
  const driver = await startPart({
    name: 'csi-directories',
    argv: [
      program('csi-directories'),
      ...['-name', CSI_DIRECTORIES, '-node', node, '-socket', socket, '-volumes', volumes],
      ...['-registration', join(kubelet, 'plugins_registry/directories-reg.sock')],
    ],
    folder,
    ready: says('csi-directories', 'registered: true'),
  });
  const provisioner = await startPart({
    name: 'csi-provisioner',
    argv: [
      program('csi-provisioner'),
      '--kubeconfig',
      kubeconfig,
      '--csi-address',
      socket,
      '-v',
      '5',
    ],
    folder,
    ready: says('csi-provisioner', 'Started provisioner controller'),
  });
  return {
    async stop() {
      await provisioner.stop();
      await driver.stop();
    },
  };
}
