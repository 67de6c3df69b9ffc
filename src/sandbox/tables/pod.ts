import type { Column } from '../kind.ts';
import { AGE, type Loose, orNone, since, text, wide } from './cells.ts';

/**
 * Summarizes a pod as printPod in Kubernetes, without restartable init
 * containers, which nothing here runs.
 */
function summary({ metadata, spec, status = {} }: Loose, now: number) {
  const initial = initialization(status, spec);
  const containers: Loose[] = initial.reason === undefined ? (status.containerStatuses ?? []) : [];
  const counted = initial.reason === undefined ? containers : initial.seen;
  const restarts = counted.reduce((sum: number, one: Loose) => sum + (one.restartCount ?? 0), 0);
  const last = counted
    .flatMap((one: Loose) => one.lastState?.terminated?.finishedAt ?? [])
    .sort()
    .at(-1);
  const ready = containers.filter((one) => one.ready && one.state?.running !== undefined).length;
  let reason = initial.reason ?? containerReason(containers) ?? status.reason ?? status.phase;
  if (reason === 'Completed' && ready > 0) reason = isReady(status) ? 'Running' : 'NotReady';
  if (metadata.deletionTimestamp !== undefined)
    reason = status.reason === 'NodeLost' ? 'Unknown' : 'Terminating';
  return {
    ready: `${ready}/${spec.containers?.length ?? 0}`,
    reason,
    restarts:
      restarts > 0 && last !== undefined
        ? `${restarts} (${since(last, now)} ago)`
        : String(restarts),
  };
}

/** Returns why a pod still initializes, and the init containers that were started. */
function initialization(status: Loose, spec: Loose): { reason?: string; seen: Loose[] } {
  const seen: Loose[] = [];
  for (const [i, one] of (status.initContainerStatuses ?? []).entries()) {
    seen.push(one);
    const { terminated, waiting } = one.state ?? {};
    if (terminated?.exitCode === 0) continue;
    if (terminated !== undefined) return { reason: `Init:${ended(terminated)}`, seen };
    if (waiting?.reason && waiting.reason !== 'PodInitializing')
      return { reason: `Init:${waiting.reason}`, seen };
    return { reason: `Init:${i}/${spec.initContainers?.length ?? 0}`, seen };
  }
  return { seen };
}

/** Returns the first reason that a container has. */
function containerReason(containers: Loose[]): string | undefined {
  return containers
    .map(({ state }) => state?.waiting?.reason || (state?.terminated && ended(state.terminated)))
    .find((reason) => reason);
}

const ended = ({ reason, signal, exitCode }: Loose): string =>
  reason || (signal ? `Signal:${signal}` : `ExitCode:${exitCode}`);

const isReady = (status: Loose) =>
  status.conditions?.some(({ type, status }: Loose) => type === 'Ready' && status === 'True');

function readinessGates({ spec, status }: Loose): string | undefined {
  const gates: Loose[] = spec.readinessGates ?? [];
  const met = gates.filter(({ conditionType }) =>
    status?.conditions?.some((one: Loose) => one.type === conditionType && one.status === 'True'),
  );
  return gates.length === 0 ? undefined : `${met.length}/${gates.length}`;
}

export const POD_COLUMNS: Column[] = [
  text('Ready', (object, now) => summary(object, now).ready),
  text('Status', (object, now) => summary(object, now).reason),
  text('Restarts', (object, now) => summary(object, now).restarts),
  AGE,
  wide(text('IP', ({ status }) => orNone(status?.podIP))),
  wide(text('Node', ({ spec }) => orNone(spec.nodeName))),
  wide(text('Nominated Node', ({ status }) => orNone(status?.nominatedNodeName))),
  wide(text('Readiness Gates', (object) => orNone(readinessGates(object)))),
];
