import type { KubeNode, PersistentVolumeClaim, StorageClass } from '../../api/core.ts';
import type { Logger } from '../../api/logger.ts';
import type { KubeObject, ObjectMeta, Resource } from '../../api/meta.ts';
import { HOSTNAME_LABEL, PAUSED_ANNOTATION } from '../../api/names.ts';
import {
  CSI_STORAGE_CAPACITIES,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  STORAGE_CLASSES,
  VOLUME_SNAPSHOTS,
  VOLUMES,
} from '../../api/resources.ts';
import { CAPACITY_SELECTOR } from '../../controllers/lib/capacity/capacity.ts';
import { ConnectionError, isNotFound } from '../../kube/errors.ts';
import { createInformer, type Informer } from '../../kube/informer.ts';
import type { Clock, KubeClient } from '../../kube/types.ts';
import { LAST_APPLIED } from '../../model/data-source/dropped-data-source.ts';
import type { SourceKind } from '../../ui/protocol.ts';
import { codeOf, messageOf, property } from '../lib/failure.ts';
import { noSnapshots } from '../lib/objects/missing-snapshots.ts';
import type { Followed, Hub } from './hub.ts';

/** Keeps the fields of rows only, so that the cache of 10,000 Volumes stays small. */
function kept<T extends KubeObject>(object: T): T {
  const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp, ...more } =
    object.metadata;
  const { labels, ownerReferences, annotations } = more;
  const paused = annotations?.[PAUSED_ANNOTATION];
  const hostname = labels?.[HOSTNAME_LABEL];
  const metadata: ObjectMeta = {
    name,
    ...(namespace !== undefined && { namespace }),
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
    ...(creationTimestamp !== undefined && { creationTimestamp }),
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    ...(ownerReferences !== undefined && { ownerReferences }),
    ...(hostname !== undefined && { labels: { [HOSTNAME_LABEL]: hostname } }),
    ...(paused !== undefined && { annotations: { [PAUSED_ANNOTATION]: paused } }),
  };
  return { ...object, metadata };
}

/** Keeps of a Node's status its conditions: the list of its images is long. */
const keptNode = (node: KubeNode): KubeNode => {
  const { conditions } = node.status ?? {};
  return { ...kept(node), status: { ...(conditions !== undefined && { conditions }) } };
};

/** Keeps of a claim what its row names. */
const keptClaim = (claim: PersistentVolumeClaim): PersistentVolumeClaim => {
  const { accessModes: _, selector: __, ...spec } = claim.spec;
  const last = claim.metadata.annotations?.[LAST_APPLIED];
  const found = kept(claim);
  const { annotations } = found.metadata;
  return {
    ...found,
    metadata: {
      ...found.metadata,
      // The only record of a data source that an old API server dropped.
      ...(last !== undefined && { annotations: { ...annotations, [LAST_APPLIED]: last } }),
    },
    spec,
  };
};

/** Keeps of a class which driver it is of: parameters may name Secrets. */
const keptClass = (storageClass: StorageClass): StorageClass => {
  const { apiVersion, kind, provisioner, metadata } = kept(storageClass);
  return { apiVersion, kind, metadata, provisioner };
};

interface Source<T extends KubeObject> {
  resource: Resource;
  labelSelector?: string;
  /** Default: kept. */
  transform?: (object: T) => T;
  /** Returns the error to report for a failed request. */
  explained?: (error: unknown) => unknown;
}

/** All kinds that the page follows, in the order of their first lists. */
const SOURCES: { [K in SourceKind]: Source<Followed[K]> } = {
  volumes: { resource: VOLUMES },
  nodes: { resource: NODES, transform: keptNode },
  persistentvolumes: { resource: PERSISTENT_VOLUMES },
  csistoragecapacities: {
    resource: CSI_STORAGE_CAPACITIES,
    labelSelector: CAPACITY_SELECTOR,
  },
  storageclasses: { resource: STORAGE_CLASSES, transform: keptClass },
  claims: { resource: PERSISTENT_VOLUME_CLAIMS, transform: keptClaim },
  snapshots: {
    resource: VOLUME_SNAPSHOTS,
    explained: (error) => (isNotFound(error) ? noSnapshots(error) : error),
  },
};

/**
 * Starts to list and watch all kinds of the page with the user's rights, across outages of the API
 * server. A kind that is refused or fails is reported, and the others go on. Returns a function
 * that stops it.
 */
export function startSources(
  client: Pick<KubeClient, 'list' | 'watch'>,
  hub: Hub,
  clock: Clock,
  logger: Pick<Logger, 'error'>,
): () => Promise<void> {
  const informers = (Object.keys(SOURCES) as SourceKind[]).map((kind) =>
    startSource(kind, client, hub, clock, logger),
  );
  return async () => {
    await Promise.all(informers.map((informer) => informer.stop()));
  };
}

function startSource<K extends SourceKind>(
  kind: K,
  client: Pick<KubeClient, 'list' | 'watch'>,
  hub: Hub,
  clock: Clock,
  logger: Pick<Logger, 'error'>,
): Informer<Followed[K]> {
  const source: Source<Followed[K]> = SOURCES[kind];
  const { resource, labelSelector, explained = (error) => error } = source;
  const informer = createInformer<Followed[K]>({
    client: reported(client, kind, hub),
    resource,
    ...(labelSelector !== undefined && { labelSelector }),
    transform: source.transform ?? kept,
    clock,
    random: Math.random,
    logger: {
      debug() {},
      info() {},
      warn(fields) {
        reportFailure(explained(property(fields, 'err')), kind, hub);
      },
      error: logger.error,
    },
  });
  informer.onChange(({ type, object }) => hub.take(kind, object, type === 'deleted'));
  informer.start();
  return informer;
}

function reportFailure(error: unknown, kind: SourceKind, hub: Hub): void {
  const code = codeOf(error);
  const hint = property(error, 'hint');
  hub.setSource(kind, {
    // Without the kind in the cluster, a list is refused as not found.
    state: code === 'forbidden' || code === 'not-found' ? 'refused' : 'failed',
    message: messageOf(error),
    ...(typeof hint === 'string' && { hint }),
  });
}

/**
 * Returns a client that also reports to the hub whether the API server answers, and when a kind is
 * listed.
 */
function reported(
  client: Pick<KubeClient, 'list' | 'watch'>,
  kind: SourceKind,
  hub: Hub,
): Pick<KubeClient, 'list' | 'watch'> {
  /** Set if the user may list the kind, but not watch it: the next list changes nothing. */
  let mayNotWatch = false;
  return {
    async list(resource, options) {
      try {
        const page = await client.list(resource, options);
        hub.setConnected(true);
        return page as never;
      } catch (error) {
        if (error instanceof ConnectionError) hub.setConnected(false, error.message);
        else if (!options?.signal?.aborted) hub.setConnected(true);
        throw error;
      }
    },
    async *watch(resource, options) {
      // The informer watches once its handlers have the whole list.
      if (!mayNotWatch) hub.setSource(kind, { state: 'listed' });
      try {
        for await (const event of client.watch(resource, options)) {
          mayNotWatch = false;
          hub.setConnected(true);
          yield event as never;
        }
      } catch (error) {
        mayNotWatch = codeOf(error) === 'forbidden';
        throw error;
      }
    },
  };
}
