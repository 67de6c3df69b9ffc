import type { Deployment, Lease, Pod } from '../api/core.ts';
import type { KubeObject, Resource } from '../api/meta.ts';
import { LEASES, PODS } from '../api/resources.ts';
import { modeOf, type SnapshotController } from '../controllers/snapshot/controller-mode.ts';
import type { SnapshotMode } from '../controllers/snapshot/types.ts';
import type { Informer } from '../kube/informer.ts';
import type { Clock } from '../workqueue/clock.ts';
import { transforms } from './cache-transforms.ts';
import type { Inform } from './runnable.ts';

const DEPLOYMENTS: Resource = {
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  kind: 'Deployment',
  namespaced: true,
};

/** Objects of a standard controller. */
export interface StandardController {
  /** Namespaces of the objects. Default: any. */
  namespaces?: readonly string[];
  /** Name of its Lease. */
  lease: string;
  /** Name of its Deployment. */
  deployment?: string;
  /** Label selector of its pods, for one that has no Deployment. */
  pods?: string;
}

export interface DetectionDeps {
  flag: SnapshotController;
  standard: StandardController;
  /** Creates informers of objects in all namespaces. */
  inform: Inform;
  clock: Clock;
  /** Called when the mode changes. */
  onChange(mode: SnapshotMode): void;
}

export interface WatchedMode {
  now(): SnapshotMode;
  start(): void;
  /** Resolves when the mode is known. */
  synced: Promise<unknown>;
  stop(): Promise<unknown>;
}

/** Detects whether a standard controller runs beside this process, if the flag is `auto`. */
export function watchStandardController({
  flag,
  standard,
  inform,
  clock,
  onChange,
}: DetectionDeps): WatchedMode {
  if (flag !== 'auto') {
    return {
      now: () => flag,
      start() {},
      synced: Promise.resolve(),
      stop: () => Promise.resolve(),
    };
  }
  const named = (name: string) => ({ fieldSelector: `metadata.name=${name}` });
  const { lease, deployment, pods, namespaces } = standard;
  const places: readonly { namespace?: string }[] =
    namespaces === undefined ? [{}] : [...new Set(namespaces)].map((namespace) => ({ namespace }));
  const leases = places.map((at) =>
    inform<Lease>(LEASES, transforms.leases, { ...at, ...named(lease) }),
  );
  const deployments = places.flatMap((at) =>
    deployment === undefined
      ? []
      : inform<Deployment>(DEPLOYMENTS, transforms.deployments, { ...at, ...named(deployment) }),
  );
  const podsThere = places.flatMap((at) =>
    pods === undefined
      ? []
      : inform<Pod>(PODS, transforms.standardPods, { ...at, labelSelector: pods }),
  );
  const workloads: readonly Informer<KubeObject>[] = [...deployments, ...podsThere];
  const all = [...leases, ...workloads];
  const stopping = new AbortController();
  const seenAt = new Map<string, number>();
  let mode: SnapshotMode | undefined;
  let waitsUntil = 0;

  function detect(): SnapshotMode {
    const now = clock.now();
    const seen = listed(leases).map(({ metadata, spec }) => ({
      holder: spec?.holderIdentity ?? undefined,
      seenAt: seenAt.get(metadata.uid ?? '') ?? now,
      durationSeconds: spec?.leaseDurationSeconds ?? undefined,
    }));
    const ready = [
      ...listed(deployments).map(({ status }) => status?.readyReplicas ?? 0),
      ...listed(podsThere).map((pod) => (isReady(pod) ? 1 : 0)),
    ].map((readyReplicas) => ({ readyReplicas }));
    const next = modeOf(flag, seen, ready, now);
    if (next.until !== undefined && next.until > waitsUntil) detectAt(next.until);
    const before = mode;
    mode = next.mode;
    if (before !== undefined && before !== mode) onChange(mode);
    return mode;
  }

  function detectAt(at: number): void {
    const isFirst = waitsUntil <= clock.now();
    waitsUntil = at;
    // A single timer: if the Lease was renewed since, the timer only sets the next one.
    if (!isFirst) return;
    const wait = (): void => {
      clock.sleep(waitsUntil - clock.now(), stopping.signal).then(
        () => (waitsUntil > clock.now() ? wait() : detect()),
        () => {},
      );
    };
    wait();
  }

  for (const informer of leases) {
    informer.onChange(({ type, object }) => {
      const { uid = '' } = object.metadata;
      if (type === 'deleted') seenAt.delete(uid);
      else seenAt.set(uid, clock.now());
      detect();
    });
  }
  for (const workload of workloads) {
    workload.onChange(() => {
      detect();
    });
  }
  return {
    now: detect,
    start() {
      for (const informer of all) informer.start();
    },
    synced: Promise.all(all.map((informer) => informer.synced)),
    stop() {
      stopping.abort();
      return Promise.all(all.map((informer) => informer.stop()));
    },
  };
}

const listed = <T extends KubeObject>(informers: readonly Informer<T>[]): T[] =>
  informers.flatMap((informer) => informer.list());

const isReady = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp === undefined &&
  (status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false);
