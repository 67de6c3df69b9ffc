import type { ControllerName } from '../api/controllers.ts';
import type {
  KubeNode,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from '../api/core.ts';
import type { Logger } from '../api/logger.ts';
import type { KubeObject, Resource } from '../api/meta.ts';
import { POPULATES_LABEL } from '../api/names.ts';
import { claimNamesOf } from '../api/pod-claims.ts';
import { kindText, type PopulatorDefinition, type VolumePopulator } from '../api/populator.ts';
import { parseQuantity } from '../api/quantity.ts';
import { VERSIONS_OF_REFERENCE_GRANTS } from '../api/reference-grants.ts';
import { PODS, POPULATOR_DEFINITIONS, VOLUME_POPULATORS } from '../api/resources.ts';
import {
  VALIDATOR_LEASE,
  VALIDATOR_NAMESPACE,
  VALIDATOR_PODS,
} from '../controllers/data-source-validator/decide.ts';
import { createValidator } from '../controllers/data-source-validator/reconciler.ts';
import { eventOnce } from '../controllers/lib/idempotent-event.ts';
import { hasFinalizer } from '../controllers/populator/clean-up.ts';
import { createConsumerTolerations } from '../controllers/populator/consumer-tolerations.ts';
import { findSource } from '../controllers/populator/find-source.ts';
import { primeNameOf, uidOfName } from '../controllers/populator/objects.ts';
import { POPULATOR_USER } from '../controllers/populator/pod-security.ts';
import { createPopulatorReconciler } from '../controllers/populator/reconciler.ts';
import type { EventRecorder } from '../kube/events.ts';
import { indexBy } from '../kube/index-by.ts';
import type { Informer } from '../kube/informer.ts';
import type { KubeClient } from '../kube/types.ts';
import { isGranted } from '../model/data-source/grant.ts';
import { liveReads } from '../model/data-source/reads.ts';
import { isStandard, sourceReference } from '../model/data-source/reference.ts';
import type { BackoffRange } from '../workqueue/backoff.ts';
import type { Clock } from '../workqueue/clock.ts';
import { createWorkQueue } from '../workqueue/work-queue.ts';
import type { AbsentCrds } from './absent-crds.ts';
import { transforms } from './cache-transforms.ts';
import type { Metrics } from './metrics/metrics.ts';
import { watchPopulationSources } from './population-sources.ts';
import type { Inform, Part } from './runnable.ts';
import { watchStandardController } from './standard-controller-detection.ts';
import { whenServed } from './wait-for-crds.ts';
import type { GrantsWatch } from './watch-grants.ts';

export interface PopulationDeps {
  client: KubeClient;
  enabled: ReadonlySet<ControllerName>;
  inform: Inform;
  claims: Informer<PersistentVolumeClaim>;
  persistentVolumes: Informer<PersistentVolume>;
  storageClasses: Informer<StorageClass>;
  grants: Pick<GrantsWatch, 'onChange'>;
  events: EventRecorder;
  clock: Clock;
  random: () => number;
  logger: Logger;
  absentCrds: AbsentCrds;
  retry: BackoffRange;
  workers: number | (() => number);
  /** Host name for events. */
  host: string;
  /** Namespace of prime claims and pods. Unset: no volumes are populated. */
  namespace?: string | undefined;
  /** Default user ID of pods that fill volumes. Default: POPULATOR_USER. */
  populatorUser?: number | undefined;
  /** Pods that use claims. Unset: no volumes are populated. */
  pods: Informer<Pod> | undefined;
  nodes: Informer<KubeNode>;
  /** Claims may refer to objects in other namespaces. */
  crossNamespace?: boolean | undefined;
  metrics?: Metrics | undefined;
}

/**
 * Creates the data source validator and the populator. Call it before the given informers start.
 */
export function createPopulation(deps: PopulationDeps): Part {
  const { enabled, namespace, pods } = deps;
  const once = eventOnce(deps.client, deps.clock, deps.host);
  const parts: Part[] = [];
  if (enabled.has('data-source-validator')) parts.push(validatorPart(deps, once));
  if (enabled.has('populator') && namespace !== undefined && pods !== undefined)
    parts.push(machinePart({ ...deps, pods }, namespace, once));
  return {
    start() {
      for (const part of parts) part.start();
    },
    begin(after, run) {
      for (const part of parts) part.begin(after, run);
    },
    sources: parts.flatMap(({ sources }) => sources),
    async stop(deadlineMs) {
      await Promise.all(parts.map((part) => part.stop(deadlineMs)));
    },
  };
}

type Once = ReturnType<typeof eventOnce>;

/** Maximum wait (ms) for the detection of the standard validator. */
const DETECTION_MS = 10_000;

/** Wraps an informer of a kind that the cluster may lack: starts it once the kind is served. */
function later<T extends KubeObject>(
  deps: PopulationDeps,
  resource: Resource,
  informer: Informer<T>,
) {
  const waiting = whenServed(deps.client, [resource], deps.clock, deps.absentCrds);
  let stopped = false;
  informer.synced.catch(() => {});
  return {
    start(): void {
      waiting.start().then(
        () => {
          if (!stopped) informer.start();
        },
        () => {},
      );
    },
    source: waiting.sourceOf(resource, informer.lastHeard),
    async stop(): Promise<void> {
      stopped = true;
      waiting.stop();
      await informer.stop();
    },
  };
}

function queueOf({ clock, random, retry, workers }: PopulationDeps) {
  return createWorkQueue({ clock, random, retry, groupOf: () => '', perGroup: workers });
}

function validatorPart(deps: PopulationDeps, once: Once): Part {
  const { claims, inform, metrics } = deps;
  const populators = inform<VolumePopulator>(VOLUME_POPULATORS, transforms.volumePopulators);
  const queue = queueOf(deps);
  const all = () => {
    for (const claim of claims.list()) if (isOther(claim)) add(claim);
  };
  const mode = watchStandardController({
    flag: 'auto',
    standard: {
      ...{ lease: VALIDATOR_LEASE, pods: VALIDATOR_PODS },
      namespaces: [VALIDATOR_NAMESPACE, deps.namespace ?? VALIDATOR_NAMESPACE],
    },
    inform,
    clock: deps.clock,
    onChange(now) {
      deps.logger.info({ mode: now }, 'the controller that validates data sources changed');
      all();
    },
  });
  const stopping = new AbortController();
  // Claims are validated, too, if the account may not list what is detected.
  const detected = Promise.race([
    mode.synced,
    deps.clock.sleep(DETECTION_MS, stopping.signal),
  ]).catch(() => {});
  const validate = createValidator({
    clock: deps.clock,
    isExternal: () => mode.now() === 'external',
    ...{ claims, populators, once },
    onVerdict: metrics?.populations.onVerdict,
  });
  const add = ({ metadata }: PersistentVolumeClaim) =>
    queue.add(`${metadata.namespace}/${metadata.name}`);
  claims.onChange(({ object }) => add(object));
  // Revise earlier verdicts at once.
  populators.onChange(all);
  const crd = later(deps, VOLUME_POPULATORS, populators);
  return {
    start() {
      crd.start();
      mode.start();
    },
    begin(after, run) {
      Promise.all([after, claims.synced, populators.synced, detected])
        .then(() => run('data-source-validator', queue, validate))
        .catch(() => {});
    },
    sources: [crd.source],
    async stop() {
      stopping.abort();
      await Promise.all([crd.stop(), mode.stop()]);
    },
  };
}

function isOther(claim: PersistentVolumeClaim): boolean {
  const source = sourceReference(claim);
  return source !== undefined && !isStandard(source);
}

function machinePart(
  deps: PopulationDeps & { pods: Informer<Pod> },
  namespace: string,
  once: Once,
): Part {
  const { client, claims, persistentVolumes, storageClasses, inform, metrics } = deps;
  const definitions = inform<PopulatorDefinition>(
    POPULATOR_DEFINITIONS,
    transforms.populatorDefinitions,
  );
  const pods = inform<Pod>(PODS, transforms.populatorPods, {
    namespace,
    labelSelector: POPULATES_LABEL,
  });
  const queue = queueOf(deps);
  const again = ({ metadata: { uid } }: KubeObject) => {
    if (uid === undefined) return;
    queue.forget(uid);
    queue.add(uid);
  };
  const unfilled = (claim: PersistentVolumeClaim) =>
    isOther(claim) && (!claim.spec.volumeName || hasFinalizer({ claim }));
  const byKind = indexBy(claims, (claim) => {
    const source = unfilled(claim) ? sourceReference(claim) : undefined;
    return source && kindText(source);
  });
  const byClass = indexBy(claims, (claim) =>
    unfilled(claim) ? (claim.spec.storageClassName ?? '') : undefined,
  );
  const sources = watchPopulationSources({
    ...deps,
    definitions,
    follows: ({ spec }) => spec.node === undefined,
    onSource(kind, { metadata }) {
      for (const claim of byKind(kindText(kind))) {
        const source = sourceReference(claim);
        // A cluster-scoped object can be the source of claims in any namespace.
        const isIts = metadata.namespace === undefined || metadata.namespace === source?.namespace;
        if (isIts && source?.name === metadata.name) again(claim);
      }
    },
  });
  deps.grants.onChange(({ metadata }) => {
    for (const claim of claims.list()) {
      const source = unfilled(claim) ? sourceReference(claim) : undefined;
      if (source?.crossNamespace && source.namespace === metadata.namespace) again(claim);
    }
  });
  const consumerTolerations = createConsumerTolerations(deps);
  const reconciler = createPopulatorReconciler({
    ...deps,
    ...{ definitions, pods, namespace, once, consumerTolerations },
    user: deps.populatorUser ?? POPULATOR_USER,
    findSource: (claim, definition) =>
      findSource(claim, definition, {
        client,
        crossNamespace: deps.crossNamespace ?? false,
        isGranted: async ({ from, to }) =>
          isGranted(
            await liveReads(client, VERSIONS_OF_REFERENCE_GRANTS).grants(to.namespace),
            from,
            to,
          ),
      }),
    onPopulated: metrics?.populations.onEnd,
  });
  metrics?.populations.addPods(pods, ({ metadata }) => {
    const prime = claims.get(primeNameOf(uidOfName(metadata.name) ?? ''), namespace);
    return parseQuantity(
      prime?.status?.capacity?.storage ?? prime?.spec.resources?.requests?.storage ?? '0',
    );
  });

  claims.onChange(({ object, old }) => {
    for (const { metadata } of old === undefined ? [object] : [object, old]) {
      const target = metadata.namespace === namespace ? uidOfName(metadata.name) : undefined;
      if (target !== undefined) queue.add(target);
    }
    if (isOther(object) || hasFinalizer({ claim: object })) queue.add(object.metadata.uid ?? '');
  });
  pods.onChange(({ type, object, old }) => {
    const target = uidOfName(object.metadata.name);
    if (target !== undefined) queue.add(target);
    // Other claims may wait for its slot.
    if (type === 'deleted' || (!isOver(old) && isOver(object)))
      for (const uid of reconciler.waiting()) queue.add(uid);
  });
  // A pod that waits for a claim decides what the pod that fills it tolerates.
  deps.pods.onChange(({ object }) => {
    if (object.spec.nodeName) return;
    for (const name of claimNamesOf(object)) {
      const claim = claims.get(name, object.metadata.namespace);
      if (claim?.metadata.uid !== undefined && unfilled(claim)) queue.add(claim.metadata.uid);
    }
  });
  persistentVolumes.onChange(({ object }) => {
    const { claimRef } = object.spec;
    const target =
      claimRef?.namespace === namespace ? uidOfName(claimRef.name ?? '') : claimRef?.uid;
    if (target !== undefined && claims.get(primeNameOf(target), namespace) !== undefined)
      queue.add(target);
  });
  storageClasses.onChange(({ object }) => {
    for (const claim of byClass(object.metadata.name)) again(claim);
  });
  definitions.onChange(({ object }) => {
    for (const claim of byKind(kindText(object.spec.sourceKind))) again(claim);
  });
  const crd = later(deps, POPULATOR_DEFINITIONS, definitions);
  return {
    start() {
      crd.start();
      pods.start();
      sources.start();
    },
    begin(after, run) {
      pods.synced.catch(() => {});
      const known = [claims, pods, definitions, deps.pods, deps.nodes].map(({ synced }) => synced);
      Promise.all([after, ...known])
        .then(() => run('populator', queue, reconciler.reconcile))
        .catch(() => {});
    },
    sources: [crd.source],
    async stop() {
      await Promise.all([crd.stop(), pods.stop(), sources.stop()]);
    },
  };
}

const isOver = (pod: Pod | undefined): boolean =>
  pod?.status?.phase === 'Succeeded' || pod?.status?.phase === 'Failed';
