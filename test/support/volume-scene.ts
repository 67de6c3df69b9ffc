import { execa } from 'execa';
import { VOLUMES } from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import { isNotFound } from '../../src/kube/errors.ts';
import { startCluster } from './cluster.ts';
import { startSshd } from './sshd.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { ensureUdev } from './udev.ts';
import { until } from './until.ts';

export const STOWAGE = 'bin/stowage';

/** Transports to test: `npm run test:faults` has enough time for both. */
export const TRANSPORTS =
  process.env.STOWAGE_FAULTS === undefined ? [['ssh']] : [['ssh'], ['local']];

/** Sandbox with `stowage watch`, which provisions Volumes on this machine as node n1. */
export type VolumeScene = Awaited<ReturnType<typeof startVolumeScene>>;

export async function startVolumeScene(transport = 'ssh') {
  const stopUdev = await ensureUdev();
  const sshd = await startSshd({ nodes: ['n1'] });
  const cluster = await startCluster({ nodes: ['n1'] });
  const folder = await temporaryDirectory('volume');
  const { client } = cluster;
  const env = { KUBECONFIG: cluster.kubeconfig };
  const flags = transport === 'ssh' ? ['--ssh-config', sshd.configFile] : ['--local-node', 'n1'];
  const watch = execa(STOWAGE, ['watch', '--transport', transport, ...flags], {
    env,
    reject: false,
  });

  const get = (name: string) => client.get<Volume>(VOLUMES, name);
  const gone = (name: string) =>
    until(`${name} gone`, () =>
      get(name).then(
        () => undefined,
        (error: unknown) => (isNotFound(error) ? true : Promise.reject(error)),
      ),
    );

  return {
    ...{ client, folder: folder.path, get, gone },
    /** Environment of other programs for this cluster, and for the node over ssh. */
    env: { ...env, STOWAGE_SSH_CONFIG: sshd.configFile },
    run: (command: string, args: string[], input?: string) =>
      execa(command, args, { env, ...(input === undefined ? {} : { input }) }),
    /** Waits until the Volume is Available or Failed. */
    settled: (name: string): Promise<Volume> =>
      until(`${name} Available or Failed`, async () => {
        const volume = await get(name);
        return ['Available', 'Failed'].includes(volume.status?.phase ?? '') ? volume : undefined;
      }),
    /** Deletes Volumes concurrently, and waits until they are gone. */
    async remove(...volumes: readonly Volume[]): Promise<void> {
      const names = volumes.map(({ metadata }) => metadata.name);
      await Promise.all(names.map((name) => client.delete(VOLUMES, name)));
      await Promise.all(names.map(gone));
    },
    /**
     * Stops everything.
     * @returns the exit status of `stowage watch`
     */
    async stop(): Promise<number | undefined> {
      watch.kill('SIGTERM');
      const { exitCode } = await watch;
      await cluster.stop();
      await sshd.stop();
      await stopUdev();
      await folder.remove();
      return exitCode;
    },
  };
}

/** Returns the path of a sparse Volume's file. */
export const fileOf = ({ spec, metadata }: Volume): string =>
  `${spec.sparseLoopDevice?.directory ?? '/var/lib/metalk8s/storage/sparse'}/${metadata.uid}`;
