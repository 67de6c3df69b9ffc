import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ALL_CRDS } from '../../src/api/crds.ts';
import type { KubeObject, Resource } from '../../src/api/meta.ts';
import { NAMESPACES, VOLUME_POPULATORS } from '../../src/api/resources.ts';
import { run } from '../../src/cli/run.ts';
import { type Connection, connect } from '../../src/kube/connect.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { systemClock } from '../../src/workqueue/clock.ts';
import { fakeIo, type Outcome, type World } from './fake-io.ts';
import { standIns } from './sandbox/components.ts';
import { LINK_POPULATOR } from './snapshots.ts';

/**
 * Sandbox with the CRDs of snapshots and grants, the VolumePopulator of links, and the namespaces
 * `prod`, `test` and `other`.
 */
export interface ClaimsCluster {
  client: KubeClient;
  /** Path of the kubeconfig. */
  kubeconfig: string;
  /**
   * Runs a command line against the sandbox with its own connection. `through` may replace the
   * client.
   */
  stowage(
    argv: string[],
    world?: World,
    through?: (client: KubeClient) => KubeClient,
  ): Promise<Outcome>;
  /** Deletes all objects of these resources. */
  empty(...resources: Resource[]): Promise<void>;
  stop(): Promise<void>;
}

export async function startClaimsCluster(
  options: {
    crossNamespace?: boolean;
    /** Bind pods to nodes, after their claims have a selected node. */
    scheduler?: boolean;
    /** Kinds that are not served. */
    without?: readonly string[];
    /** Only version in which ReferenceGrants are served. */
    grantsIn?: string;
  } = {},
): Promise<ClaimsCluster> {
  const { crossNamespace = false, scheduler = false, without = [], grantsIn } = options;
  const crds = ALL_CRDS.filter(({ spec }) => !without.includes(spec.names.kind)).map((crd) =>
    crd.spec.names.kind === 'ReferenceGrant' && grantsIn !== undefined
      ? servedIn(crd, grantsIn)
      : crd,
  );
  const sandbox = await startSandbox({
    crds,
    ...standIns({ scheduler }),
    featureGates: { CrossNamespaceVolumeDataSource: crossNamespace },
  });
  const folder = await mkdtemp(join(tmpdir(), 'stowage-claims-'));
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, sandbox.kubeconfig, { mode: 0o600 });
  const { client } = await connect({ kubeconfig });
  for (const name of ['prod', 'test', 'other']) {
    await client.create<KubeObject>(NAMESPACES, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name },
    });
  }
  if (!without.includes('VolumePopulator')) await client.create(VOLUME_POPULATORS, LINK_POPULATOR);
  return {
    ...{ client, kubeconfig },
    async stowage(argv, world = {}, through = (each) => each) {
      const { io, outcome } = fakeIo(world);
      const connected = async (flags: Parameters<typeof connect>[0]): Promise<Connection> => {
        // Stands for an environment setting: printed commands contain the flags of the command
        // line.
        const connection = await connect({ ...flags, kubeconfig: flags?.kubeconfig ?? kubeconfig });
        return { ...connection, client: through(connection.client) };
      };
      outcome.code = await run([...argv], {
        ...io,
        clock: world.clock ?? systemClock,
        connect: connected,
      });
      return outcome;
    },
    async empty(...resources) {
      for (const resource of resources) {
        for (const { metadata } of (await client.list<KubeObject>(resource)).items) {
          await client.delete(resource, metadata.name, { namespace: metadata.namespace });
        }
      }
    },
    async stop() {
      await sandbox.stop();
      await rm(folder, { recursive: true });
    },
  };
}

function servedIn(crd: (typeof ALL_CRDS)[number], version: string): object {
  const versions = crd.spec.versions.filter(({ name }) => name === version);
  return {
    ...crd,
    spec: { ...crd.spec, versions: versions.map((each) => ({ ...each, storage: true })) },
  };
}
