import type { KubeEvent } from '../../api/core.ts';
import type { KubeObject } from '../../api/meta.ts';
import { COMPONENT } from '../../api/names.ts';
import { type Reason, reasonAnnotations } from '../../api/reasons.ts';
import { EVENTS } from '../../api/resources.ts';
import { isAlreadyExists, isNotFound, isRefusal } from '../../kube/errors.ts';
import type { Clock, KubeClient } from '../../kube/types.ts';

/**
 * Creates a recorder that emits an event of an object and reason once. A restarted process creates
 * the same name, so no second Event appears. Waits until the Event is written. Drops an Event that
 * the API server refuses, as in a namespace being deleted.
 */
export function eventOnce(
  client: Pick<KubeClient, 'create'>,
  clock: Pick<Clock, 'timeOfDay'>,
  host: string,
) {
  return async (
    object: KubeObject,
    type: 'Normal' | 'Warning',
    reason: string,
    message: string,
    detail?: Reason,
  ): Promise<void> => {
    const { name, namespace, uid = '', resourceVersion = '' } = object.metadata;
    const time = new Date(clock.timeOfDay()).toISOString().replace(/\.\d+Z$/, 'Z');
    const event: KubeEvent = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: {
        name: `${uid}.${reason.toLowerCase()}`,
        ...(namespace && { namespace }),
        ...(detail && { annotations: reasonAnnotations(detail) }),
      },
      involvedObject: {
        apiVersion: object.apiVersion,
        kind: object.kind,
        name,
        ...(namespace && { namespace }),
        uid,
        resourceVersion,
      },
      type,
      reason,
      message: message.slice(0, 1024),
      count: 1,
      firstTimestamp: time,
      lastTimestamp: time,
      source: { component: COMPONENT },
      reportingComponent: COMPONENT,
      reportingInstance: host,
    };
    try {
      await client.create(EVENTS, event, { namespace: namespace ?? 'default' });
    } catch (error) {
      if (!isAlreadyExists(error) && !isRefusal(error) && !isNotFound(error)) throw error;
    }
  };
}
