import type { Deployment, Lease } from '../api/core.ts';
import type { KubeObject, Resource } from '../api/meta.ts';
import { LEASES } from '../api/resources.ts';
import {
  CONTROLLER_DEPLOYMENT,
  CONTROLLER_LEASE,
  modeOf,
  type SnapshotController,
} from '../controllers/snapshot/controller-mode.ts';
import type { SnapshotMode } from '../controllers/snapshot/types.ts';
import type { Informer } from '../kube/informer.ts';
import type { Clock } from '../workqueue/clock.ts';
import { transforms } from './cache-transforms.ts';

const DEPLOYMENTS: Resource = {
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  kind: 'Deployment',
  namespaced: true,
};

export interface SnapshotModeDeps {
  flag: SnapshotController;
  /** Creates an informer of the objects with that name, in all namespaces. */
  inform<T extends KubeObject>(
    resource: Resource,
    name: string,
    transform: (object: T) => T,
  ): Informer<T>;
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

/**
 * Detects whether the standard snapshot-controller runs beside this process, if the flag is `auto`.
 */
export function watchSnapshotMode({
  flag,
  inform,
  clock,
  onChange,
}: SnapshotModeDeps): WatchedMode {
  if (flag !== 'auto') {
    return {
      now: () => flag,
      start() {},
      synced: Promise.resolve(),
      stop: () => Promise.resolve(),
    };
  }
  const leases = inform<Lease>(LEASES, CONTROLLER_LEASE, transforms.leases);
  const deployments = inform<Deployment>(
    DEPLOYMENTS,
    CONTROLLER_DEPLOYMENT,
    transforms.deployments,
  );
  const stopping = new AbortController();
  const seenAt = new Map<string, number>();
  let mode: SnapshotMode | undefined;
  let waitsUntil = 0;

  function detect(): SnapshotMode {
    const now = clock.now();
    const seen = leases.list().map(({ metadata, spec }) => ({
      holder: spec?.holderIdentity ?? undefined,
      seenAt: seenAt.get(metadata.uid ?? '') ?? now,
      durationSeconds: spec?.leaseDurationSeconds ?? undefined,
    }));
    const ready = deployments
      .list()
      .map(({ status }) => ({ readyReplicas: status?.readyReplicas ?? 0 }));
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

  leases.onChange(({ type, object }) => {
    const { uid = '' } = object.metadata;
    if (type === 'deleted') seenAt.delete(uid);
    else seenAt.set(uid, clock.now());
    detect();
  });
  deployments.onChange(() => {
    detect();
  });
  return {
    now: detect,
    start() {
      leases.start();
      deployments.start();
    },
    synced: Promise.all([leases.synced, deployments.synced]),
    stop() {
      stopping.abort();
      return Promise.all([leases.stop(), deployments.stop()]);
    },
  };
}
