import type { PersistentVolumeClaim } from '../../api/core.ts';
import type { KubeObject } from '../../api/meta.ts';
import { DRIVER } from '../../api/names.ts';
import type { PopulatorDefinition, SourceKind, VolumePopulator } from '../../api/populator.ts';
import { VOLUME_SNAPSHOT_LINKS } from '../../api/resources.ts';
import { isSameKind } from '../../model/data-source/reference.ts';
import { type PopulatorUse, usesOf } from './uses.ts';

/** Row as docs/output.md describes it. */
export interface PopulatorRow extends SourceKind {
  name: string;
  /** A VolumePopulator names the kind: without one, users are warned that no populator exists. */
  registered: boolean;
  /** Image of the populator's pods. Without image and built-in, the populator is a foreign one. */
  image?: string;
  builtin?: string;
  /** Provisioner of VolumeSnapshotLinks, while that is the daemon. */
  provisioner?: string;
  claims: PopulatorUse[];
  /** RFC 3339. */
  since?: string;
}

/**
 * Returns a row for each name and kind. Pure.
 * @param followsLinks the daemon provisions volumes from VolumeSnapshotLinks
 */
export function rowsOf(
  definitions: readonly PopulatorDefinition[],
  populators: readonly VolumePopulator[],
  claims: readonly PersistentVolumeClaim[],
  followsLinks: boolean,
): PopulatorRow[] {
  const rowOf = (
    { metadata }: KubeObject,
    kind: SourceKind,
    { pod, node }: Partial<PopulatorDefinition['spec']> = {},
  ): PopulatorRow => ({
    name: metadata.name,
    group: kind.group,
    kind: kind.kind,
    registered: populators.some(({ sourceKind }) => isSameKind(sourceKind, kind)),
    ...(pod === undefined ? {} : { image: pod.image }),
    ...(node === undefined ? {} : { builtin: node.builtin }),
    claims: usesOf(claims, kind),
    ...(metadata.creationTimestamp === undefined ? {} : { since: metadata.creationTimestamp }),
  });
  const defined = definitions.map((each) => rowOf(each, each.spec.sourceKind, each.spec));
  const others = populators
    .filter(
      ({ metadata, sourceKind }) =>
        !defined.some((row) => row.name === metadata.name && isSameKind(row, sourceKind)),
    )
    .map((each) => ({
      ...rowOf(each, each.sourceKind),
      ...(followsLinks && isSameKind(each.sourceKind, VOLUME_SNAPSHOT_LINKS)
        ? { provisioner: DRIVER }
        : {}),
    }));
  return [...defined, ...others];
}
