import type { Command } from 'commander';
import { DEFAULT_GATES, type FeatureGates } from '../../api/feature-gates.ts';
import { featureGates as parseGates } from '../lib/feature-gates.ts';
import type { Io } from '../lib/io.ts';
import { wholeNumber } from '../lib/parse.ts';

interface SandboxFlags {
  port: number;
  kubeconfigOut?: string;
  featureGates?: Partial<FeatureGates>;
}

export default function sandbox(program: Command, io: Io): void {
  program
    .command('sandbox')
    .description('run an API server in memory, to try things out')
    .option('--port <number>', 'port on 127.0.0.1; 0: any free one', wholeNumber(0, 65_535), 0)
    .option('--kubeconfig-out <file>', 'where to write its kubeconfig (default: standard output)')
    .option(
      '--feature-gates <gate=bool,...>',
      "gates of kube-apiserver to turn on or off, whose defaults are Kubernetes': CrossNamespaceVolumeDataSource",
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
        io.stderr.write(`API server at ${server.url}, until interrupted\n`);
        io.stderr.write(
          'note: it runs no pods: they stay Pending, and volumes that wait for one stay unbound\n',
        );
        await new Promise<void>((resolve) => {
          if (io.signal.aborted) resolve();
          io.signal.addEventListener('abort', () => resolve(), { once: true });
        });
      } finally {
        await server.stop();
      }
    });
}
