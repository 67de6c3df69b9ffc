/**
 * `npm run bench -- volumes`: 1,000 Volumes at once. The nodes do at once what they are told, so that what is measured is
 * the daemon and what it asks of the API server: a sandbox, whose part is told apart. They and this process, which creates
 * the Volumes and watches them, share the machine's processors.
 */
import { join } from 'node:path';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { atOnce, type Round, showRounds } from './at-once.ts';
import { bundle, startSandbox } from './processes.ts';

const COUNT = Number(process.argv[2] ?? 1000);
const ROUNDS = 3;

const folder = await temporaryFolder('bench');
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
