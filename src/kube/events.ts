import type { KubeEvent } from '../api/core.ts';
import type { Logger } from '../api/logger.ts';
import type { KubeObject } from '../api/meta.ts';
import { type Reason, reasonAnnotations } from '../api/reasons.ts';
import { EVENTS } from '../api/resources.ts';
import { isNotFound } from './errors.ts';
import { createEventSeries } from './event-series.ts';
import type { Clock, KubeClient } from './types.ts';

export interface EventRecorderOptions {
  client: Pick<KubeClient, 'create' | 'patch'>;
  clock: Clock;
  /** Reporting component, such as `stowage`, and the host that it runs on. */
  component: string;
  host: string;
  logger: Logger;
}

export interface EventRecorder {
  /** Returns at once and never throws. The Event is written later, or dropped with a log line. */
  event(
    object: KubeObject,
    type: 'Normal' | 'Warning',
    reason: string,
    message: string,
    /** Finer reason. Events with the same one are counted as one Event. */
    detail?: Reason,
  ): void;
  /** Waits until recorded Events are written, for at most `timeoutMs`. */
  flush(timeoutMs: number): Promise<void>;
}

/** Maximum queue length. A thousand Volumes that are created together have three Events each. */
const MAX_QUEUE = 10_000;
/** Maximum length of a note in events.k8s.io/v1. */
const MAX_MESSAGE = 1024;
/** Maximum part of the object's name in an Event's name: 253 characters less a suffix. */
const MAX_OBJECT_NAME = 230;

/** Creates a recorder of Events, which counts repetitions in the first Event. */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  const { client, clock, component, host, logger } = options;
  const series = createEventSeries();
  const queue: KubeEvent[] = [];
  let writing: Promise<void> | undefined;
  let serial = 0;

  function toEvent(
    object: KubeObject,
    type: KubeEvent['type'],
    reason: string,
    message: string,
    detail: Reason | undefined,
  ): KubeEvent {
    const { name, namespace, uid, resourceVersion } = object.metadata;
    const now = clock.timeOfDay();
    serial += 1;
    const time = new Date(now).toISOString().replace(/\.\d+Z$/, 'Z');
    return {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: {
        name: `${name.slice(0, MAX_OBJECT_NAME).replace(/[^a-z0-9]+$/, '')}.${now.toString(16)}${serial.toString(16)}`,
        namespace: namespace ?? 'default',
        ...(detail && { annotations: reasonAnnotations(detail) }),
      },
      involvedObject: {
        apiVersion: object.apiVersion,
        kind: object.kind,
        name,
        ...(namespace === undefined ? {} : { namespace }),
        ...(uid === undefined ? {} : { uid }),
        ...(resourceVersion === undefined ? {} : { resourceVersion }),
      },
      type,
      reason,
      message,
      count: 1,
      firstTimestamp: time,
      lastTimestamp: time,
      source: { component },
      reportingComponent: component,
      reportingInstance: host,
    };
  }

  async function write(event: KubeEvent): Promise<void> {
    const { message, entry } = series.place(event, clock.now());
    const cut = message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE - 3)}...` : message;
    const { namespace = 'default' } = event.metadata;
    if (entry.name !== undefined) {
      const { lastTimestamp } = event;
      const { annotations } = event.metadata;
      const patch = {
        count: entry.count + 1,
        lastTimestamp,
        message: cut,
        ...(annotations && { metadata: { annotations } }),
      };
      try {
        await client.patch<KubeEvent>(EVENTS, entry.name, patch, { namespace });
        entry.count += 1;
        return;
      } catch (error) {
        // API servers drop Events after an hour.
        if (!isNotFound(error)) throw error;
      }
    }
    await client.create(EVENTS, { ...event, message: cut }, { namespace });
    entry.name = event.metadata.name;
    entry.count = 1;
  }

  async function drain(): Promise<void> {
    for (let event = queue.shift(); event !== undefined; event = queue.shift()) {
      try {
        await write(event);
      } catch (err) {
        const { reason, message, involvedObject } = event;
        logger.warn({ err, reason, message, object: involvedObject.name }, 'cannot write an event');
      }
    }
    writing = undefined;
  }

  return {
    event(object, type, reason, message, detail) {
      if (queue.length >= MAX_QUEUE) {
        logger.warn(
          { reason, message, object: object.metadata.name },
          'dropped an event: the queue is full',
        );
        return;
      }
      queue.push(toEvent(object, type, reason, message, detail));
      writing ??= drain();
    },
    async flush(timeoutMs) {
      const timer = new AbortController();
      await Promise.race([writing, clock.sleep(timeoutMs, timer.signal).catch(() => {})]);
      timer.abort();
    },
  };
}
