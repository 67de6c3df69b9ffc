import type { AnyEvent } from '../../api/core.ts';
import type { KubeObject } from '../../api/meta.ts';
import { type Explanation, reasonOfAnnotations } from '../../api/reasons.ts';
import { EVENTS } from '../../api/resources.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { Standstill } from './types.ts';

/** Events of other components about prime claims and pods. */
export interface Warnings {
  /** Returns the last warning about a prime claim. */
  against(prime: KubeObject): Promise<Explanation | undefined>;
  /** Returns the obstacle to a pod's start if its latest event is a warning. */
  lastOf(pod: KubeObject): Promise<Standstill | undefined>;
}

export function createWarnings(client: Pick<KubeClient, 'list'>, namespace: string): Warnings {
  /** Lists the events of an object, oldest first. */
  async function eventsOf({ metadata: { uid } }: KubeObject): Promise<AnyEvent[]> {
    const fieldSelector = `involvedObject.uid=${uid}`;
    const { items } = await client.list<AnyEvent>(EVENTS, { namespace, fieldSelector });
    const timeOf = ({ lastTimestamp, eventTime }: AnyEvent) => lastTimestamp ?? eventTime ?? '';
    return items.sort((a, b) => timeOf(a).localeCompare(timeOf(b)));
  }

  return {
    async against(prime) {
      const last = (await eventsOf(prime)).findLast(({ type }) => type === 'Warning');
      if (last?.message === undefined) return undefined;
      return { message: last.message, detail: reasonOfAnnotations(last.metadata.annotations) };
    },
    async lastOf(pod) {
      const { type, reason, message } = (await eventsOf(pod)).at(-1) ?? {};
      return type === 'Warning' ? { code: 'PodNotStarted', state: reason, message } : undefined;
    },
  };
}
