/**
 * `npm run bench -- volumes`: 1,000 concurrent Volumes. The nodes run jobs at once, so that the
 * figures cover the daemon and its requests to the API server. The API server is a sandbox, whose
 * CPU time is reported separately. Both share the processors with this process, which creates and
 * watches the Volumes.
 */
import { join } from 'node:path';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { atOnce, type Round, showRounds } from './at-once.ts';
import { bundle, startSandbox } from './processes.ts';

const COUNT = Number(process.argv[2] ?? 1000);
const ROUNDS = 3;

const folder = await temporaryDirectory('bench');
try {
  const bundled = await bundle('working-daemon.ts', folder.path);
  const rounds: Round[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const kubeconfig = join(folder.path, `kubeconfig-${round}`);
    const sandbox = await startSandbox(kubeconfig);
    try {
      rounds.push(await atOnce(COUNT, { bundled, kubeconfig, serverPid: sandbox.pid }));
    } finally {
      await sandbox.stop();
    }
  }
  showRounds(COUNT, 'sandbox', rounds);
} finally {
  await folder.remove();
}
