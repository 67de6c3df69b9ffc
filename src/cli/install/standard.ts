import { STANDARD_CRDS } from '../../api/crds.ts';
import type { KubeObject } from '../../api/meta.ts';
import { SNAPSHOT_LINK_POPULATOR } from '../../api/names.ts';
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  VOLUME_POPULATORS,
  VOLUME_SNAPSHOT_LINKS,
} from '../../api/resources.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { Component } from '../lib/components.ts';
import { labelsOf } from '../lib/objects/installed-labels.ts';
import type { Definition } from './crd.ts';
import { merged, mergePatch } from './merge.ts';
import { type Wanted, wanted } from './wanted.ts';

/** Annotation with the last installed object as JSON: shows which fields are no longer wanted. */
export const LAST_INSTALLED = 'stowage.dev/last-installed';

type StandardComponent = keyof typeof STANDARD_CRDS;

/**
 * Reports whether a component consists of standard kinds, which others install as well: existing
 * objects are not Stowage's.
 */
export const isStandard = (component: Component | undefined): component is StandardComponent =>
  component !== undefined && Object.hasOwn(STANDARD_CRDS, component);

/** Returns the objects of a component of standard kinds. */
export function standardObjects(component: StandardComponent): Wanted[] {
  const labels = labelsOf(component);
  const definitions = STANDARD_CRDS[component].map(({ metadata, spec }) =>
    wanted(CUSTOM_RESOURCE_DEFINITIONS, component, { metadata: { ...metadata, labels }, spec }),
  );
  return component === 'populator-crds'
    ? [...definitions, snapshotLinkPopulator(component)]
    : definitions;
}

/** Declares a populator for links to snapshots: claims get no warning that none exists. */
const snapshotLinkPopulator = (component: Component): Wanted =>
  wanted(VOLUME_POPULATORS, component, {
    metadata: { name: SNAPSHOT_LINK_POPULATOR, labels: labelsOf(component) },
    sourceKind: { group: VOLUME_SNAPSHOT_LINKS.group, kind: VOLUME_SNAPSHOT_LINKS.kind },
  });

/**
 * Reports whether an object of a standard kind is still as Stowage made it. The label does not
 * show that: kubectl keeps it when it applies another project's definition. Pure.
 */
export function isAsInstalled(current: KubeObject): boolean {
  const last = lastOf(current);
  if (last === undefined) return false;
  const versions = (object: KubeObject) =>
    (object as Partial<Definition>).spec?.versions?.map(({ name }) => name).sort();
  return (
    String(versions(current)) === String(versions(last)) &&
    mergePatch(current, merged(current, last, undefined) as object) === undefined
  );
}

/** Returns the object that was last installed; undefined if unknown. */
export function lastOf({ metadata }: KubeObject): KubeObject | undefined {
  try {
    return JSON.parse(metadata.annotations?.[LAST_INSTALLED] ?? 'null') ?? undefined;
  } catch {
    // The annotation was edited: the earlier object is unknown.
    return undefined;
  }
}

/** Returns a note if another owner's definition serves no version that Stowage works with. */
export async function oddVersions(
  client: Pick<KubeClient, 'get'>,
  { resource, object }: Wanted,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (resource !== CUSTOM_RESOURCE_DEFINITIONS) return undefined;
  const served = ({ spec }: Definition) =>
    spec.versions.filter((one) => one.served).map(({ name }) => name);
  const found = served(await client.get<Definition>(resource, object.metadata.name, { signal }));
  const known = served(object as Definition);
  return known.some((version) => found.includes(version))
    ? undefined
    : `it serves ${found.join(', ') || 'no version'}, but Stowage requires ${known.join(' or ')}: upgrade it with the tool that installed it`;
}
