import type { PersistentVolumeClaim } from '../../api/core.ts';
import type { KubeObject } from '../../api/meta.ts';
import { DRIVER } from '../../api/names.ts';
import type { PopulatorDefinition, SourceKind, VolumePopulator } from '../../api/populator.ts';
import { VOLUME_SNAPSHOT_LINKS } from '../../api/resources.ts';
import { isSameKind } from '../../model/data-source/reference.ts';
import { type PopulatorUse, usesOf } from './uses.ts';

/** As docs/output.md has it. */
export interface PopulatorRow extends SourceKind {
  name: string;
  /** Whether a VolumePopulator stands for the kind: without one users are told that nobody fills volumes from it. */
  registered: boolean;
  /** The image of the pods that fill volumes, or what fills them on their node; without both somebody else does it. */
  image?: string;
  builtin?: string;
  /** Of VolumeSnapshotLinks: who makes volumes from them, while that is the daemon. */
  provisioner?: string;
  claims: PopulatorUse[];
  /** RFC 3339. */
  since?: string;
}

/**
 * One of each name and kind. Pure.
 * @param followsLinks whether the daemon makes volumes from VolumeSnapshotLinks
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
