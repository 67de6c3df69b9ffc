import type { AnyEvent } from '../../api/core.ts';
import type { KubeObject } from '../../api/meta.ts';
import { type Explanation, reasonOfAnnotations } from '../../api/reasons.ts';
import { EVENTS } from '../../api/resources.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { Standstill } from './types.ts';

/** What others say of prime claims and pods, by events. */
export interface Warnings {
  /** The last warning of whoever makes a prime claim's volume. */
  against(prime: KubeObject): Promise<Explanation | undefined>;
  /** What keeps a pod from being started, unless it has got any further since that was said. */
  lastOf(pod: KubeObject): Promise<Standstill | undefined>;
}

export function createWarnings(client: Pick<KubeClient, 'list'>, namespace: string): Warnings {
  /** The oldest first. */
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
      return type === 'Warning'
        ? { code: 'PodNotStarted', state: reason, said: message }
        : undefined;
    },
  };
}
