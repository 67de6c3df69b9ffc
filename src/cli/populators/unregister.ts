import type { PersistentVolumeClaim } from '../../api/core.ts';
import { StowageError } from '../../api/errors.ts';
import type { KubeObject, Resource } from '../../api/meta.ts';
import {
  kindText,
  type PopulatorDefinition,
  type SourceKind,
  type VolumePopulator,
} from '../../api/populator.ts';
import {
  CLUSTER_ROLES,
  PERSISTENT_VOLUME_CLAIMS,
  POPULATOR_DEFINITIONS,
  VOLUME_POPULATORS,
} from '../../api/resources.ts';
import { listAll } from '../../kube/client.ts';
import type { Connection } from '../../kube/connect.ts';
import { isSameKind } from '../../model/data-source/reference.ts';
import type { GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { isOurs } from '../lib/objects/installed-labels.ts';
import { printDone } from '../lib/objects/print.ts';
import { foundIn, reading } from '../lib/read-result.ts';
import { roleNameOf } from './manifest.ts';
import { usesOf } from './uses.ts';

export interface UnregisterFlags {
  dryRun: 'none' | 'server';
  output?: 'json' | 'yaml' | 'name';
}

/** Maximum number of claims in an error. */
const MOST_NAMED = 5;

/**
 * Runs `stowage unregister populator`. Populated volumes stay. Throws a StowageError: `conflict`
 * while claims wait to be populated from the kind, `not-found` if nothing is registered under the
 * name.
 */
export async function unregister(
  name: string,
  { dryRun, output }: UnregisterFlags & GlobalFlags,
  io: Io,
  { client }: Connection,
): Promise<void> {
  const { signal } = io;
  const find = async <T extends KubeObject>(resource: Resource, named = name) =>
    foundIn(await reading(client.get<T>(resource, named, { signal })));
  const definition = await find<PopulatorDefinition>(POPULATOR_DEFINITIONS);
  const populator = await find<VolumePopulator>(VOLUME_POPULATORS);
  const kind: SourceKind | undefined = definition?.spec.sourceKind ?? populator?.sourceKind;
  if (kind === undefined) {
    throw new StowageError('not-found', `No populator is registered as ${name}`, {
      hint: 'List those that are: stowage get populators',
    });
  }
  const { items } = await listAll<PersistentVolumeClaim>(client, PERSISTENT_VOLUME_CLAIMS, {
    signal,
  });
  const waiting = usesOf(items, kind).filter(({ waits }) => waits);
  if (waiting.length > 0) throw inUse(name, kind, waiting);
  const role = await find<KubeObject>(CLUSTER_ROLES, roleNameOf(name));
  // The definition goes first, as it causes population. Objects of the name that are for another
  // kind, or not Stowage's, stay.
  const toGo: [Resource, KubeObject | undefined][] = [
    [POPULATOR_DEFINITIONS, definition],
    [
      VOLUME_POPULATORS,
      populator && isSameKind(populator.sourceKind, kind) ? populator : undefined,
    ],
    [CLUSTER_ROLES, role && isOurs(role) ? role : undefined],
  ];
  const removed: KubeObject[] = [];
  for (const [resource, object] of toGo) {
    if (object === undefined) continue;
    const { uid } = object.metadata;
    await client.delete(resource, object.metadata.name, {
      signal,
      uid,
      dryRun: dryRun === 'server',
    });
    removed.push(object);
  }
  printDone(
    removed,
    true,
    dryRun === 'server' ? 'removed (server dry run)' : 'removed',
    output,
    io,
  );
}

function inUse(
  name: string,
  kind: SourceKind,
  waiting: readonly { namespace: string; name: string }[],
) {
  const named = waiting.slice(0, MOST_NAMED).map((each) => `${each.namespace}/${each.name}`);
  const more = waiting.length > MOST_NAMED ? ` and ${waiting.length - MOST_NAMED} more` : '';
  return new StowageError(
    'conflict',
    `Claims wait to be filled from ${kindText(kind)}: ${named.join(', ')}${more}`,
    {
      hint: 'Wait until they are bound, or delete them. To list them: stowage get populators',
      object: { kind: POPULATOR_DEFINITIONS.kind, name },
    },
  );
}
