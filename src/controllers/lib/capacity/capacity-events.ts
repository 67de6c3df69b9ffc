import type { StorageClass } from '../../../api/core.ts';
import type { Logger } from '../../../api/logger.ts';
import { ROOM_EVENT } from '../../../api/names.ts';
import type { EventRecorder } from '../../../kube/events.ts';
import type { StorageLocation } from '../../../model/dynamic-class.ts';
import type { Clock } from '../../../workqueue/clock.ts';
import { TELL_AGAIN } from '../../../workqueue/tell-again.ts';
import type { Room } from './capacity-cache.ts';
import { nameOf, whyNoRoom } from './refusal.ts';

export interface CapacityEventsDeps {
  events: Pick<EventRecorder, 'event'>;
  logger: Pick<Logger, 'warn'>;
  clock: Pick<Clock, 'now'>;
}

/**
 * Says of a class that its room on a node is not known, which a scheduler takes for no room, and once it is that it is known again.
 * Every message begins with the node.
 */
export function createCapacityEvents({ events, logger, clock }: CapacityEventsDeps) {
  const told = new Map<string, { words: string; at: number }>();

  return (storageClass: StorageClass, node: string, place: StorageLocation, room: Room): void => {
    const key = JSON.stringify([storageClass.metadata.uid, node]);
    const before = told.get(key);
    if (!('unknown' in room)) {
      if (!told.delete(key)) return;
      const message = `node ${node}: how much room there is in ${nameOf(place)} is known again`;
      events.event(storageClass, 'Normal', ROOM_EVENT.known, message);
      return;
    }
    const text = whyNoRoom(node, place, room, 0n, '') ?? '';
    const now = clock.now();
    // The messages of an unreachable node differ in times and ports.
    const words = text.replaceAll(/\d+/g, '');
    if (before?.words === words && now - before.at < TELL_AGAIN) return;
    told.set(key, { words, at: now });
    logger.warn(
      { storageClass: storageClass.metadata.name, node, reason: room.unknown },
      'room not known',
    );
    events.event(storageClass, 'Warning', ROOM_EVENT.unknown, `node ${node}: ${text}`);
  };
}
