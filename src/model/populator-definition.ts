import type { Resource } from '../api/meta.ts';
import { SNAPSHOT_GROUP } from '../api/names.ts';
import type { PopulatorDefinition, SourceKind } from '../api/populator.ts';
import { isSameKind } from './data-source/reference.ts';
import { hasField } from './substitute.ts';

/** Those that say how volumes of the kind are filled, whatever is wrong with them. */
export const definitionsFor = (
  definitions: readonly PopulatorDefinition[],
  kind: SourceKind,
): PopulatorDefinition[] =>
  definitions.filter(
    ({ spec, metadata }) =>
      metadata.deletionTimestamp === undefined && isSameKind(spec.sourceKind, kind),
  );

/** Where objects of its kind are read. */
export function resourceOf({ spec: { sourceKind, resource } }: PopulatorDefinition): Resource {
  return {
    ...sourceKind,
    version: resource.version,
    plural: resource.plural,
    namespaced: resource.scope !== 'Cluster',
  };
}

/** What the API server's schema refuses, as it may have been another's when the object was made. Pure. */
export function problemOf({ spec }: PopulatorDefinition): string | undefined {
  const { pod, node } = spec;
  if ((pod === undefined) === (node === undefined)) return 'spec must have either pod or node';
  // Its links are restored by who makes volumes.
  if (spec.sourceKind.group === '' || spec.sourceKind.group === SNAPSHOT_GROUP) {
    return `spec.sourceKind ${spec.sourceKind.kind} of group ${JSON.stringify(spec.sourceKind.group)} is not for populators`;
  }
  if (pod === undefined) return undefined;
  if (pod.mountPath === undefined && pod.devicePath === undefined) {
    return 'spec.pod has neither mountPath nor devicePath';
  }
  if (pod.command?.some(hasField))
    return 'spec.pod.command has a field of the data source: have it in args';
  const texts = [...(pod.args ?? []), ...(pod.env ?? []).map(({ value = '' }) => value)];
  const dollar = texts.find((text) => text.includes('${.'));
  if (dollar !== undefined) return `${JSON.stringify(dollar)} has a '$' right before a field`;
  return undefined;
}
