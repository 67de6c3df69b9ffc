import { DRIVER } from '../../api/names.ts';
import { isPaused } from '../../api/paused.ts';
import type { VolumeSnapshotContent } from '../../api/snapshot.ts';
import type { Volume } from '../../api/volume.ts';
import { isConflict, isNotFound } from '../../kube/errors.ts';
import { dynamicClass } from '../../model/dynamic-class.ts';
import { isNodeReady, isOff } from '../../model/node-health.ts';
import { RETRY } from '../../model/retry.ts';
import { type ContentFindings, createContentActionRunner, nothing } from './content-actions.ts';
import type { ContentDeps } from './content-deps.ts';
import { decideContent } from './decide-content.ts';
import { isOfAnother } from './handle-in-use.ts';
import { noteOf } from './job-record.ts';
import type { ContentInput, NodeFacts } from './types.ts';

export type Result = { requeueAfterMs?: number; retry?: true } | undefined;

/** Returns the loop around `decideContent`: reads, decides, carries out one action, and repeats. */
export function createContentReconciler(
  deps: ContentDeps,
): (name: string, signal: AbortSignal) => Promise<Result> {
  const { contents, clock, logger } = deps;
  const actions = createContentActionRunner({
    ...deps,
    volumeOf: (content) => volumeOf(deps, content),
  });
  return async (name, signal) => {
    let known: ContentFindings = nothing;
    let uid: string | undefined;
    for (let round = 0; round < RETRY.maxActions; round++) {
      signal.throwIfAborted();
      const content = contents.get(name);
      if (content === undefined || content.spec.driver !== DRIVER) return undefined;
      if (uid !== undefined && uid !== content.metadata.uid) known = nothing;
      uid = content.metadata.uid;
      const input = inputOf(deps, content, known);
      const decision = decideContent(input, clock.timeOfDay());
      const { action } = decision;
      if (action === undefined) {
        const { watch } = decision;
        if (watch !== undefined) deps.work.watch(content, watch, () => deps.enqueue(name));
        if (decision.retry) return { retry: true };
        return decision.requeueAfter === undefined
          ? undefined
          : { requeueAfterMs: decision.requeueAfter };
      }
      try {
        known = await actions.carryOut(action, content, known);
      } catch (error) {
        // The object was written or deleted meanwhile: refresh the stale cache by a live read.
        if (!isConflict(error) && !isNotFound(error)) throw error;
        logger.warn(
          { content: name, action: action.do, error: error.message },
          'decided on a stale object; deciding again',
        );
        if (!(await actions.refresh(name)) || isNotFound(error)) return { retry: true };
        known = nothing;
      }
      if (action.do === 'release' || action.do === 'emit-event' || action.do === 'delete-content')
        return undefined;
    }
    throw new Error(
      `VolumeSnapshotContent ${name}: the decision does not converge after ${RETRY.maxActions} actions`,
    );
  };
}

function inputOf(
  deps: ContentDeps,
  content: VolumeSnapshotContent,
  known: ContentFindings,
): ContentInput {
  const { namespace, name = '', uid } = content.spec.volumeSnapshotRef;
  const snapshot = deps.snapshots.get(name, namespace);
  const volume = volumeOf(deps, content);
  return {
    content,
    volume,
    place: volume && deps.placeOf(volume, content.metadata.uid ?? ''),
    snapshot: snapshot !== undefined && snapshot.metadata.uid === uid ? snapshot : undefined,
    snapshotClass: deps.snapshotClasses.get(content.spec.volumeSnapshotClassName ?? ''),
    restores: deps.restoresOf(content.metadata.name),
    roomOn: (node, place) =>
      deps.rooms.room(node, place, overcommitOf(deps, volume), content.metadata.uid),
    nodeFacts: (node) => factsOf(deps, node),
    isOfAnother: (handle) =>
      isOfAnother(content, handle, {
        contents: deps.contents.list(),
        volumes: deps.volumes.list(),
        restoresOf: deps.restoresOf,
      }),
    ...known,
  };
}

/**
 * Returns the overcommit factor of the Volume's storage class; 1 without a valid class of Stowage.
 */
function overcommitOf(
  { storageClasses }: Pick<ContentDeps, 'storageClasses'>,
  volume: Volume | undefined,
): number {
  const storageClass = storageClasses.get(volume?.spec.storageClassName ?? '');
  if (storageClass?.provisioner !== DRIVER) return 1;
  const options = dynamicClass(storageClass);
  return 'problem' in options ? 1 : options.overcommit;
}

/**
 * Returns the Volume that the content names. Rejects a later Volume of that name: one with another
 * UID than the job record has, or one younger than the content.
 */
function volumeOf(
  { volumes }: Pick<ContentDeps, 'volumes'>,
  content: VolumeSnapshotContent,
): Volume | undefined {
  const volume = volumes.get(content.spec.source.volumeHandle ?? '');
  if (volume === undefined) return undefined;
  const note = noteOf(content);
  if (note !== undefined) return volume.metadata.uid === note.volume ? volume : undefined;
  const [made = '', wanted = ''] = [volume, content].map(
    ({ metadata }) => metadata.creationTimestamp ?? '',
  );
  return made <= wanted ? volume : undefined;
}

/** Returns the facts about a node, by its Node object. */
export function factsOf(
  { nodes, managesNode }: Pick<ContentDeps, 'nodes' | 'managesNode'>,
  name: string,
): NodeFacts {
  const node = nodes.get(name);
  return {
    exists: node !== undefined,
    ready: isNodeReady(node),
    off: node !== undefined && isOff(node),
    paused: isPaused(node),
    ours: managesNode(name),
  };
}
