import type { StorageClass } from '../../../api/core.ts';
import type { Logger } from '../../../api/logger.ts';
import { ROOM_EVENT } from '../../../api/names.ts';
import { explain } from '../../../api/reasons.ts';
import type { EventRecorder } from '../../../kube/events.ts';
import type { StorageLocation } from '../../../model/dynamic-class.ts';
import type { Clock } from '../../../workqueue/clock.ts';
import { EMIT_AGAIN_AFTER } from '../../../workqueue/emit-again.ts';
import { eventKey } from '../event-key.ts';
import type { Room } from './capacity-cache.ts';
import { nameOf, roomUnknown } from './refusal.ts';

export interface CapacityEventsDeps {
  events: Pick<EventRecorder, 'event'>;
  logger: Pick<Logger, 'warn'>;
  clock: Pick<Clock, 'now'>;
}

/**
 * Creates a recorder of unknown free space of a class on a node, which a scheduler takes for none.
 * Emits an event when the space becomes unknown, and when it is known again.
 */
export function createCapacityEvents({ events, logger, clock }: CapacityEventsDeps) {
  const emitted = new Map<string, { eventKey: string; at: number }>();

  return (storageClass: StorageClass, node: string, place: StorageLocation, room: Room): void => {
    const key = JSON.stringify([storageClass.metadata.uid, node]);
    const before = emitted.get(key);
    if (!('unknown' in room)) {
      if (!emitted.delete(key)) return;
      const { message, detail } = explain('RoomKnown', { node, place: nameOf(place) });
      events.event(storageClass, 'Normal', ROOM_EVENT.known, message, detail);
      return;
    }
    const { message, detail } = roomUnknown(node, room.unknown);
    const now = clock.now();
    const reason = ROOM_EVENT.unknown;
    // The messages of an unreachable node differ in times and ports.
    const about = room.detail?.code ?? '';
    const latest = eventKey({ type: 'Warning', reason, message, detail, about });
    if (before?.eventKey === latest && now - before.at < EMIT_AGAIN_AFTER) return;
    emitted.set(key, { eventKey: latest, at: now });
    logger.warn(
      { storageClass: storageClass.metadata.name, node, reason: room.unknown },
      'free space unknown',
    );
    events.event(storageClass, 'Warning', reason, message, detail);
  };
}
