import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type SandboxOptions, startSandbox } from '../../src/sandbox/server.ts';
import type { RunningServer } from '../api-server/server.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** Starts a sandbox in this process, as a server for the suites of api-server/. */
export async function startSandboxServer(
  options: Omit<SandboxOptions, 'crds'> = {},
): Promise<RunningServer> {
  const sandbox = await startSandbox({ ...options, crds: [] });
  const folder = await temporaryDirectory('api-server');
  const kubeconfig = join(folder.path, 'kubeconfig');
  await writeFile(kubeconfig, sandbox.kubeconfig, { mode: 0o600 });
  return {
    url: sandbox.url,
    kubeconfig,
    async stop() {
      await sandbox.stop();
      await folder.remove();
    },
  };
}
