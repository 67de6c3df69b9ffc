import type { Pod } from '../api/core.ts';
import { PODS } from '../api/resources.ts';
import {
  type AttachmentController,
  type AttachmentControllerDeps,
  createAttachmentController,
} from './attachment-controller.ts';
import { keepPod } from './kept-fields.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { Inform, Part } from './part.ts';

export interface AttachingDeps extends Omit<AttachmentControllerDeps, 'pods' | 'onForced' | 'onOperation'> {
  inform: Inform;
  metrics?: Metrics | undefined;
}

/** What attaches devices where pods run. Make it before the informers that it is given are started. */
export function createAttaching(deps: AttachingDeps): Part & Pick<AttachmentController, 'isMoving'> {
  const { inform, metrics, clock, nodes, claims } = deps;
  const pods = inform<Pod>(PODS, keepPod);
  const attachment = createAttachmentController({
    ...deps,
    pods,
    ...(metrics && {
      onForced: metrics.attachments.onForced,
      onOperation: metrics.attachments.onOperation,
    }),
  });
  metrics?.attachments.add(attachment, clock);
  return {
    isMoving: attachment.isMoving,
    start: () => pods.start(),
    begin(after, run) {
      // Who does not know which pods there are would detach what they use.
      Promise.all([after, nodes.synced, pods.synced, claims.synced])
        .then(() => run('attachment', attachment.queue, attachment.reconcile))
        // A stop before the first list rejects these, and `stop` below is the one that is told.
        .catch(() => {});
    },
    sources: [{ name: PODS.plural, lastHeard: pods.lastHeard }],
    async stop(deadlineMs) {
      await attachment.stop(deadlineMs);
      await pods.stop();
    },
  };
}
