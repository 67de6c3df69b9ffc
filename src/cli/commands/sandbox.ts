import type { Command } from 'commander';
import { DEFAULT_GATES, type FeatureGates } from '../../api/feature-gates.ts';
import { addExamples } from '../lib/examples.ts';
import { featureGates as parseGates } from '../lib/feature-gates.ts';
import type { Io } from '../lib/io.ts';
import { wholeNumber } from '../lib/parse.ts';

interface SandboxFlags {
  port: number;
  kubeconfigOut?: string;
  featureGates?: Partial<FeatureGates>;
}

export default function sandbox(program: Command, io: Io): void {
  const command = program
    .command('sandbox')
    .description('run an in-memory API server for trials')
    .option('--port <number>', 'port on 127.0.0.1; 0 is any free port', wholeNumber(0, 65_535), 0)
    .option('--kubeconfig-out <file>', 'file to write its kubeconfig to (default: standard output)')
    .option(
      '--feature-gates <gate=bool,...>',
      'feature gates of kube-apiserver: CrossNamespaceVolumeDataSource (default: as in Kubernetes)',
      parseGates(DEFAULT_GATES),
    )
    .action(async ({ port, kubeconfigOut, featureGates = {} }: SandboxFlags) => {
      const { ALL_CRDS } = await import('../../api/crds.ts');
      const { startSandbox } = await import('../../sandbox/server.ts');
      const { writePrivateFile } = await import('../lib/output/private-file.ts');
      const server = await startSandbox({ port, crds: ALL_CRDS, featureGates });
      try {
        if (kubeconfigOut === undefined) io.stdout.write(server.kubeconfig);
        else await writePrivateFile(kubeconfigOut, server.kubeconfig);
        io.stderr.write(`API server listens on ${server.url} until interrupted\n`);
        io.stderr.write(
          'note: pods do not run here: they stay Pending, and claims that wait for a pod stay unbound\n',
        );
        await new Promise<void>((resolve) => {
          if (io.signal.aborted) resolve();
          io.signal.addEventListener('abort', () => resolve(), { once: true });
        });
      } finally {
        await server.stop();
      }
    });
  addExamples(command, [
    '# In the background, with a kubeconfig for other commands',
    'stowage sandbox --kubeconfig-out /tmp/sandbox.kubeconfig &',
  ]);
}
