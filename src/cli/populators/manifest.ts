import { apiVersionOf, type KubeObject, type Resource } from '../../api/meta.ts';
import { AGGREGATE_LABEL, COMPONENT } from '../../api/names.ts';
import type { PopulatorDefinition, SourceKind, VolumePopulator } from '../../api/populator.ts';
import { CLUSTER_ROLES, POPULATOR_DEFINITIONS, VOLUME_POPULATORS } from '../../api/resources.ts';
import { MANAGED_BY } from '../lib/objects/installed-labels.ts';

export interface Wanted {
  name: string;
  sourceKind: SourceKind;
  resource: PopulatorDefinition['spec']['resource'];
  by: Pick<PopulatorDefinition['spec'], 'pod' | 'node'>;
}

/** Returns the name of the ClusterRole that lets the daemon read a populator's sources. */
export const roleNameOf = (name: string): string => `${COMPONENT}-populator-${name}`;

const labels = { [MANAGED_BY]: COMPONENT };

/** Returns the ClusterRole, whose label adds it to the daemon's rights. */
export function sourcesRole({
  metadata,
  spec: { sourceKind, resource },
}: Pick<PopulatorDefinition, 'metadata' | 'spec'>): KubeObject {
  return {
    apiVersion: apiVersionOf(CLUSTER_ROLES),
    kind: CLUSTER_ROLES.kind,
    metadata: { name: roleNameOf(metadata.name), labels: { ...labels, [AGGREGATE_LABEL]: 'true' } },
    rules: [
      {
        apiGroups: [sourceKind.group],
        resources: [resource.plural],
        verbs: ['get', 'list', 'watch'],
      },
    ],
  } as KubeObject;
}

export const populatorOf = ({ name, sourceKind }: Wanted): VolumePopulator => ({
  apiVersion: apiVersionOf(VOLUME_POPULATORS),
  kind: VOLUME_POPULATORS.kind,
  metadata: { name, labels },
  sourceKind,
});

export const definitionOf = ({ name, sourceKind, resource, by }: Wanted): PopulatorDefinition => ({
  apiVersion: apiVersionOf(POPULATOR_DEFINITIONS),
  kind: POPULATOR_DEFINITIONS.kind,
  metadata: { name, labels },
  spec: { sourceKind, resource, ...by },
});

/** Returns all objects of a registration in the order of creation: the definition is last. */
export function objectsOf(wanted: Wanted): { resource: Resource; object: KubeObject }[] {
  const definition = definitionOf(wanted);
  return [
    { resource: VOLUME_POPULATORS, object: populatorOf(wanted) },
    { resource: CLUSTER_ROLES, object: sourcesRole(definition) },
    { resource: POPULATOR_DEFINITIONS, object: definition },
  ];
}
