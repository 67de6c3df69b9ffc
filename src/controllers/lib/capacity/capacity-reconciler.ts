import type { CsiStorageCapacity, KubeNode, StorageClass } from '../../../api/core.ts';
import { DRIVER } from '../../../api/names.ts';
import { CSI_DRIVERS, CSI_STORAGE_CAPACITIES } from '../../../api/resources.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../../../kube/errors.ts';
import type { Informer } from '../../../kube/informer.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { dynamicClass } from '../../../model/dynamic-class.ts';
import { hostnameLabelOf } from '../../../model/hostname-label.ts';
import { CSI_DRIVER, capacityName, decideCapacity } from './capacity.ts';
import type { Room, Rooms } from './capacity-cache.ts';
import { type CapacityEventsDeps, createCapacityEvents } from './capacity-events.ts';

export interface CapacityReconcilerDeps extends CapacityEventsDeps {
  client: KubeClient;
  storageClasses: Informer<StorageClass>;
  nodes: Informer<KubeNode>;
  capacities: Informer<CsiStorageCapacity>;
  rooms: Rooms;
  managesNode(node: string): boolean;
  /** Namespace of the objects. */
  namespace: string;
}

/**
 * Interval (ms) at which free space is observed, as in external-provisioner: others use it, too.
 */
const OBSERVE_EVERY = 60_000;

/** Publishes the free space of classes on nodes for the scheduler. Keys are `class/node`. */
export function createCapacityReconciler(deps: CapacityReconcilerDeps) {
  const { client, storageClasses, nodes, capacities, rooms, namespace } = deps;

  const emit = createCapacityEvents(deps);
  let isAskedFor = false;

  return async (key: string): Promise<{ requeueAfterMs?: number; retry?: true } | undefined> => {
    const slash = key.indexOf('/');
    const storageClass = key.slice(0, slash);
    const node = key.slice(slash + 1);
    if (!deps.managesNode(node)) return undefined;
    const room = await roomOf(storageClass, node);
    // Without a class of Stowage, no CSIDriver is needed.
    if (room !== undefined && !isAskedFor) {
      await ensureCsiDriver(client);
      isAskedFor = true;
    }
    const known = capacities.get(capacityName(storageClass, node), namespace);
    const object = nodes.get(node);
    const hostname = object === undefined ? node : hostnameLabelOf(object);
    const action = decideCapacity({ storageClass, node, hostname, namespace }, room, known);
    try {
      if (action?.do === 'delete') {
        await client.delete(CSI_STORAGE_CAPACITIES, action.name, { namespace });
        if (room !== undefined) return { retry: true };
      } else if (action?.do === 'create') {
        capacities.recordWrite(
          await client.create(CSI_STORAGE_CAPACITIES, action.object, { namespace }),
        );
      } else if (action?.do === 'update') {
        const { capacity, maximumVolumeSize, metadata } = action.object;
        const patch = { capacity, maximumVolumeSize };
        capacities.recordWrite(
          await client.patch(CSI_STORAGE_CAPACITIES, metadata.name, patch, { namespace }),
        );
      }
    } catch (error) {
      if (!isConflict(error) && !isAlreadyExists(error) && !isNotFound(error)) throw error;
      return { retry: true };
    }
    return room === undefined ? undefined : { requeueAfterMs: OBSERVE_EVERY };
  };

  /** Returns undefined if the class or the node does not exist. */
  async function roomOf(name: string, node: string): Promise<Room | undefined> {
    const storageClass = storageClasses.get(name);
    if (storageClass?.provisioner !== DRIVER || nodes.get(node) === undefined) return undefined;
    const options = dynamicClass(storageClass);
    if ('problem' in options) return undefined;
    const { place, overcommit } = options;
    if (rooms.room(node, place, overcommit) === undefined) await rooms.observe(node, place);
    // If the node changed meanwhile, the published value stays.
    const room = promised(rooms.room(node, place, overcommit));
    if (room === undefined) return { unknown: 'it changed during the observation' };
    emit(storageClass, node, place, room);
    return room;
  }
}

/** Limits the offered space to less than the size of a refused volume. */
function promised(room: Room | undefined): Room | undefined {
  if (room === undefined || !('freeBytes' in room) || room.refusedBytes === undefined) return room;
  const { freeBytes, refusedBytes } = room;
  return { freeBytes: freeBytes < refusedBytes ? freeBytes : refusedBytes - 1n };
}

/** Creates the CSIDriver, without which the scheduler does not check space. Throws API errors. */
async function ensureCsiDriver(client: KubeClient): Promise<void> {
  try {
    await client.get(CSI_DRIVERS, DRIVER);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    await client.create(CSI_DRIVERS, CSI_DRIVER).catch((raced: unknown) => {
      if (!isAlreadyExists(raced)) throw raced;
    });
  }
}
