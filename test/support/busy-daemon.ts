import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PersistentVolume } from '../../src/api/core.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  PODS,
  REFERENCE_GRANTS,
  VOLUME_SNAPSHOTS,
  VOLUMES,
} from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import { connect } from '../../src/kube/connect.ts';
import { createMetrics } from '../../src/manager/metrics/metrics.ts';
import { kindOfKey } from '../../src/model/job-name.ts';
import type { Executor } from '../../src/nodes/job.ts';
import { observeJobEnds } from '../../src/nodes/job-observer.ts';
import { systemClock } from '../../src/workqueue/clock.ts';
import { claimsOf, createNode, createSnapshotClass } from './claim-objects.ts';
import { sparseVolume } from './cluster.ts';
import {
  NAMESPACE,
  OWN,
  podOf,
  populatorGrant,
  startPopulationCluster,
} from './population-cluster.ts';
import { TO_SNAPSHOT } from './snapshots.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { until } from './until.ts';
import { workingNodes } from './working-nodes.ts';

/** Kubeconfig of a server that refuses connections. */
const DEAD = JSON.stringify({
  ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'dead' },
  clusters: [{ name: 'dead', cluster: { server: 'http://127.0.0.1:1' } }],
  users: [{ name: 'dead', user: {} }],
  contexts: [{ name: 'dead', context: { cluster: 'dead', user: 'dead' } }],
});

type Kind = ReturnType<typeof kindOfKey>;

/** Wraps nodes. The next job of each kind in `next` fails. */
function failing(nodes: Executor, next: Set<Kind>): Executor {
  return {
    ...nodes,
    async submit(node, job, waitMs) {
      if (!next.delete(kindOfKey(job.key))) return nodes.submit(node, job, waitMs);
      const step = { name: 'fail', command: 'false' };
      return { state: 'failed', step, exit: 1, output: 'no space left on device' };
    },
  };
}

/**
 * Runs the daemon's controllers over nodes and containers in memory. Each round does all kinds of
 * work, and each kind fails once: populators, claims, snapshots, attaching, API requests. The node
 * n3, with a Volume, never answers.
 * @returns scrapes before the first round, and after each
 */
export async function scrapesOfBusyDaemon(rounds: number): Promise<string[]> {
  const folder = await temporaryDirectory('busy');
  const cluster = await startPopulationCluster();
  try {
    const metrics = createMetrics({ clock: systemClock, transportOf: () => 'ssh' });
    const { client } = await connect({ kubeconfig: cluster.kubeconfig, onCall: metrics.onCall });
    const kubeconfig = join(folder.path, 'kubeconfig');
    await writeFile(kubeconfig, DEAD);
    const dead = await connect({ kubeconfig, onCall: metrics.onCall });
    const nodes = workingNodes();
    nodes.away.add('n3');
    const next = new Set<Kind>();
    const daemon = await cluster.startDaemon({
      ...{ client, metrics, retry: { startMs: 50, maxMs: 200 } },
      executor: observeJobEnds(failing(nodes, next), systemClock, metrics.onJobEnd),
      provisioning: { namespace: OWN, crossNamespace: true, snapshotController: 'builtin' },
    });
    const claims = claimsOf(cluster.client, { storageClassName: 'immediate', size: '64Mi' });
    await createNode(cluster.client, 'n3');
    const volume = await cluster.client.create<Volume>(VOLUMES, sparseVolume('away', 'n3', '32Mi'));
    const prepared = { node: 'n3', paths: [`/srv/${volume.metadata.uid}`], identity: 'ext4 x' };
    const status = { phase: 'Available', job: 'PrepareVolume/DONE', prepared, capacity: '32Mi' };
    await cluster.client.patch(VOLUMES, 'away', { status }, { subresource: 'status' });
    await cluster.register();
    await cluster.createHello();
    await cluster.createClass('immediate');
    await cluster.createClass('on-demand', {
      parameters: { fsType: 'ext4', attachPolicy: 'OnDemand' },
    });
    await createSnapshotClass(cluster.client, 'fast');
    await claims.create('prod/data');
    await claims.isBound('prod/data');
    await claims.createSnapshot('prod/kept', 'data', 'fast');
    await claims.isReady('prod/kept');
    // Larger than its allocated bytes.
    await claims.create('prod/sparse', { resources: { requests: { storage: '128Mi' } } });
    await claims.isBound('prod/sparse');
    await cluster.client.create(REFERENCE_GRANTS, populatorGrant(VOLUME_SNAPSHOTS));

    const populate = async (name: string) => {
      await cluster.createClaim(`unknown-${name}`, {
        dataSourceRef: { apiGroup: 'nobody.example.com', kind: 'Nothing', name: 'x' },
      });
      await cluster.isTold(`unknown-${name}`, 'UnrecognizedDataSourceKind');
      const { run } = cluster.world;
      cluster.world.run = () => ({ failed: 'no space left' });
      // Retried after this round.
      await cluster.createClaim(`failing-${name}`);
      await cluster.isTold(`failing-${name}`, 'PopulatorFailed');
      cluster.world.run = run;
      await cluster.createClaim(name);
      await cluster.isBound(name);
    };
    const snapshot = async (name: string) => {
      next.add('SnapshotVolume');
      await claims.createSnapshot(`prod/${name}`, 'data', 'fast');
      await claims.isReady(`prod/${name}`);
      const dataSourceRef = { ...TO_SNAPSHOT, name };
      await cluster.createClaim(`restored-${name}`, { dataSourceRef });
      await cluster.isBound(`restored-${name}`);
      await cluster.createClaim(`small-${name}`, {
        ...{ dataSourceRef, resources: { requests: { storage: '1Mi' } } },
      });
      await cluster.isTold(`small-${name}`, 'ProvisioningFailed');
      await claims.removeSnapshot(`prod/${name}`);
      await claims.isGone(VOLUME_SNAPSHOTS, `prod/${name}`);
    };
    const attach = async (name: string) => {
      next.add('AttachVolume').add('DetachVolume');
      await cluster.createClaim(name, { storageClassName: 'on-demand', dataSourceRef: undefined });
      const { spec } = await cluster.isBound(name);
      const annotationIs = (text: RegExp) =>
        until(`the attached nodes of ${name} match ${text}`, async () => {
          const pv = await cluster.client.get<PersistentVolume>(
            PERSISTENT_VOLUMES,
            spec.volumeName ?? '',
          );
          return text.test(JSON.stringify(pv.metadata.annotations)) || undefined;
        });
      await cluster.client.create(PODS, podOf(name));
      await annotationIs(/"\[\\"n\d\\"\]"/);
      await cluster.client.delete(PODS, 'user', { namespace: NAMESPACE });
      await annotationIs(/"\[\]"/);
      await cluster.client.delete(PERSISTENT_VOLUME_CLAIMS, name, { namespace: NAMESPACE });
      await cluster.gone(VOLUMES, spec.volumeName ?? '');
    };

    const scrapes = [(await metrics.read()).body];
    for (let round = 1; round <= rounds; round++) {
      await Promise.all([
        populate(`filled-${round}`),
        snapshot(`copied-${round}`),
        attach(`attached-${round}`),
        dead.client.list(VOLUMES).catch(() => {}),
      ]);
      await daemon.caughtUp();
      scrapes.push((await metrics.read()).body);
    }
    return scrapes;
  } finally {
    await cluster.stop();
    await folder.remove();
  }
}
