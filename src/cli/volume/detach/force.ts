import { hostname } from 'node:os';
import type { PersistentVolume } from '../../../api/core.ts';
import { StowageError } from '../../../api/errors.ts';
import { ATTACHED_NODES_ANNOTATION, COMPONENT, EVENT } from '../../../api/names.ts';
import { PERSISTENT_VOLUMES, VOLUMES } from '../../../api/resources.ts';
import type { Volume } from '../../../api/volume.ts';
import { isNotFound } from '../../../kube/errors.ts';
import { createEventRecorder } from '../../../kube/events.ts';
import { patchWithRetry } from '../../../kube/retry.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { withoutAttachedNode } from '../../../model/attached-nodes.ts';
import { isPvOf } from '../../../model/persistent-volume.ts';
import type { Io } from '../../lib/io.ts';
import { warningLogger } from '../../lib/output/warning-logger.ts';

/** Time limit for writing the event, in ms. */
const EVENT_TIME = 10_000;

/** Reports whether the annotation of a Volume's own PersistentVolume lists a node. */
export async function isRecorded(
  volume: Volume,
  node: string,
  io: Io,
  client: KubeClient,
): Promise<boolean> {
  try {
    const { name } = volume.metadata;
    const pv = await client.get<PersistentVolume>(PERSISTENT_VOLUMES, name, { signal: io.signal });
    return isPvOf(pv, volume) && withoutAttachedNode(recordOf(pv), node) !== undefined;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

/**
 * Force-detaches a Volume from a node without verification, and records that. Returns the Volume in
 * its new state. Throws a StowageError `conflict` if another Volume has its name by now.
 */
export async function forceDetach(
  volume: Volume,
  node: string,
  { why, recorded }: { why: string; recorded: boolean },
  io: Io,
  client: KubeClient,
): Promise<Volume> {
  const { signal } = io;
  const { name, uid } = volume.metadata;
  // Annotation first: a starting daemon takes its nodes for attached; the status orders the detach.
  if (recorded) {
    await patchWithRetry<PersistentVolume>(
      client,
      PERSISTENT_VOLUMES,
      name,
      (pv) => {
        const left = withoutAttachedNode(recordOf(pv), node);
        if (left === undefined || !isPvOf(pv, volume)) return undefined;
        return { metadata: { annotations: { [ATTACHED_NODES_ANNOTATION]: left } } };
      },
      { signal },
    );
  }
  const left = await patchWithRetry<Volume>(
    client,
    VOLUMES,
    name,
    (current) => {
      if (current.metadata.uid !== uid) {
        throw new StowageError(
          'conflict',
          `Volume ${name} was deleted and created again meanwhile`,
          {
            hint: `Check where it is attached now, then retry if necessary: stowage get attachments ${name}`,
          },
        );
      }
      const { attachments = [] } = current.status ?? {};
      const others = attachments.filter((each) => each.node !== node);
      return others.length === attachments.length ? undefined : { status: { attachments: others } };
    },
    { subresource: 'status', signal },
  );
  const events = createEventRecorder({
    client,
    clock: io.clock,
    component: COMPONENT,
    host: hostname(),
    logger: warningLogger(io),
  });
  events.event(
    left,
    'Warning',
    EVENT.forcedDetach,
    `Volume ${name} is force-detached from node ${node} without verification, by stowage detach volume --force: ${why}`,
  );
  await events.flush(EVENT_TIME);
  return left;
}

const recordOf = ({ metadata }: PersistentVolume): string | undefined =>
  metadata.annotations?.[ATTACHED_NODES_ANNOTATION];
