import { fetch } from 'undici';
import { freePorts } from '../../support/free-ports.ts';
import { type Part, startPart } from '../part.ts';
import { buildSnapshotController } from './programs.ts';

/** Namespace of the snapshot-controller's Lease. */
const NAMESPACE = 'kube-system';

/**
 * Starts the standard snapshot-controller with a Lease, as its Deployment does. Builds it first.
 * @param kubeconfig path of a kubeconfig of a user with all rights
 * @param folder directory of its log
 */
export async function startSnapshotController(kubeconfig: string, folder: string): Promise<Part> {
  const program = await buildSnapshotController();
  const [port = 0] = await freePorts(1);
  const endpoint = `127.0.0.1:${port}`;
  return startPart({
    name: 'snapshot-controller',
    argv: [
      program,
      ...['--kubeconfig', kubeconfig, '--http-endpoint', endpoint, '-v', '5'],
      ...['--leader-election', '--leader-election-namespace', NAMESPACE],
      // Without this flag it waits 30 s for CRDs that no test needs.
      '--feature-gates=CSIVolumeGroupSnapshot=false',
    ],
    folder,
    ready: async () => (await fetch(`http://${endpoint}/healthz/leader-election`)).ok,
  });
}
