import type { KubeNode, PersistentVolume, StorageClass } from '../api/core.ts';
import type { KubeObject, ObjectMeta } from '../api/meta.ts';
import {
  ADDRESS_ANNOTATION,
  FORCE_LVCREATE_ANNOTATION,
  FORGET_NODE_ANNOTATION,
  PAUSED_ANNOTATION,
  PORT_ANNOTATION,
} from '../api/names.ts';

/**
 * What caches keep of objects: what the controllers read, and no more. managedFields, annotations of others, such as
 * kubectl's copy of a manifest, and the images of a Node are the largest part of most objects. Each makes a new object.
 */

const ANNOTATIONS = [
  ADDRESS_ANNOTATION,
  PORT_ANNOTATION,
  PAUSED_ANNOTATION,
  FORGET_NODE_ANNOTATION,
  FORCE_LVCREATE_ANNOTATION,
];

/** Of kinds of our own: their spec and status, whole. */
export function keepOwn<T extends KubeObject>(object: T): T {
  return { ...object, metadata: keepMetadata(object.metadata) };
}

export function keepPersistentVolume({
  apiVersion,
  kind,
  metadata,
  spec,
  status,
}: PersistentVolume): PersistentVolume {
  const { capacity, accessModes, local, claimRef } = spec;
  return {
    apiVersion,
    kind,
    metadata: keepMetadata(metadata),
    spec: {
      capacity,
      accessModes,
      ...(local === undefined ? {} : { local: { path: local.path } }),
      ...(claimRef === undefined ? {} : { claimRef: pick(claimRef, ['namespace', 'name']) }),
    },
    ...(status === undefined ? {} : { status: pick(status, ['phase', 'message']) }),
  };
}

export function keepNode({ apiVersion, kind, metadata, status }: KubeNode): KubeNode {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const bootID = status?.nodeInfo?.bootID;
  const kept = {
    ...(ready === undefined ? {} : { conditions: [pick(ready, ['type', 'status'])] }),
    ...(bootID === undefined ? {} : { nodeInfo: { bootID } }),
  };
  return {
    apiVersion,
    kind,
    metadata: keepMetadata(metadata),
    ...(Object.keys(kept).length === 0 ? {} : { status: kept }),
  };
}

export function keepStorageClass(storageClass: StorageClass): StorageClass {
  const { apiVersion, kind, metadata, provisioner, parameters, mountOptions } = storageClass;
  return {
    apiVersion,
    kind,
    metadata: keepMetadata(metadata),
    provisioner,
    ...(parameters === undefined ? {} : { parameters }),
    ...(mountOptions === undefined ? {} : { mountOptions }),
  };
}

function keepMetadata(metadata: ObjectMeta): ObjectMeta {
  const kept = pick(metadata, [
    'name',
    'uid',
    'resourceVersion',
    'generation',
    'creationTimestamp',
    'deletionTimestamp',
    'finalizers',
    'ownerReferences',
  ]);
  const annotations = pick(metadata.annotations ?? {}, ANNOTATIONS);
  return Object.keys(annotations).length === 0 ? kept : { ...kept, annotations };
}

/** Of an object, the fields that it has of these. */
function pick<T extends object, K extends keyof T>(object: T, keys: readonly K[]): Pick<T, K> {
  return Object.fromEntries(
    keys.filter((key) => object[key] !== undefined).map((key) => [key, object[key]]),
  ) as Pick<T, K>;
}
