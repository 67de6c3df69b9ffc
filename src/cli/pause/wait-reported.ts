import type { KubeObject } from '../../api/meta.ts';
import { isPaused } from '../../api/paused.ts';
import { VOLUMES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import { listAll } from '../../kube/client.ts';
import type { KubeClient } from '../../kube/types.ts';
import { nodeOf } from '../../model/volume-nodes.ts';
import { codeOf } from '../lib/failure.ts';
import type { Io } from '../lib/io.ts';
import { untilVolumes, type VolumeWait } from '../lib/objects/wait-volumes.ts';
import type { PauseVerb } from './types.ts';

/** Reports whether the daemon reported a pause of a Volume or its Node. */
const isReported = ({ status }: Volume): boolean =>
  status?.conditions?.some((each) => each.type === 'Paused' && each.status === 'True') ?? false;

/**
 * Waits until the condition Paused of the Volumes, or of all Volumes of the Nodes, follows. Returns
 * the last state of the objects for which it does, and the errors of the others.
 * @param pausedNodes nodes on which resumed Volumes stay paused
 */
export async function untilReported(
  verb: PauseVerb,
  objects: readonly KubeObject[],
  pausedNodes: ReadonlySet<string>,
  timeoutMs: number,
  io: Io,
  client: KubeClient,
): Promise<{ done: KubeObject[]; errors: unknown[] }> {
  const isAwaited = (volume: Volume) =>
    verb === 'pause' || !(isPaused(volume) || pausedNodes.has(nodeOf(volume)));
  const wait: VolumeWait = {
    timeoutMs,
    isDone: (volume) => isReported(volume) === (verb === 'pause') || !isAwaited(volume),
    hintOf: () => 'Check whether a daemon leads: stowage check cluster',
    work: 'the condition Paused follows',
  };
  const [first] = objects;
  if (first?.kind === VOLUMES.kind) {
    return untilVolumes(objects as Volume[], wait, io, client);
  }
  const names = new Set(objects.map(({ metadata }) => metadata.name));
  const { items } = await listAll<Volume>(client, VOLUMES, { signal: io.signal });
  const theirs = items.filter((volume) => names.has(nodeOf(volume)));
  const { errors } = await untilVolumes(theirs, wait, io, client);
  // A Volume that is gone is not worked on.
  return { done: [...objects], errors: errors.filter((error) => codeOf(error) !== 'not-found') };
}
