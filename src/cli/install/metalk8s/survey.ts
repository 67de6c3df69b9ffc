import type { PersistentVolume } from '../../../api/core.ts';
import { PERSISTENT_VOLUMES, VOLUMES } from '../../../api/resources.ts';
import type { Volume } from '../../../api/volume.ts';
import { listAll } from '../../../kube/client.ts';
import type { KubeClient } from '../../../kube/types.ts';
import type { Executor } from '../../../nodes/job.ts';
import { about } from '../../lib/batch.ts';
import { type MigrationState, migrationStateOf } from './migration-state.ts';
import { type Recognized, recognize } from './recognize.ts';
import type { Recordable } from './record-volume.ts';
import { refusedVolume } from './refused.ts';

/** Volumes of a cluster, each with the decision about it. */
export interface Cluster {
  volumes: readonly Volume[];
  standings: readonly { volume: Volume; standing: MigrationState }[];
  subjects: readonly Recordable[];
}

export async function readVolumes(
  client: Pick<KubeClient, 'list'>,
  signal: AbortSignal,
): Promise<Cluster> {
  const { items: volumes } = await listAll<Volume>(client, VOLUMES, { signal });
  const { items: pvs } = await listAll<PersistentVolume>(client, PERSISTENT_VOLUMES, { signal });
  const standings = volumes.map((volume) => ({
    volume,
    standing: migrationStateOf(
      volume,
      pvs.find(({ metadata }) => metadata.name === volume.metadata.name),
    ),
  }));
  const subjects = standings.flatMap(({ volume, standing }) =>
    standing.is === 'to adopt' ? [{ volume, pv: standing.pv }] : [],
  );
  return { volumes, standings, subjects };
}

/** Volume with the observation of its node, or with the error that prevents its adoption. */
export type Surveyed = Recordable &
  ({ found: Extract<Recognized, { steps: unknown }> } | { error: unknown });

/** Observes all Volumes to adopt, those of a node one after another. Writes nothing. */
export async function survey(
  { volumes, subjects }: Cluster,
  executor: Executor,
): Promise<Surveyed[]> {
  return eachOf(subjects, async (subject): Promise<Surveyed> => {
    const { volume, pv } = subject;
    try {
      const found = await recognize(volume, pv, executor, volumes);
      if ('steps' in found) return { ...subject, found };
      return { ...subject, error: refusedVolume(volume, found.refusal, found.hint) };
    } catch (error) {
      return {
        ...subject,
        error: about(error, { kind: VOLUMES.kind, name: volume.metadata.name }),
      };
    }
  });
}

/** Works on nodes in parallel, on Volumes of a node in sequence. Results are as `subjects`. */
export async function eachOf<T>(
  subjects: readonly Recordable[],
  work: (subject: Recordable) => Promise<T>,
): Promise<T[]> {
  const results = new Map<Recordable, T>();
  const nodes = Map.groupBy(subjects, ({ volume }) => volume.spec.nodeName);
  await Promise.all(
    [...nodes.values()].map(async (ofNode) => {
      for (const subject of ofNode) results.set(subject, await work(subject));
    }),
  );
  return subjects.flatMap((subject) => (results.has(subject) ? [results.get(subject) as T] : []));
}
