import type { KubeObject } from '../../api/meta.ts';
import { COMPONENT } from '../../api/names.ts';
import { PERSISTENT_VOLUME_CLAIMS } from '../../api/resources.ts';
import { listAll } from '../../kube/client.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { Io } from '../io.ts';
import { printable } from '../output/printable.ts';
import { confirm } from '../prompts/confirm.ts';
import { COMPONENTS, type Component } from './components.ts';
import { refuseHeld } from './held.ts';
import { type Installed, installedOf } from './installed.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES } from './kinds.ts';
import { MANAGED_BY } from './labels.ts';
import { removeObject } from './remove.ts';
import { titleOf } from './wanted.ts';

export interface UninstallFlags {
  components?: Component[];
  dryRun: 'none' | 'client' | 'server';
  yes?: boolean;
}

/**
 * `stowage uninstall`: removes what `install` made. Storage on nodes, PersistentVolumes and storage classes stay. Throws
 * a StowageError `conflict` where a definition still has objects: then nothing is removed.
 */
export async function uninstall(flags: UninstallFlags, io: Io, client: KubeClient): Promise<void> {
  const components = flags.components ?? COMPONENTS;
  const { signal } = io;
  const found: Installed[] = [];
  // The daemon goes first, and what it needs after it.
  for (const component of COMPONENTS.toReversed().filter((name) => components.includes(name))) {
    found.push(...(await installedOf(client, component, signal)));
  }
  const definitions = found.filter(({ resource }) => resource === CUSTOM_RESOURCE_DEFINITIONS);
  await refuseHeld(client, definitions, signal);
  if (components.includes('rbac') && components.includes('deployment')) {
    found.push(...(await emptyNamespaces(client, io)));
  }
  if (found.length === 0) {
    io.stderr.write('nothing was found that stowage install made\n');
    return;
  }
  if (flags.dryRun === 'none') {
    const losses = found.map(({ resource, object }) => titleOf(resource, object));
    await confirm(io, { losses, question: 'Remove all of these?', refusal: 'This would be removed' }, flags);
  }
  for (const installed of found) {
    // One may have been made meanwhile.
    if (definitions.includes(installed)) await refuseHeld(client, [installed], signal);
    if (flags.dryRun !== 'client') {
      await removeObject(client, installed, { dryRun: flags.dryRun === 'server', signal });
    }
    const how = flags.dryRun === 'none' ? '' : ` (${flags.dryRun} dry run)`;
    io.stderr.write(`${printable(titleOf(installed.resource, installed.object))} removed${how}\n`);
  }
}

/** Namespaces that `install` made, but for those with claims, whose data would go with them. */
async function emptyNamespaces(client: KubeClient, io: Io): Promise<Installed[]> {
  const { signal } = io;
  const labelSelector = `${MANAGED_BY}=${COMPONENT}`;
  const { items } = await listAll<KubeObject>(client, NAMESPACES, { labelSelector, signal });
  const empty: Installed[] = [];
  for (const object of items) {
    const { name } = object.metadata;
    const claims = await client.list(PERSISTENT_VOLUME_CLAIMS, { namespace: name, limit: 1, signal });
    if (claims.items.length === 0) empty.push({ resource: NAMESPACES, object });
    else io.stderr.write(`namespace/${printable(name)} stays, for it has PersistentVolumeClaims\n`);
  }
  return empty;
}
