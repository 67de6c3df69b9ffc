import { READY_REASON } from '../../api/names.ts';
import { phaseOf } from '../../api/phase.ts';
import { readyOf } from '../lib/objects/volume-progress.ts';
import { isUnknownNode } from './node.ts';
import { isDeleting, isOurs, nodeText } from './state.ts';
import type { Cause, Fix } from './types.ts';

const RUN_IT: Fix = {
  say: 'Start the daemon with a transport that reaches the node. If it is running, check its log.',
  run: ['stowage watch'],
};

/** Reports that no daemon has observed the Volume since its creation, deletion or change. */
export const unseen: Cause = (known) => {
  const { volume } = known;
  const { creationTimestamp, deletionTimestamp, generation } = volume.metadata;
  const ready = readyOf(volume);
  const when = `when a daemon that manages ${nodeText(volume)} runs`;
  if (isDeleting(volume)) {
    const atWork =
      ready?.reason === READY_REASON.terminating || ready?.reason === READY_REASON.destructionError;
    const seen =
      ready !== undefined &&
      !(Date.parse(ready.lastUpdateTime ?? '') < Date.parse(deletionTimestamp ?? ''));
    // Without the daemon's finalizer, the deletion is not for the daemon to end.
    if (atWork || seen || !isOurs(volume)) return undefined;
    return {
      cause: 'NotTakenUp',
      holdup: 'no daemon has observed its deletion yet',
      ...(deletionTimestamp && { since: deletionTimestamp }),
      next: { when },
      fix: RUN_IT,
    };
  }
  if (ready === undefined) {
    const lost = isUnknownNode(known) ? `, and ${nodeText(volume)} is not in this cluster` : '';
    return {
      cause: 'NotTakenUp',
      holdup: `no daemon has observed it yet${lost}`,
      ...(creationTimestamp && { since: creationTimestamp }),
      next: { when },
      fix: RUN_IT,
    };
  }
  const { observedGeneration } = volume.status ?? {};
  const phase = phaseOf(volume);
  // While a job is running, an observation leaves no trace in the status.
  const atRest = ready.status !== 'Unknown' && (phase === 'Available' || phase === 'Failed');
  if (!atRest || observedGeneration === undefined || observedGeneration >= (generation ?? 0))
    return undefined;
  return {
    cause: 'NotTakenUp',
    holdup: `no daemon has observed its changed spec yet (generation ${generation}, observed ${observedGeneration})`,
    next: { when },
    fix: RUN_IT,
  };
};
