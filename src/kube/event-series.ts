import type { KubeEvent } from '../api/core.ts';
import { PARAMETERS_ANNOTATION, REASON_ANNOTATION } from '../api/names.ts';

/** Event object that counts repetitions. */
export interface SeriesEntry {
  /** Unset until the Event is created. */
  name?: string;
  count: number;
}

export interface EventSeries {
  /** Returns the Event that counts an event, and its message. `now` is in ms. */
  place(event: KubeEvent, now: number): { message: string; entry: SeriesEntry };
}

/**
 * Limits of client-go's EventCorrelator: more different messages, no further apart, become one
 * Event.
 */
const MAX_SIMILAR = 10;
const SIMILAR_MS = 10 * 60_000;
/** Maximum size of each map. */
const MAX_ENTRIES = 4096;

export function createEventSeries(): EventSeries {
  const groups = new Map<string, { messages: Set<string>; lastAt: number }>();
  const entries = new Map<string, SeriesEntry>();

  return {
    place({ metadata, involvedObject, type, reason, message }, now) {
      const { uid, kind, namespace, name } = involvedObject;
      // Messages with the same reason may differ each time, as ssh's text does.
      const { [REASON_ANNOTATION]: code, [PARAMETERS_ANNOTATION]: parameters } =
        metadata.annotations ?? {};
      const same = code === undefined ? message : `${code} ${parameters}`;
      const about = [uid, kind, namespace, name, type, reason];
      const key = JSON.stringify(about);
      let group = groups.get(key);
      if (group === undefined || now - group.lastAt > SIMILAR_MS)
        group = { messages: new Set(), lastAt: now };
      group.lastAt = now;
      // Messages beyond the limit need not be remembered.
      if (group.messages.size <= MAX_SIMILAR) group.messages.add(same);
      touch(groups, key, group);
      const combined = group.messages.size > MAX_SIMILAR;
      const entryKey = combined ? key : JSON.stringify([...about, same]);
      const entry = entries.get(entryKey) ?? { count: 0 };
      touch(entries, entryKey, entry);
      return { message: combined ? `(combined from similar events): ${message}` : message, entry };
    },
  };
}

/** Moves an entry to the end. Drops the least recently used one beyond the maximum. */
function touch<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > MAX_ENTRIES && oldest !== undefined) map.delete(oldest);
}
