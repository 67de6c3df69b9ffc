import { StowageError } from '../../api/errors.ts';
import { leadingBeside } from '../../api/leader.ts';
import type { KubeObject } from '../../api/meta.ts';
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  DEPLOYMENTS,
  NAMESPACES,
  VOLUME_POPULATORS,
} from '../../api/resources.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { KubeClient } from '../../kube/types.ts';
import { waitFor } from '../../kube/wait.ts';
import { commandLine } from '../lib/command-line.ts';
import { type Component, OWN_COMPONENTS } from '../lib/components.ts';
import type { Io } from '../lib/io.ts';
import { readLeases } from '../lib/leaders.ts';
import { printable } from '../lib/output/printable.ts';
import { foundIn } from '../lib/read-result.ts';
import { apply, LEFT_AS_IT_IS, type Outcome, rehearse } from './apply.ts';
import { type Definition, isEstablished } from './crd.ts';
import { leftByDaemons } from './daemon-objects.ts';
import { type Installed, installedOf } from './installed-objects.ts';
import { refuseBesideOperator } from './metalk8s/operator.ts';
import {
  accountPlaces,
  boundNamespaces,
  daemonsAmong,
  placeOf,
  refuseHalfMove,
  waitUntilGone,
} from './move.ts';
import { nodeAccess } from './node-access.ts';
import { IMAGE, manifestOf, NAMESPACE, wantedObjects } from './objects.ts';
import { podRefusal, throwRefusal, withLabelsHint } from './pod-admission.ts';
import { removeObject } from './remove.ts';
import { oddVersions } from './standard.ts';
import { keptValues, settleValues, type Values } from './values.ts';
import { titleOf, type Wanted } from './wanted.ts';

export interface InstallFlags {
  components?: Component[];
  dryRun: 'none' | 'client' | 'server';
  image?: string;
  namespace?: string;
  /** Settings of the daemon from this run; those of earlier runs stay. */
  values?: Values;
  /** Drops the settings of earlier runs. */
  resetValues?: boolean;
  /** Skips the check for MetalK8s's operator: the rehearsed run stops the operator first. */
  besideOperator?: boolean;
}

/** Timeout in ms. API servers take a second, busy ones longer. */
const ESTABLISHED_WITHIN = 60_000;

/**
 * Runs `stowage install`. A repeated run continues where the last one stopped. Throws refusals of
 * the server, and errors for objects that Stowage may not change.
 */
export async function install(
  flags: InstallFlags,
  io: Io,
  connect: () => Promise<KubeClient>,
): Promise<void> {
  const components = flags.components ?? OWN_COMPONENTS;
  const { namespace = NAMESPACE, image = IMAGE } = flags;
  const { values: given = {} } = flags;
  const { labels: _, ...ofDaemon } = given;
  if (Object.keys(ofDaemon).length > 0 && !components.includes('deployment')) {
    throw new StowageError('usage', 'Settings of the daemon require the component deployment');
  }
  if (flags.dryRun === 'client') {
    const values = settleValues({}, given);
    io.stdout.write(manifestOf(wantedObjects({ components, namespace, image, values })));
    return;
  }
  const client = await connect();
  const options = { dryRun: flags.dryRun === 'server', signal: io.signal };
  const report = (resource: Installed['resource'], object: KubeObject, what: string) =>
    io.stderr.write(
      `${printable(titleOf(resource, object))} ${what}${options.dryRun ? ' (server dry run)' : ''}\n`,
    );

  const needsDaemon = components.includes('rbac') || components.includes('deployment');
  const before = needsDaemon ? await installedOf(client, 'deployment', io.signal) : [];
  const bound = needsDaemon ? await boundNamespaces(client, io.signal) : new Set<string>();
  const daemons = daemonsAmong(before, bound, namespace);
  refuseHalfMove(daemons, components, namespace);
  if (components.includes('deployment')) await refuseBesideLeader(client, daemons, namespace, io);
  const values = settledValues(daemons, flags);
  const objects = wantedObjects({ components, namespace, image, values });
  if (components.includes('deployment') && !flags.besideOperator) {
    await refuseBesideOperator(client, io.signal);
  }

  // Definitions and namespaces come first: the server needs them to check the other objects.
  const isBasis = ({ resource }: Wanted) =>
    resource === CUSTOM_RESOURCE_DEFINITIONS || resource === NAMESPACES;
  let namespaceIsThere = true;
  let deploymentIsNew = false;
  for (const wanted of objects.filter(isBasis)) await make(wanted);
  const rest = objects.filter((wanted) => !isBasis(wanted));
  // Checks all objects before anything is removed.
  if (!options.dryRun)
    for (const wanted of rest) await withLabelsHint(rehearse(client, wanted, io.signal));
  // Two daemons with Leases in different namespaces would both lead: the other one is removed
  // first, and its rights only after it.
  if (components.includes('deployment')) await removeDaemons();
  const deployment = rest.find(({ resource }) => resource === DEPLOYMENTS);
  let refusal: Awaited<ReturnType<typeof podRefusal>>;
  for (const wanted of rest) {
    if (wanted === deployment && !options.dryRun)
      refusal = await podRefusal(client, wanted, io.signal);
    await make(wanted);
  }
  if (components.includes('deployment')) {
    await remove(before.filter(({ resource }) => resource !== DEPLOYMENTS));
    // No daemon would update CSIStorageCapacities of a removed daemon again.
    const gone = new Set<string>();
    for (const each of await leftByDaemons(
      client,
      { keep: namespace, gone },
      io.clock.timeOfDay(),
      io.signal,
    )) {
      await removeObject(client, each, options);
      report(each.resource, each.object, 'removed');
    }
  }
  if (components.includes('rbac')) await remove(await installedOf(client, 'rbac', io.signal));
  if (deployment !== undefined) throwRefusal(refusal, deployment, deploymentIsNew);

  /** Removes installed objects that this run does not want. */
  async function remove(installed: readonly Installed[]): Promise<void> {
    for (const each of unwanted(installed, objects)) {
      await removeObject(client, each, options);
      report(each.resource, each.object, 'removed');
    }
  }

  async function make(wanted: Wanted): Promise<void> {
    const { resource, object } = wanted;
    if (!namespaceIsThere && object.metadata.namespace === namespace) {
      report(resource, object, 'created, unchecked: its namespace does not exist yet');
      return;
    }
    const outcome = await applied(wanted);
    if (outcome === undefined) {
      report(resource, object, 'created, unchecked: its kind does not exist yet');
      return;
    }
    if (outcome === LEFT_AS_IT_IS) {
      report(resource, object, `${outcome}: it is not managed by Stowage`);
      const note = await oddVersions(client, wanted, io.signal);
      if (note !== undefined) io.stderr.write(`note: ${printable(note)}\n`);
      return;
    }
    if (resource === NAMESPACES && outcome === 'created') namespaceIsThere = !options.dryRun;
    if (resource === CUSTOM_RESOURCE_DEFINITIONS && !options.dryRun)
      await established(client, object, io);
    report(resource, object, outcome);
    if (resource === DEPLOYMENTS && outcome === 'created') {
      deploymentIsNew = true;
      const { needs } = nodeAccess(namespace, values);
      const what = needs.map((each) => `the ${each}`).join(' and ');
      if (needs.length > 0)
        io.stderr.write(
          `note: its pod starts once ${what} ${needs.length > 1 ? 'exist' : 'exists'} in that namespace\n`,
        );
    }
  }

  /** Returns undefined if a dry run cannot know: the kind would be created before. */
  async function applied(wanted: Wanted): Promise<Outcome | undefined> {
    try {
      return await withLabelsHint(apply(client, wanted, options));
    } catch (error) {
      if (options.dryRun && wanted.resource === VOLUME_POPULATORS && isNotFound(error))
        return undefined;
      throw error;
    }
  }

  async function removeDaemons(): Promise<void> {
    for (const installed of unwanted(daemons, objects)) {
      await removeObject(client, installed, { ...options, propagationPolicy: 'Foreground' });
      if (!options.dryRun)
        await waitUntilGone(client, placeOf(installed.object), installed.object, io);
      report(installed.resource, installed.object, 'removed');
    }
    if (options.dryRun) return;
    const accounts = await installedOf(client, 'rbac', io.signal);
    const places = accountPlaces(accounts, namespace).filter((place) => bound.has(place.namespace));
    for (const place of places) await waitUntilGone(client, place, undefined, io);
  }
}

