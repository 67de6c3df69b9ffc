import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeObject, Resource } from '../../../src/api/meta.ts';
import { NAMESPACES } from '../../../src/api/resources.ts';
import type { KubeClient } from '../../../src/kube/types.ts';
import { type Part, startPart } from '../part.ts';
import { buildLocalPathProvisioner } from './programs.ts';

export const LOCAL_PATH = 'rancher.io/local-path';
const NAMESPACE = 'local-path-storage';
const CONFIG_MAP = 'local-path-config';
const CONFIG_MAPS: Resource = {
  ...{ group: '', version: 'v1', kind: 'ConfigMap' },
  ...{ plural: 'configmaps', namespaced: true },
};

export interface LocalPathOptions {
  client: KubeClient;
  /** Path of a kubeconfig of a user with all rights. */
  kubeconfig: string;
  /** Directory of its log and its files. */
  folder: string;
  /** Directory of its volumes on each node. */
  volumes: string;
  /** Image of the pods that create and remove directories. */
  image: string;
}

/**
 * Starts Rancher's local-path-provisioner with the scripts of its own manifest. Builds it first.
 */
export async function startLocalPathProvisioner(options: LocalPathOptions): Promise<Part> {
  const { client, kubeconfig, folder, volumes, image } = options;
  const program = await buildLocalPathProvisioner();
  const config = join(folder, 'local-path.json');
  const helperPod = join(folder, 'local-path-pod.json');
  const anyNode = { node: 'DEFAULT_PATH_FOR_NON_LISTED_NODES', paths: [volumes] };
  await writeFile(config, JSON.stringify({ nodePathMap: [anyNode] }));
  await writeFile(
    helperPod,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'helper-pod' },
      spec: {
        hostNetwork: true,
        automountServiceAccountToken: false,
        containers: [{ name: 'helper-pod', image, imagePullPolicy: 'Never' }],
      },
    }),
  );
  await client.create<KubeObject>(NAMESPACES, {
    ...{ apiVersion: 'v1', kind: 'Namespace' },
    metadata: { name: NAMESPACE },
  });
  await client.create(
    CONFIG_MAPS,
    {
      ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: CONFIG_MAP } },
      data: {
        setup: 'set -eu; mkdir -m 0777 -p "$VOL_DIR"',
        teardown: 'set -eu; rm -rf "$VOL_DIR"',
      },
    } as KubeObject,
    { namespace: NAMESPACE },
  );
  const name = 'local-path-provisioner';
  return startPart({
    name,
    argv: [
      ...([program, '--debug', 'start', '--kubeconfig', kubeconfig, '--config', config] as const),
      ...[
        '--namespace',
        NAMESPACE,
        '--configmap-name',
        CONFIG_MAP,
        '--service-account-name',
        'default',
      ],
      ...[
        '--helper-image',
        image,
        '--helper-pod-file',
        helperPod,
        '--provisioner-name',
        LOCAL_PATH,
      ],
    ],
    folder,
    ready: async () =>
      (await readFile(join(folder, `${name}.log`), 'utf8')).includes('Provisioner started'),
  });
}
