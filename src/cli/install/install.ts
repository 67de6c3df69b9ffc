import type { KubeObject } from '../../api/meta.ts';
import type { KubeClient } from '../../kube/types.ts';
import { waitFor } from '../../kube/wait.ts';
import type { Io } from '../io.ts';
import { printable } from '../output/printable.ts';
import { type ApplyOptions, apply } from './apply.ts';
import { COMPONENTS, type Component } from './components.ts';
import { type Definition, isEstablished } from './crd.ts';
import { SSH_SECRET } from './deployment.ts';
import { type Installed, installedOf } from './installed.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, DEPLOYMENTS, NAMESPACES } from './kinds.ts';
import { IMAGE, manifestOf, NAMESPACE, wantedObjects } from './objects.ts';
import { removeObject } from './remove.ts';
import { titleOf, type Wanted } from './wanted.ts';

export interface InstallFlags {
  components?: Component[];
  dryRun: 'none' | 'client' | 'server';
  image?: string;
  namespace?: string;
}

/** API servers take a second; one that is busy, some more. ms */
const ESTABLISHED_WITHIN = 60_000;

/** `stowage install`. Run again it goes on where it was. Throws what the server refuses, and what is not ours to change. */
export async function install(
  flags: InstallFlags,
  io: Io,
  connect: () => Promise<KubeClient>,
): Promise<void> {
  const components = flags.components ?? COMPONENTS;
  const objects = wantedObjects({
    components,
    namespace: flags.namespace ?? NAMESPACE,
    image: flags.image ?? IMAGE,
  });
  if (flags.dryRun === 'client') {
    io.stdout.write(manifestOf(objects));
    return;
  }
  const client = await connect();
  const options = { dryRun: flags.dryRun === 'server', signal: io.signal };
  const say = (resource: Installed['resource'], object: KubeObject, what: string) =>
    io.stderr.write(
      `${printable(titleOf(resource, object))} ${what}${options.dryRun ? ' (server dry run)' : ''}\n`,
    );

  let namespaceIsThere = true;
  for (const wanted of objects) {
    const { resource, object } = wanted;
    // Two daemons with Leases in different namespaces would both lead: the other one goes first.
    if (resource === DEPLOYMENTS) await prune('deployment');
    if (!namespaceIsThere && object.metadata.namespace === (flags.namespace ?? NAMESPACE)) {
      say(resource, object, 'created, unchecked: its namespace is not there yet');
      continue;
    }
    const outcome = await apply(client, wanted, options);
    if (resource === NAMESPACES && outcome === 'created') namespaceIsThere = !options.dryRun;
    if (resource === CUSTOM_RESOURCE_DEFINITIONS && !options.dryRun) await established(client, object, io);
    say(resource, object, outcome);
    if (resource === DEPLOYMENTS && outcome === 'created') {
      io.stderr.write(`note: its pod starts when the Secret ${SSH_SECRET} is in that namespace, too\n`);
    }
  }
  if (components.includes('rbac')) await prune('rbac');

  async function prune(component: Component): Promise<void> {
    for (const installed of await unwanted(client, component, objects, options)) {
      await removeObject(client, installed, options);
      say(installed.resource, installed.object, 'removed');
    }
  }
}

/** What an earlier set had, and this one has not. Definitions are never among it, for they hold objects. */
async function unwanted(
  client: KubeClient,
  component: Component,
  objects: readonly Wanted[],
  { signal }: ApplyOptions,
): Promise<Installed[]> {
  const wanted = new Set(objects.map(({ resource, object }) => titleOf(resource, object)));
  return (await installedOf(client, component, signal)).filter(
    ({ resource, object }) => !wanted.has(titleOf(resource, object)),
  );
}

/** A daemon that is started before its kinds are served would begin with failures. */
async function established(client: KubeClient, { metadata }: KubeObject, io: Io): Promise<void> {
  await waitFor<Definition>(client, CUSTOM_RESOURCE_DEFINITIONS, metadata.name, {
    until: (definition) => definition !== undefined && isEstablished(definition),
    timeoutMs: ESTABLISHED_WITHIN,
    clock: io.clock,
    signal: io.signal,
  });
}
