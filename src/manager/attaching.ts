import {
  type AttachmentController,
  type AttachmentControllerDeps,
  createAttachmentController,
} from './attachment-controller.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { Part } from './runnable.ts';

export interface AttachingDeps extends Omit<AttachmentControllerDeps, 'onForced' | 'onOperation'> {
  metrics?: Metrics | undefined;
}

/** What attaches devices where pods run. Make it before the informers that it is given are started. */
export function createAttaching(
  deps: AttachingDeps,
): Part & Pick<AttachmentController, 'isMoving'> {
  const { metrics, clock, nodes, claims, pods } = deps;
  const attachment = createAttachmentController({
    ...deps,
    ...(metrics && {
      onForced: metrics.attachments.onForced,
      onOperation: metrics.attachments.onOperation,
    }),
  });
  metrics?.attachments.add(attachment, clock);
  return {
    isMoving: attachment.isMoving,
    start() {},
    begin(after, run) {
      // Who does not know which pods there are would detach what they use.
      Promise.all([after, nodes.synced, pods.synced, claims.synced])
        .then(() => run('attachment', attachment.queue, attachment.reconcile))
        // A stop before the first list rejects these, and `stop` below is the one that is told.
        .catch(() => {});
    },
    sources: [],
    stop: (deadlineMs) => attachment.stop(deadlineMs),
  };
}
