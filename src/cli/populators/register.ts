import { isDeepStrictEqual } from 'node:util';
import type { Command } from 'commander';
import { BUILTIN_KINDS } from '../../api/builtins/table.ts';
import { StowageError } from '../../api/errors.ts';
import type { KubeObject, Resource } from '../../api/meta.ts';
import type { PopulatorDefinition, PopulatorPod, SourceKind } from '../../api/populator.ts';
import { BUILTINS, type Builtin, kindText } from '../../api/populator.ts';
import { VOLUME_POPULATORS } from '../../api/resources.ts';
import type { Connection } from '../../kube/connect.ts';
import { servedKind } from '../../kube/discovery.ts';
import { isAlreadyExists, isNotFound } from '../../kube/errors.ts';
import { problemOf } from '../../model/populator-definition.ts';
import type { Io } from '../lib/io.ts';
import { printDone } from '../lib/objects/print.ts';
import { written } from '../lib/wizard/ask.ts';
import type { RegisterFlags } from './flags.ts';
import { objectsOf, type Wanted } from './manifest.ts';
import { agreeToRegister, complete, type Given } from './wizard.ts';

/**
 * Runs `stowage register populator`: registers a kind of data source with its populator, and lets
 * the daemon read objects of the kind. A repeated run changes the populator. Prompts for missing
 * values on a terminal. Throws a StowageError: `conflict` if the name is registered for another
 * kind.
 */
export async function register(
  given: Given,
  command: Command,
  io: Io,
  connect: () => Promise<Connection>,
): Promise<void> {
  const { answers: flags, asked } = await complete(given, command, io, connect);
  const { name } = flags;
  const client = flags.dryRun === 'client';
  const { sourceKind, by, own } = wayOf(flags);
  const resource = own ?? (await resourceOf(sourceKind, flags, client ? undefined : connect, io));
  const wanted: Wanted = { name, sourceKind, resource, by };
  const objects = objectsOf(wanted);
  const problem = problemOf(objects.at(-1)?.object as PopulatorDefinition);
  if (problem !== undefined)
    throw new StowageError('usage', `PopulatorDefinition ${name}: ${problem}`);
  if (client) {
    return printDone(
      objects.map(({ object }) => object),
      true,
      'registered (dry run)',
      flags.output,
      io,
    );
  }
  const connection = await connect();
  if (asked && flags.dryRun === 'none') {
    // Shows a refusal of the server before the question.
    for (const each of objects) await ensure(each, true, connection, io);
    await agreeToRegister(
      name,
      objects.map(({ object }) => object),
      flags,
      io,
    );
  }
  const made: KubeObject[] = [];
  // A kind without a populator is worse than none: creates nothing unless all is allowed.
  for (const each of objects) made.push(await ensure(each, true, connection, io));
  if (flags.dryRun === 'none') {
    made.length = 0;
    for (const each of objects) made.push(await ensure(each, false, connection, io));
  }
  const did = flags.dryRun === 'server' ? 'registered (server dry run)' : 'registered';
  printDone(made, true, did, flags.output, io);
}

function podOf(image: string, flags: RegisterFlags): PopulatorPod {
  const { request, limit, secret, env, runAsUser, capability } = flags;
  return {
    image,
    ...(flags.command && { command: flags.command }),
    ...(flags.arg && { args: flags.arg }),
    ...(env && { env }),
    ...(secret && { secrets: secret }),
    ...(flags.serviceAccount && { serviceAccountName: flags.serviceAccount }),
    ...((request ?? limit) && {
      resources: { ...(request && { requests: request }), ...(limit && { limits: limit }) },
    }),
    ...(flags.toleration && { tolerations: flags.toleration }),
    ...(flags.nodeSelector && { nodeSelector: flags.nodeSelector }),
    ...(runAsUser !== undefined && { securityContext: { runAsUser } }),
    ...(capability && { containerSecurityContext: { capabilities: { add: capability } } }),
    ...(flags.mountPath && { mountPath: flags.mountPath }),
    ...(flags.devicePath && { devicePath: flags.devicePath }),
  };
}

/** Flags that apply to pods only. */
const OF_PODS = [
  ...(['command', 'arg', 'env', 'secret', 'serviceAccount', 'request', 'limit'] as const),
  ...(['runAsUser', 'capability', 'toleration', 'nodeSelector'] as const),
  ...(['mountPath', 'devicePath'] as const),
] as const;

