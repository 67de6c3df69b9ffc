import type { KubeNode, PersistentVolume, StorageClass } from '../../api/core.ts';
import { isDnsSubdomain } from '../../api/dns-name.ts';
import type { Volume } from '../../api/volume.ts';
import type { Informer } from '../../kube/informer.ts';
import { labelsSelecting } from '../../model/hostname-label.ts';
import { isOff } from '../../model/node-health.ts';
import { incarnationText } from '../../model/node-incarnation.ts';
import { eligibleNodes, workNode } from '../../model/volume-nodes.ts';
import type { JobWatcher } from '../../nodes/job-watcher.ts';
import type { LoopNumbers } from '../../storage/loop-numbers.ts';
import { createActionLoop, type Reconcile } from './action-loop.ts';
import { type ActionRunnerDeps, createActionRunner } from './actions.ts';
import { decide } from './decide.ts';
import { isLeaving } from './leftover.ts';
import { createObservationTimes } from './observation-times.ts';
import { pausedBy } from './paused.ts';
import { createVolumeWrites } from './volume-writes.ts';

export interface ReconcilerDeps extends Omit<ActionRunnerDeps, 'objects'> {
  volumes: Informer<Volume>;
  persistentVolumes: Informer<PersistentVolume>;
  nodes: Informer<KubeNode>;
  jobWatcher: JobWatcher;
  /**
   * Reports whether this process manages the node. Writes nothing for other nodes' objects, not
   * even a status.
   */
  managesNode(node: string): boolean;
  /** Requeues the object of that name. */
  enqueue(name: string): void;
}

export interface VolumeReconcilerDeps extends ReconcilerDeps {
  storageClasses: Informer<StorageClass>;
  /** Shared by all controllers that attach. */
  loopNumbers: LoopNumbers;
  /** The attachment controller runs. */
  attachmentEnabled: boolean;
  /**
   * Reports whether the attachment controller is attaching or detaching the Volume's device on the
   * node.
   */
  isMoving(volume: Volume, node: string): boolean;
}

const isMarkedOff = (node: KubeNode | undefined): boolean => node !== undefined && isOff(node);

export function createVolumeReconciler(deps: VolumeReconcilerDeps): Reconcile {
  const {
    volumes,
    persistentVolumes,
    storageClasses,
    nodes,
    clock,
    loopNumbers,
    attachmentEnabled,
  } = deps;
  const observationTimes = createObservationTimes(
    (node) => incarnationText(nodes.get(node)),
    clock,
  );
  const hostnamesOf = (names: readonly string[]) => labelsSelecting(names, nodes.list());
  const objects = createVolumeWrites(deps);
  const actions = createActionRunner({ ...deps, objects }, observationTimes, loopNumbers);

  return createActionLoop({
    ...deps,
    objects,
    actions,
    read(name) {
      const volume = volumes.get(name);
      if (volume === undefined) return undefined;
      const { uid = '' } = volume.metadata;
      const node = workNode(volume, (named) => nodes.get(named));
      // No daemon manages an invalid node name, so every daemon reports it. Forgetting a node
      // requires no access to it.
      const foreign = eligibleNodes(volume).some(
        (each) => isDnsSubdomain(each) && !deps.managesNode(each),
      );
      if (foreign && !isLeaving(volume)) return undefined;
      return {
        volume,
        node,
        decide: (known) =>
          decide(
            {
              volume,
              node,
              hostnamesOf,
              pv: persistentVolumes.get(name),
              storageClass: storageClasses.get(volume.spec.storageClassName),
              ...known,
              pathPreferred: known.pathPreferred ?? observationTimes.hasPath(uid, node),
              observedAt: observationTimes.last(uid, node),
              allotted: loopNumbers.ofOthers(node, uid),
              attachmentEnabled,
              isMoving: deps.isMoving(volume, node),
              kubeletRoot: deps.kubeletRoot,
              paused: pausedBy(volume, nodes.get(node)),
              off: isMarkedOff(nodes.get(node)),
            },
            clock.timeOfDay(),
          ),
      };
    },
  });
}
