import { isDnsSubdomain } from '../../api/dns-name.ts';
import type { Leftover } from '../../api/leftover.ts';
import type { Informer } from '../../kube/informer.ts';
import { labelsSelecting } from '../../model/hostname-label.ts';
import { createLoopNumbers } from '../../storage/loop-numbers.ts';
import { createActionLoop, type Reconcile } from './action-loop.ts';
import { createActionRunner } from './actions.ts';
import { decideLeftover } from './decide-leftover.ts';
import { volumeOf } from './leftover.ts';
import { createLeftoverWrites } from './leftover-writes.ts';
import { createObservationTimes } from './observation-times.ts';
import { pausedBy } from './paused.ts';
import type { ReconcilerDeps } from './reconciler.ts';

export interface LeftoverReconcilerDeps extends ReconcilerDeps {
  leftovers: Informer<Leftover>;
}

export function createLeftoverReconciler(deps: LeftoverReconcilerDeps): Reconcile {
  const { leftovers, nodes, clock } = deps;
  const objects = createLeftoverWrites(deps);
  const actions = createActionRunner(
    { ...deps, objects },
    createObservationTimes(() => '', clock),
    createLoopNumbers(),
  );

  return createActionLoop({
    ...deps,
    objects,
    actions,
    read(name) {
      const leftover = leftovers.get(name);
      if (leftover === undefined) return undefined;
      const { nodeName: node, uid } = leftover.spec;
      if (isDnsSubdomain(node) && !deps.managesNode(node)) return undefined;
      const volume = volumeOf(leftover);
      const owner = deps.volumeOfUid(uid);
      return {
        volume,
        node,
        decide: (known) =>
          decideLeftover(
            leftover,
            owner,
            {
              volume,
              node,
              hostnamesOf: (names) => labelsSelecting(names, nodes.list()),
              pv: undefined,
              storageClass: undefined,
              ...known,
              observedAt: undefined,
              // A deletion attaches no loop device.
              allotted: new Set(),
              // A Leftover has no attachments: its deletion detaches the device.
              attachmentEnabled: false,
              kubeletRoot: deps.kubeletRoot,
              paused: pausedBy(leftover, nodes.get(node)),
            },
            clock.timeOfDay(),
          ),
      };
    },
  });
}
