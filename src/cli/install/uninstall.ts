import { StowageError } from '../../api/errors.ts';
import type { KubeObject } from '../../api/meta.ts';
import { COMPONENT } from '../../api/names.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, DEPLOYMENTS, NAMESPACES } from '../../api/resources.ts';
import { listAll } from '../../kube/client.ts';
import type { Connection } from '../../kube/connect.ts';
import { COMPONENTS, type Component } from '../lib/components.ts';
import type { Io } from '../lib/io.ts';
import { MANAGED_BY } from '../lib/objects/installed-labels.ts';
import { printable } from '../lib/output/printable.ts';
import { confirm } from '../lib/prompts/confirm.ts';
import { refuseHeld } from './crd-in-use.ts';
import { leftByDaemons } from './daemon-objects.ts';
import { othersIn } from './foreign-objects.ts';
import { type Installed, installedOf } from './installed-objects.ts';
import { findOperators, startOf } from './metalk8s/operator.ts';
import { removeObject } from './remove.ts';
import { titleOf } from './wanted.ts';

const SHOWN = 5;

export interface UninstallFlags {
  components?: Component[];
  dryRun: 'none' | 'client' | 'server';
  yes?: boolean;
}

/**
 * Runs `stowage uninstall`: removes objects that `install` created. Storage on nodes,
 * PersistentVolumes, storage classes, and namespaces with other objects stay. Throws a StowageError
 * `conflict` if a definition still has objects; nothing is removed then.
 */
export async function uninstall(
  flags: UninstallFlags,
  io: Io,
  connection: Pick<Connection, 'client' | 'transport'>,
): Promise<void> {
  const { client } = connection;
  const components = flags.components ?? COMPONENTS;
  const { signal } = io;
  const found: Installed[] = [];
  // Removes the daemon before the objects that it needs.
  for (const component of COMPONENTS.toReversed().filter((name) => components.includes(name))) {
    found.push(...(await installedOf(client, component, signal)));
  }
  if (components.includes('deployment')) {
    const daemons = found.filter(({ resource }) => resource === DEPLOYMENTS);
    const gone = new Set(daemons.map(({ object }) => object.metadata.namespace ?? ''));
    found.push(...(await leftByDaemons(client, { gone }, io.clock.timeOfDay(), signal)));
  }
  const definitions = found.filter(({ resource }) => resource === CUSTOM_RESOURCE_DEFINITIONS);
  const mine = new Set(found.map(({ object }) => object.metadata.uid ?? ''));
  await refuseHeld(client, definitions, mine, signal);
  if (components.includes('rbac') && components.includes('deployment')) {
    found.push(...(await emptyNamespaces(connection, mine, io)));
  }
  if (found.length === 0) {
    io.stderr.write('no objects of stowage install found\n');
    return;
  }
  if (flags.dryRun === 'none') {
    const losses = found.map(({ resource, object }) => titleOf(resource, object));
    await confirm(
      io,
      { losses, question: 'Remove all of these?', refusal: 'This would be removed' },
      flags,
    );
  }
  for (const installed of found) {
    // Objects may have been created meanwhile.
    if (definitions.includes(installed)) await refuseHeld(client, [installed], mine, signal);
    if (
      installed.resource === NAMESPACES &&
      !(await isEmpty(installed.object, connection, mine, io))
    )
      continue;
    if (flags.dryRun !== 'client') {
      await removeObject(client, installed, { dryRun: flags.dryRun === 'server', signal });
    }
    const how = flags.dryRun === 'none' ? '' : ` (${flags.dryRun} dry run)`;
    io.stderr.write(`${printable(titleOf(installed.resource, installed.object))} removed${how}\n`);
  }
  if (!components.includes('deployment')) return;
  for (const operator of await findOperators(client, signal)) {
    const start = startOf(operator);
    if (start === undefined) continue;
    const note = `note: no controller manages Volumes now. To start MetalK8s's operator again, which the take-over stopped: ${start}`;
    io.stderr.write(`${printable(note)}\n`);
  }
}

/** Returns namespaces that `install` created and that contain nothing else; reports the others. */
async function emptyNamespaces(
  connection: Pick<Connection, 'client' | 'transport'>,
  mine: Set<string>,
  io: Io,
): Promise<Installed[]> {
  const { signal } = io;
  const labelSelector = `${MANAGED_BY}=${COMPONENT}`;
  const { items } = await listAll<KubeObject>(connection.client, NAMESPACES, {
    labelSelector,
    signal,
  });
  const empty: Installed[] = [];
  for (const object of items) {
    if (await isEmpty(object, connection, mine, io)) empty.push({ resource: NAMESPACES, object });
  }
  return empty;
}

/** Reports whether a namespace has only Stowage's objects. Prints why it stays otherwise. */
async function isEmpty(
  object: KubeObject,
  connection: Pick<Connection, 'client' | 'transport'>,
  mine: Set<string>,
  io: Io,
): Promise<boolean> {
  const { name } = object.metadata;
  const stays = (why: string) =>
    void io.stderr.write(printable(`namespace/${name} stays: ${why}`).concat('\n'));
  try {
    const others = await othersIn(connection, name, mine, io.signal);
    if (others.length === 0) return true;
    const shown = others
      .slice(0, SHOWN)
      .map((one) => `${one.resource.kind.toLowerCase()}/${one.object.metadata.name}`);
    const more = others.length > SHOWN ? ` and ${others.length - SHOWN} more` : '';
    stays(
      `it has objects that Stowage did not create: ${shown.join(', ')}${more}. To delete it with all of them: kubectl delete namespace ${name}`,
    );
  } catch (error) {
    if (!(error instanceof StowageError)) throw error;
    stays(`cannot check for objects that Stowage did not create: ${error.message}`);
  }
  return false;
}