/** Throws a StowageError `conflict` if a daemon leads in another namespace and is not removed. */
async function refuseBesideLeader(
  client: KubeClient,
  daemons: readonly Installed[],
  namespace: string,
  { clock, signal }: Io,
): Promise<void> {
  const leases = foundIn(await readLeases(client, signal)) ?? [];
  const moved = daemons.map(({ object }) => object.metadata.namespace);
  const [beside] = leadingBeside(leases, namespace, clock.timeOfDay()).filter(
    ({ metadata }) => !moved.includes(metadata.namespace),
  );
  if (beside === undefined) return;
  const lease = `${beside.metadata.namespace}/${beside.metadata.name}`;
  throw new StowageError(
    'conflict',
    `A daemon already leads, with the Lease ${lease} (${beside.spec?.holderIdentity}): another one in namespace ${namespace} would act on the same nodes`,
    {
      hint: `Stop that daemon first. If none runs there, another user with write access to that namespace created the Lease; delete it: ${commandLine('kubectl', 'delete', 'lease', beside.metadata.name, '-n', beside.metadata.namespace ?? '')}`,
    },
  );
}

/** Returns the daemon's settings, from this run and installed `daemons`. Throws a StowageError. */
export function settledValues(daemons: readonly Installed[], flags: InstallFlags): Values {
  const { namespace = NAMESPACE, values = {}, resetValues } = flags;
  const earlier =
    daemons.find(({ object }) => object.metadata.namespace === namespace) ?? daemons[0];
  return settleValues(
    earlier === undefined || resetValues ? {} : keptValues(earlier.object),
    values,
  );
}

/** Returns unwanted installed objects. Never called with definitions, which hold objects. */
function unwanted(installed: readonly Installed[], objects: readonly Wanted[]): Installed[] {
  const wanted = new Set(objects.map(({ resource, object }) => titleOf(resource, object)));
  return installed.filter(({ resource, object }) => !wanted.has(titleOf(resource, object)));
}

/** Waits for a definition to be established: without served kinds, a daemon fails at first. */
async function established(client: KubeClient, { metadata }: KubeObject, io: Io): Promise<void> {
  await waitFor<Definition>(client, CUSTOM_RESOURCE_DEFINITIONS, metadata.name, {
    until: (definition) => definition !== undefined && isEstablished(definition),
    timeoutMs: ESTABLISHED_WITHIN,
    clock: io.clock,
    signal: io.signal,
  });
}
