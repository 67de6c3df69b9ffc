import { isDnsSubdomain } from '../../api/dns-name.ts';
import { KEPT_FIELDS, type Leftover, type LeftoverSpec } from '../../api/leftover.ts';
import { FORGET_NODE_ANNOTATION, STOWAGE_API_VERSION } from '../../api/names.ts';
import { LEFTOVERS } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import { nodeOf } from '../../model/desired-volume.ts';
import { statusProblem } from '../../model/status-problem.ts';
import { validateVolume } from '../../model/validate-volume.ts';
import { driverOfSpec } from '../../storage/registry.ts';

/** Whether someone said of this very Volume, not of one whose manifest was copied, that its node is lost. */
export const isNodeForgotten = ({ metadata }: Volume): boolean =>
  metadata.uid !== undefined && metadata.annotations?.[FORGET_NODE_ANNOTATION] === metadata.uid;

/** Being deleted, and its node forgotten. */
export const isLeaving = (volume: Volume): boolean =>
  volume.metadata.deletionTimestamp !== undefined && isNodeForgotten(volume);

/** All that is needed to remove later what a Volume may have on its node. */
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
 * The Volume that it was, being deleted: for all that is done on a node, it is that one's still. It comes without the
 * record of what was made: a Volume's UID is given by the API server, and a Leftover's by who writes it, so that only
 * what the node itself has on record under that UID is removed by it.
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
 * Why nothing may be done on a node by what a Leftover says. Whoever may write one could otherwise have any file of a
 * node removed, or the storage of a Volume that lives.
 * @param owner the Volume that has its UID
 */
export function leftoverProblem(leftover: Leftover, owner: Volume | undefined): string | undefined {
  const { metadata, spec } = leftover;
  const volume = volumeOf(leftover);
  if (metadata.name !== spec.uid) {
    return `its name is not spec.uid, ${JSON.stringify(spec.uid)}`;
  }
  const { prepared, nodeName } = spec;
  if (!isDnsSubdomain(nodeName) || (prepared !== undefined && prepared.node !== nodeName)) {
    return `spec.nodeName is ${JSON.stringify(nodeName)}, which is no node that Stowage wrote there`;
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
    : `the Volume ${owner.metadata.name} has this UID and is there, its storage with it`;
}
