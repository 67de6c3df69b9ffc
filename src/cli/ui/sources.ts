import type {
  CsiStorageCapacity,
  KubeNode,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from '../../api/core.ts';
import type { Logger } from '../../api/logger.ts';
import type { KubeObject, ObjectMeta, Resource } from '../../api/meta.ts';
import { PAUSED_ANNOTATION } from '../../api/names.ts';
import {
  CSI_STORAGE_CAPACITIES,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  STORAGE_CLASSES,
  VOLUME_SNAPSHOTS,
  VOLUMES,
} from '../../api/resources.ts';
import type { VolumeSnapshot } from '../../api/snapshot.ts';
import type { Volume } from '../../api/volume.ts';
import { CAPACITY_SELECTOR } from '../../controllers/lib/capacity/capacity.ts';
import { ConnectionError, isNotFound } from '../../kube/errors.ts';
import { createInformer, type Informer } from '../../kube/informer.ts';
import type { Clock, KubeClient } from '../../kube/types.ts';
import { LAST_APPLIED } from '../../model/data-source/dropped-data-source.ts';
import type { SourceKind } from '../../ui/protocol.ts';
import { codeOf, messageOf, property } from '../lib/failure.ts';
import { noSnapshots } from '../lib/objects/missing-snapshots.ts';
import type { Hub } from './hub.ts';
import { HOSTNAME_LABEL } from './rows.ts';

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
  /** Default: the plural of the resource. */
  kind?: SourceKind;
  labelSelector?: string;
  /** Default: kept. */
  transform?: (object: T) => T;
  /** Returns the error to report for a failed request. */
  explained?: (error: unknown) => unknown;
  put(object: T): void;
  drop(object: T): void;
}

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
  const start = <T extends KubeObject>(source: Source<T>): Informer<T> => {
    const kind = source.kind ?? (source.resource.plural as SourceKind);
    const { explained = (error) => error } = source;
    const informer = createInformer<T>({
      client: reported(client, kind, hub),
      resource: source.resource,
      ...(source.labelSelector !== undefined && { labelSelector: source.labelSelector }),
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
    informer.onChange(({ type, object }) =>
      type === 'deleted' ? source.drop(object) : source.put(object),
    );
    informer.start();
    return informer;
  };
  const informers = [
    start<Volume>({
      resource: VOLUMES,
      put: hub.putVolume,
      drop: ({ metadata }) => hub.dropVolume(metadata.name),
    }),
    start<KubeNode>({
      resource: NODES,
      transform: keptNode,
      put: hub.putNode,
      drop: ({ metadata }) => hub.dropNode(metadata.name),
    }),
    start<PersistentVolume>({
      resource: PERSISTENT_VOLUMES,
      put: hub.putPersistentVolume,
      drop: ({ metadata }) => hub.dropPersistentVolume(metadata.name),
    }),
    start<CsiStorageCapacity>({
      resource: CSI_STORAGE_CAPACITIES,
      labelSelector: CAPACITY_SELECTOR,
      put: hub.putCapacity,
      drop: hub.dropCapacity,
    }),
    start<StorageClass>({
      resource: STORAGE_CLASSES,
      transform: keptClass,
      put: hub.putClass,
      drop: ({ metadata }) => hub.dropClass(metadata.name),
    }),
    start<PersistentVolumeClaim>({
      resource: PERSISTENT_VOLUME_CLAIMS,
      kind: 'claims',
      transform: keptClaim,
      put: hub.putClaim,
      drop: hub.dropClaim,
    }),
    start<VolumeSnapshot>({
      resource: VOLUME_SNAPSHOTS,
      kind: 'snapshots',
      explained: (error) => (isNotFound(error) ? noSnapshots(error) : error),
      put: hub.putSnapshot,
      drop: hub.dropSnapshot,
    }),
  ];
  return async () => {
    await Promise.all(informers.map((informer) => informer.stop()));
  };
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
