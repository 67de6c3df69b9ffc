import { fetch } from 'undici';
import { freePorts } from '../../support/free-ports.ts';
import { type Part, startPart } from '../part.ts';
import { buildSnapshotController } from './programs.ts';

/** Where its Lease is. */
const NAMESPACE = 'kube-system';

/**
 * The standard snapshot-controller, as its Deployment runs it: with a Lease. Builds it first.
 * @param kubeconfig of somebody who may do everything, a file
 * @param folder where its log goes
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
      // It would wait for 30 s for CRDs that nobody needs.
      '--feature-gates=CSIVolumeGroupSnapshot=false',
    ],
    folder,
    ready: async () => (await fetch(`http://${endpoint}/healthz/leader-election`)).ok,
  });
}
