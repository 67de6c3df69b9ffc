import { StowageError } from '../../api/errors.ts';
import type { KubeObject } from '../../api/meta.ts';
import { listAll } from '../../kube/client.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { Definition } from './crd.ts';
import type { Installed } from './installed-objects.ts';

const SHOWN = 5;

/**
 * Throws a StowageError `conflict` that lists objects of the definitions, which would be deleted
 * with them. Ignores Stowage's own objects, given by UID.
 */
export async function refuseHeld(
  client: Pick<KubeClient, 'list'>,
  definitions: readonly Installed[],
  mine: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<void> {
  const found: string[] = [];
  for (const { object } of definitions) {
    const names = await namesOf(client, object as Definition, mine, signal);
    if (names.length === 0) continue;
    const more = names.length > SHOWN ? ', …' : '';
    const { kind } = (object as Definition).spec.names;
    found.push(
      `${names.length} ${kind}${names.length === 1 ? '' : 's'} (${names.slice(0, SHOWN).join(', ')}${more})`,
    );
  }
  if (found.length === 0) return;
  throw new StowageError(
    'conflict',
    `CRDs that have objects are not removed: there are ${found.join(' and ')}`,
    {
      hint: 'Delete them while the daemon still runs: stowage delete volume NAME --wait; kubectl delete KIND NAME. Or keep the CRDs and their objects: stowage uninstall --components rbac,deployment',
    },
  );
}

async function namesOf(
  client: Pick<KubeClient, 'list'>,
  { spec }: Definition,
  mine: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<string[]> {
  const { group, names, scope, versions } = spec;
  const served = versions.find(({ storage }) => storage)?.name ?? '';
  const resource = { group, version: served, ...names, namespaced: scope === 'Namespaced' };
  try {
    const { items } = await listAll<KubeObject>(client, resource, { signal });
    return items
      .filter(({ metadata }) => !mine.has(metadata.uid ?? ''))
      .map(({ metadata: { namespace, name } }) =>
        namespace === undefined ? name : `${namespace}/${name}`,
      )
      .sort();
  } catch (error) {
    // A definition that was never established has no objects.
    if (isNotFound(error)) return [];
    throw error;
  }
}
