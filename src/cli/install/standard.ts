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

/** What an object was wanted to be when it was last installed, as JSON: by it is known what is not wanted any more. */
export const LAST_INSTALLED = 'stowage.dev/last-installed';

type StandardComponent = keyof typeof STANDARD_CRDS;

/** Whether a component is of standard kinds, which others bring as well: what is there of them is theirs. */
export const isStandard = (component: Component | undefined): component is StandardComponent =>
  component !== undefined && Object.hasOwn(STANDARD_CRDS, component);

/** The objects of a component of standard kinds. */
export function standardObjects(component: StandardComponent): Wanted[] {
  const labels = labelsOf(component);
  const definitions = STANDARD_CRDS[component].map(({ metadata, spec }) =>
    wanted(CUSTOM_RESOURCE_DEFINITIONS, component, { metadata: { ...metadata, labels }, spec }),
  );
  return component === 'populator-crds'
    ? [...definitions, snapshotLinkPopulator(component)]
    : definitions;
}

/** Says that somebody fills volumes from links to snapshots, so that claims of them are not told otherwise. */
const snapshotLinkPopulator = (component: Component): Wanted =>
  wanted(VOLUME_POPULATORS, component, {
    metadata: { name: SNAPSHOT_LINK_POPULATOR, labels: labelsOf(component) },
    sourceKind: { group: VOLUME_SNAPSHOT_LINKS.group, kind: VOLUME_SNAPSHOT_LINKS.kind },
  });

/**
 * Whether an object of a standard kind is still what Stowage made. Its label does not tell: kubectl leaves that where it
 * applies the definition of another project over it. Pure.
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

/** What an object was wanted to be when it was last installed; undefined where that is not known. */
export function lastOf({ metadata }: KubeObject): KubeObject | undefined {
  try {
    return JSON.parse(metadata.annotations?.[LAST_INSTALLED] ?? 'null') ?? undefined;
  } catch {
    // Somebody changed it: then nothing is known of before.
    return undefined;
  }
}

/** What is odd about a definition that is somebody else's: it serves none of the versions that Stowage works with. */
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
    : `it serves ${found.join(', ') || 'no version'}, and Stowage works with ${known.join(', ')}: have whoever installed it upgrade it`;
}
