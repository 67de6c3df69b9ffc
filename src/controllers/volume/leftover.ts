import { isDnsSubdomain } from '../../api/dns-name.ts';
import { KEPT_FIELDS, type Leftover, type LeftoverSpec } from '../../api/leftover.ts';
import { FORGET_NODE_ANNOTATION, STOWAGE_API_VERSION } from '../../api/names.ts';
import { LEFTOVERS } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import { statusProblem } from '../../model/status-problem.ts';
import { validateVolume } from '../../model/validate-volume.ts';
import { nodeOf } from '../../model/volume-nodes.ts';
import { driverOfSpec } from '../../storage/registry.ts';

/**
 * Reports whether an operator declared the node of this very Volume lost. Compares the UID, since
 * manifests are copied.
 */
export const isNodeForgotten = ({ metadata }: Volume): boolean =>
  metadata.uid !== undefined && metadata.annotations?.[FORGET_NODE_ANNOTATION] === metadata.uid;

/** Reports whether a Volume is being deleted and its node is forgotten. */
export const isLeaving = (volume: Volume): boolean =>
  volume.metadata.deletionTimestamp !== undefined && isNodeForgotten(volume);

/**
 * Returns a Leftover with all that is needed to remove later what a Volume may have on its node.
 */
export function leftoverOf(volume: Volume): Leftover {
  const { name, uid = '' } = volume.metadata;
  const { prepared, job, attempt } = volume.status ?? {};
  const kept = Object.fromEntries(
    KEPT_FIELDS.filter((field) => volume.spec[field] != null).map((field) => [
      field,
      volume.spec[field],
    ]),
  ) as Pick<LeftoverSpec, (typeof KEPT_FIELDS)[number]>;
  return {
    apiVersion: STOWAGE_API_VERSION,
    kind: LEFTOVERS.kind,
    metadata: { name: uid },
    spec: {
      volumeName: name,
      uid,
      ...kept,
      nodeName: nodeOf(volume),
      ...(prepared === undefined ? {} : { prepared }),
      ...(job === undefined ? {} : { job }),
      ...(attempt === undefined ? {} : { attempt }),
    },
  };
}

/**
 * Returns the Volume of a Leftover as being deleted, for all work on its node. Omits the record of
 * what was provisioned: anyone who creates a Leftover chooses its UID. Only storage that the node
 * itself records under that UID is removed.
 */
export function volumeOf({ apiVersion, kind, metadata, spec, status }: Leftover): Volume {
  const { volumeName: _, uid, prepared, job, attempt, ...volumeSpec } = spec;
  const { creationTimestamp } = metadata;
  const [path] = prepared?.paths ?? [];
  const { specAt } = driverOfSpec(volumeSpec);
  return {
    apiVersion,
    kind,
    metadata: {
      ...metadata,
      uid,
      ...(creationTimestamp === undefined ? {} : { deletionTimestamp: creationTimestamp }),
    },
    spec: path === undefined || specAt === undefined ? volumeSpec : specAt(volumeSpec, path),
    status: {
      ...(job === undefined ? {} : { job }),
      ...(attempt === undefined ? {} : { attempt }),
      ...status,
    },
  };
}

/**
 * Returns why a Leftover must not cause work on a node. Without these checks, its creator could
 * remove any file of a node, or the storage of an existing Volume.
 * @param owner the Volume with that UID
 */
export function leftoverProblem(leftover: Leftover, owner: Volume | undefined): string | undefined {
  const { metadata, spec } = leftover;
  const volume = volumeOf(leftover);
  if (metadata.name !== spec.uid) {
    return `its name must be spec.uid, ${JSON.stringify(spec.uid)}`;
  }
  const { prepared, nodeName } = spec;
  if (!isDnsSubdomain(nodeName) || (prepared !== undefined && prepared.node !== nodeName)) {
    return `spec.nodeName is ${JSON.stringify(nodeName)}, which Stowage did not write`;
  }
  const recorded =
    prepared === undefined
      ? volume
      : {
          ...volume,
          // A logical volume has the name of the Volume.
          metadata: { ...volume.metadata, name: spec.volumeName },
          status: { ...volume.status, prepared },
        };
  const problem = statusProblem(recorded) ?? validateVolume(volume)[0];
  if (problem !== undefined) return problem;
  return owner === undefined || isLeaving(owner)
    ? undefined
    : `Volume ${owner.metadata.name} with this UID exists, and so does its storage`;
}