/** Returns the populator: a pod, or a built-in, with the resource of its `own` kind if used. */
function wayOf(
  flags: RegisterFlags,
): Pick<Wanted, 'sourceKind' | 'by'> & { own?: Wanted['resource'] } {
  const { node, image, group, kind } = flags;
  if ((node === undefined) === (image === undefined)) {
    throw new StowageError('usage', 'Volumes are filled either by a pod or on their node', {
      hint: `Give either --image or --node (${BUILTINS.join(', ')})`,
    });
  }
  if (image !== undefined) {
    if (group === undefined || kind === undefined) {
      throw new StowageError('usage', '--image requires --group and --kind');
    }
    return { sourceKind: { group, kind }, by: { pod: podOf(image, flags) } };
  }
  const builtin = node as Builtin;
  const odd = OF_PODS.find((flag) => flags[flag] !== undefined);
  if (odd !== undefined) {
    throw new StowageError(
      'usage',
      `${written(odd)} is for pods only, and the built-in ${builtin} runs on the node`,
    );
  }
  const of = BUILTIN_KINDS[builtin]?.resource;
  if (of === undefined)
    throw new StowageError('usage', `This version of stowage has no built-in ${builtin}`);
  const by = { node: { builtin } };
  if (group !== undefined || kind !== undefined) {
    return { sourceKind: { group: group ?? of.group, kind: kind ?? of.kind }, by };
  }
  const { version, plural } = of;
  return {
    ...{ sourceKind: { group: of.group, kind: of.kind }, by },
    own: { version, plural, scope: 'Namespaced' },
  };
}

/** Returns the resource from flags, else as the API server serves the kind. */
async function resourceOf(
  kind: SourceKind,
  { apiVersion, resource, clusterScoped }: RegisterFlags,
  connect: (() => Promise<Connection>) | undefined,
  { signal }: Io,
): Promise<PopulatorDefinition['spec']['resource']> {
  if (apiVersion !== undefined && resource !== undefined) {
    return {
      version: apiVersion,
      plural: resource,
      scope: clusterScoped ? 'Cluster' : 'Namespaced',
    };
  }
  const served = connect && (await servedKind((await connect()).transport, kind, signal));
  if (served === undefined) {
    const why = connect === undefined ? 'no server is queried' : 'the API server does not serve it';
    throw new StowageError('usage', `The resource of kind ${kindText(kind)} is not known: ${why}`, {
      hint: 'Set --api-version and --resource, for example: --api-version v1 --resource hellos',
    });
  }
  return {
    version: apiVersion ?? served.version,
    plural: resource ?? served.plural,
    scope: served.namespaced ? 'Namespaced' : 'Cluster',
  };
}

/** Creates an object, or updates the existing one, except its kind: volumes may be using it. */
async function ensure(
  { resource, object }: { resource: Resource; object: KubeObject },
  dryRun: boolean,
  { client }: Connection,
  { signal }: Io,
): Promise<KubeObject> {
  const { name } = object.metadata;
  try {
    return await client.create(resource, object, { signal, dryRun, strict: true });
  } catch (error) {
    if (isNotFound(error)) throw notServed(resource, error);
    if (!isAlreadyExists(error)) throw error;
  }
  const there = await client.get<KubeObject>(resource, name, { signal });
  const [before, wanted] = [kindOf(there), kindOf(object)];
  if (before !== undefined && !isDeepStrictEqual(before, wanted)) {
    throw new StowageError(
      'conflict',
      `${resource.kind} ${name} already exists, for ${kindText(before)}`,
      {
        hint: `Register ${wanted === undefined ? 'it' : kindText(wanted)} under another name, or first run: stowage unregister populator ${name}`,
        object: { kind: resource.kind, name },
      },
    );
  }
  const fields = Object.entries(object).filter(
    ([key]) => !['apiVersion', 'kind', 'metadata'].includes(key),
  );
  const patch = [
    { op: 'test', path: '/metadata/resourceVersion', value: there.metadata.resourceVersion },
    ...fields.map(([key, value]) => ({ op: 'add', path: `/${key}`, value })),
  ];
  return client.patch<KubeObject>(resource, name, patch, { signal, dryRun, type: 'json' });
}

/** Returns the error for a missing kind: no namespace can be missing, as the objects have none. */
function notServed({ kind, group, plural }: Resource, cause: unknown): StowageError {
  const component = group === VOLUME_POPULATORS.group ? 'populator-crds' : 'crds';
  return new StowageError('not-found', `The API server has no ${kind} (${plural}.${group})`, {
    hint: `Install its definition: stowage install --components ${component}`,
    cause,
  });
}

function kindOf(object: KubeObject): SourceKind | undefined {
  const { sourceKind, spec } = object as {
    sourceKind?: SourceKind;
    spec?: { sourceKind?: SourceKind };
  };
  return sourceKind ?? spec?.sourceKind;
}
