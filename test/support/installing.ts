import type { KubeObject, Resource } from '../../src/api/meta.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../src/api/resources.ts';
import { run } from '../../src/cli/run.ts';
import { connect } from '../../src/kube/connect.ts';
import { isNotFound } from '../../src/kube/errors.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { startCluster } from './cluster.ts';
import { fakeIo, type World } from './fake-io.ts';

/** Starts a cluster and returns functions that run commands against it. */
export async function startInstalling() {
  const cluster = await startCluster();
  const { client } = cluster;
  const { transport } = await connect({ kubeconfig: cluster.kubeconfig });
  return {
    client,
    stop: () => cluster.stop(),
    /**
     * Runs a command line.
     * @param through client for its requests
     */
    async stowage(argv: string[], world: World = {}, through: KubeClient = client) {
      const { io, outcome } = fakeIo(world);
      const code = await run(argv, {
        ...io,
        connect: async (options) => ({
          ...(await io.connect(options)),
          client: through,
          transport,
        }),
      });
      return { code, out: outcome.out, err: outcome.err, questions: outcome.questions };
    },
    exists: (resource: Resource, name: string, namespace?: string): Promise<boolean> =>
      client.get(resource, name, { namespace }).then(
        () => true,
        (error: unknown) => (isNotFound(error) ? false : Promise.reject(error)),
      ),
    /** Deletes all CRDs: a sandbox has them from the start. */
    async removeDefinitions() {
      for (const { metadata } of (await client.list<KubeObject>(CUSTOM_RESOURCE_DEFINITIONS))
        .items) {
        await client.delete(CUSTOM_RESOURCE_DEFINITIONS, metadata.name);
      }
    },
  };
}

export const outcomesOf = (err: string) =>
  err
    .trim()
    .split('\n')
    .map((line) => line.split(' ').at(-1));
