import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { CRDS } from '../../src/api/crds.ts';
import { connect } from '../../src/kube/connect.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { startDaemon } from '../cluster/kubelet/scene.ts';
import { describeCrossNamespace, gate, type KepScene } from '../kep/cross-namespace.ts';
import { createNode } from '../support/claim-objects.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { ensureUdev } from '../support/udev.ts';

const REACHED_BY = ['--transport', 'local', '--local-node', 'n1'];
const COMPONENTS = 'crds,rbac,snapshot-crds,referencegrant-crd,populator-crds';

/** Starts a sandbox, and the daemon as a separate process. */
async function startOnSandbox(isOn: boolean): Promise<KepScene> {
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const each of stops.splice(0).reverse()) await each();
  };
  try {
    const folder = await temporaryDirectory('kep');
    stops.push(folder.remove, await ensureUdev());
    const sandbox = await startSandbox({
      crds: CRDS,
      featureGates: { CrossNamespaceVolumeDataSource: isOn },
    });
    stops.push(sandbox.stop);
    const kubeconfig = join(folder.path, 'kubeconfig');
    await writeFile(kubeconfig, sandbox.kubeconfig, { mode: 0o600 });
    const env = { KUBECONFIG: kubeconfig };
    await execa('bin/stowage', ['install', '--components', COMPONENTS], { env });
    const { client } = await connect({ kubeconfig });
    await createNode(client, 'n1');
    const start = (flags: readonly string[]) =>
      startDaemon({ folder: folder.path, kubeconfigOf: () => kubeconfig }, [
        ...REACHED_BY,
        ...flags,
      ]);
    let daemon = await start([gate(isOn)]);
    stops.push(() => daemon.stop());
    return {
      ...{ client, stop },
      stowage: (...args) => execa('bin/stowage', args, { env, reject: false }),
      async watch(flags) {
        await daemon.stop();
        daemon = await start(flags);
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

describeCrossNamespace(startOnSandbox);
