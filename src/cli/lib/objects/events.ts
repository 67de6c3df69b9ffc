import type { AnyEvent } from '../../../api/core.ts';
import { COMPONENT } from '../../../api/names.ts';
import { EVENTS } from '../../../api/resources.ts';
import { listAll } from '../../../kube/client.ts';
import type { KubeClient } from '../../../kube/types.ts';
import type { Io } from '../io.ts';
import { oldestFirst } from './related.ts';

/** Delay (ms) after a watch. */
const AGAIN = 1000;

interface About {
  namespace: string;
  name: string;
  uid: string | undefined;
}

/** Returns the Events of an object, the oldest first. */
export async function eventsOf(
  client: Pick<KubeClient, 'list'>,
  { namespace, name, uid }: About,
  signal: AbortSignal,
): Promise<{ events: AnyEvent[]; resourceVersion: string }> {
  const fieldSelector = `involvedObject.name=${name}`;
  const { items, resourceVersion } = await listAll<AnyEvent>(client, EVENTS, {
    namespace,
    fieldSelector,
    signal,
  });
  const events = oldestFirst(items.filter(({ involvedObject }) => involvedObject.uid === uid));
  return { events, resourceVersion };
}

/** Reports whether the daemon emitted the event. */
export const isOwn = ({ source, reportingComponent }: AnyEvent): boolean =>
  (reportingComponent || source?.component) === COMPONENT;

export const eventText = ({ reason, message }: AnyEvent): string => `${reason}: ${message}`;

/**
 * Reports each Event of the daemon about an object, starting with the last existing one. Throws
 * when the signal aborts or a request fails. Leaves out components that repeat that they wait.
 */
export async function followEvents(
  client: Pick<KubeClient, 'list' | 'watch'>,
  about: About,
  report: (text: string) => void,
  { clock }: Pick<Io, 'clock'>,
  signal: AbortSignal,
): Promise<never> {
  for (;;) {
    const { events, resourceVersion } = await eventsOf(client, about, signal);
    const last = events.findLast(isOwn);
    if (last !== undefined) report(eventText(last));
    const options = {
      namespace: about.namespace,
      fieldSelector: `involvedObject.name=${about.name}`,
      resourceVersion,
      signal,
    };
    for await (const { type, object } of client.watch<AnyEvent>(EVENTS, options)) {
      const isNew = type === 'ADDED' || type === 'MODIFIED';
      if (isNew && object.involvedObject.uid === about.uid && isOwn(object))
        report(eventText(object));
    }
    await clock.sleep(AGAIN, signal);
  }
}
