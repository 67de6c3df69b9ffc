import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { STORAGE_CLASSES } from '../../../src/api/resources.ts';
import { connect } from '../../../src/kube/connect.ts';
import type { KubeClient } from '../../../src/kube/types.ts';
import { createNode } from '../../support/claim-objects.ts';
import { LOCAL_CLASS } from '../../support/cluster.ts';
import { startCuttableProxy } from '../../support/cuttable-proxy.ts';
import type { Restartable } from '../../support/outage-cases.ts';
import { startSshd } from '../../support/sshd.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/control-plane.ts';

/**
 * A real API server with Stowage's CRDs, and this machine as node n1, over ssh and a network that
 * can be cut.
 */
export interface Scene {
  controlPlane: ControlPlane;
  client: KubeClient;
  kubeconfig: string;
  /** Path of the ssh configuration for `stowage watch`. */
  sshConfig: string;
  sshd: Restartable;
  network: Restartable;
  stop(): Promise<void>;
}

/** Starts the scene. `folder` is the directory of the ssh configuration. */
export async function startScene(folder: string): Promise<Scene> {
  const controlPlane = await startControlPlane({
    controllers: ['persistentvolume-binder-controller', 'persistentvolume-protection-controller'],
  });
  const { kubeconfig } = controlPlane;
  await execa('bin/stowage', ['install', '--components', 'crds'], {
    env: { KUBECONFIG: kubeconfig },
  });
  const { client } = await connect({ kubeconfig });
  await client.create(STORAGE_CLASSES, LOCAL_CLASS);
  await createNode(client, 'n1');
  const sshd = await startSshd({ nodes: ['n1'] });
  const proxy = await startCuttableProxy(sshd.port);
  const sshConfig = join(folder, 'ssh_config');
  // ssh uses the first value of each setting.
  await writeFile(sshConfig, `Host n1\n  Port ${proxy.port}\n  Include ${sshd.configFile}\n`);
  return {
    controlPlane,
    client,
    kubeconfig,
    sshConfig,
    sshd: { stop: sshd.down, start: sshd.up },
    network: { stop: proxy.cut, start: proxy.mend },
    async stop() {
      await proxy.stop();
      await sshd.stop();
      await controlPlane.stop();
    },
  };
}
