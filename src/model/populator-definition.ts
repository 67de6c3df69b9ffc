import type { Resource } from '../api/meta.ts';
import { SNAPSHOT_GROUP } from '../api/names.ts';
import type { PopulatorDefinition, SourceKind } from '../api/populator.ts';
import { isSameKind } from './data-source/reference.ts';
import { hasField } from './substitute.ts';

/** Returns the definitions for a kind, valid or not, without those being deleted. */
export const definitionsFor = (
  definitions: readonly PopulatorDefinition[],
  kind: SourceKind,
): PopulatorDefinition[] =>
  definitions.filter(
    ({ spec, metadata }) =>
      metadata.deletionTimestamp === undefined && isSameKind(spec.sourceKind, kind),
  );

/** Returns the resource of a definition's data sources. */
export function resourceOf({ spec: { sourceKind, resource } }: PopulatorDefinition): Resource {
  return {
    ...sourceKind,
    version: resource.version,
    plural: resource.plural,
    namespaced: resource.scope !== 'Cluster',
  };
}

/**
 * Returns what is wrong with a definition. The schema of the API server refuses this too, but may
 * have been another one when the object was created. Pure.
 */
export function problemOf({ spec }: PopulatorDefinition): string | undefined {
  const { pod, node } = spec;
  if ((pod === undefined) === (node === undefined)) return 'spec must have either pod or node';
  // Provisioners restore from these groups themselves, links included.
  if (spec.sourceKind.group === '' || spec.sourceKind.group === SNAPSHOT_GROUP) {
    return `spec.sourceKind ${spec.sourceKind.kind} of group ${JSON.stringify(spec.sourceKind.group)} cannot have a populator`;
  }
  if (pod === undefined) return undefined;
  if (pod.mountPath === undefined && pod.devicePath === undefined) {
    return 'spec.pod has neither mountPath nor devicePath';
  }
  if (pod.command?.some(hasField))
    return 'spec.pod.command has a field of the data source: use it in args instead';
  const texts = [...(pod.args ?? []), ...(pod.env ?? []).map(({ value = '' }) => value)];
  const dollar = texts.find((text) => text.includes('${.'));
  if (dollar !== undefined) return `${JSON.stringify(dollar)} has a '$' right before a field`;
  return undefined;
}
