import type { Pod } from '../api/core.ts';
import type { VolumePopulator } from '../api/populator.ts';

/** What caches keep of the objects that the filling of volumes goes by. See kept-fields.ts. */

/** Whose it is, how far it is, and what it said. */
export function keepPopulatingPod({ apiVersion, kind, metadata, spec, status }: Pod): Pod {
  const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp } = metadata;
  const { labels, annotations } = metadata;
  const { phase, reason, message, conditions, containerStatuses } = status ?? {};
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace && { namespace }),
      ...(uid && { uid }),
      ...(resourceVersion && { resourceVersion }),
      ...(creationTimestamp && { creationTimestamp }),
      ...(deletionTimestamp && { deletionTimestamp }),
      ...(labels && { labels }),
      ...(annotations && { annotations }),
    },
    spec: spec.nodeName === undefined ? {} : { nodeName: spec.nodeName },
    status: {
      ...(phase && { phase }),
      ...(reason && { reason }),
      ...(message && { message }),
      ...(conditions && { conditions }),
      ...(containerStatuses && {
        containerStatuses: containerStatuses.map(({ name, state }) => ({
          name,
          ...(state && { state }),
        })),
      }),
    },
  };
}

export function keepPopulator({
  apiVersion,
  kind,
  metadata,
  sourceKind,
}: VolumePopulator): VolumePopulator {
  const { name, uid, resourceVersion, deletionTimestamp } = metadata;
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(uid && { uid }),
      ...(resourceVersion && { resourceVersion }),
      ...(deletionTimestamp && { deletionTimestamp }),
    },
    sourceKind,
  };
}
