import { StowageError } from '../../api/errors.ts';
import type { KubeObject } from '../../api/meta.ts';
import { COMPONENT } from '../../api/names.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, DEPLOYMENTS, NAMESPACES } from '../../api/resources.ts';
import { VERSION } from '../../api/version.ts';
import { isOurs, MANAGED_BY, managerOf, VERSION_LABEL } from '../lib/objects/installed-labels.ts';
import { type Definition, versionsAfter } from './crd.ts';
import { deploymentObject } from './deployment.ts';
import { merged, mergePatch } from './merge.ts';
import { isAsInstalled, isStandard, LAST_INSTALLED, lastOf } from './standard.ts';
import { keptValues } from './values.ts';
import { titleOf, type Wanted } from './wanted.ts';

/** Deletes and creates the object: an immutable field differs. */
export const RECREATE = 'recreate';

/** Leaves the object, which has another owner. */
export const LEFT = 'left';

/** Returns an object as created: with a record of itself, except namespaces and own definitions. */
export function asCreated({ resource, component, object }: Wanted): KubeObject {
  const isOwnDefinition = resource === CUSTOM_RESOURCE_DEFINITIONS && !isStandard(component);
  if (isOwnDefinition || resource === NAMESPACES) return object;
  const annotations = { ...object.metadata.annotations, [LAST_INSTALLED]: JSON.stringify(object) };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/**
 * Returns the merge patch that turns an existing object into the wanted one. Returns undefined if
 * nothing differs, `RECREATE` if no patch can do it, and LEFT for an object of a standard kind with
 * another owner. Pure.
 * Throws a StowageError `conflict` if Stowage may not change the object.
 */
export function changeOf(
  current: KubeObject,
  wanted: Wanted,
): object | typeof RECREATE | typeof LEFT | undefined {
  const { resource, component, object } = wanted;
  const title = titleOf(resource, object);
  if (current.metadata.deletionTimestamp !== undefined) {
    throw new StowageError('conflict', `${title} is being deleted`, {
      hint: 'Wait until it is gone, then install again.',
    });
  }
  // An existing namespace is used, but neither changed nor removed later.
  if (resource === NAMESPACES) return undefined;
  if (isStandard(component) && !isAsInstalled(current)) return LEFT;
  refuseOlder(current, title);
  if (resource === CUSTOM_RESOURCE_DEFINITIONS) return definitionChange(current, asCreated(wanted));
  const manager = managerOf(current);
  if (manager !== undefined && !isOurs(current)) {
    throw new StowageError('conflict', `${title} already exists, and is managed by ${manager}`, {
      hint: `Remove it with ${manager}, or, if Stowage may manage it: kubectl label --overwrite ${title.split(' ')[0]}${resource.namespaced ? ` -n ${object.metadata.namespace}` : ''} ${MANAGED_BY}=${COMPONENT}`,
    });
  }
  const change: Fixed | undefined = mergePatch(
    current,
    merged(current, asCreated(wanted), lastOf(current) ?? lastBySettings(current)) as object,
  );
  if (change?.roleRef !== undefined) {
    if (isOurs(current)) return RECREATE;
    throw fixed(
      `${title} already exists, is not managed by Stowage, and binds another role`,
      wanted,
    );
  }
  if (change?.spec?.selector !== undefined) {
    throw fixed(`${title} already exists, and selects other pods, which is immutable`, wanted);
  }
  return change;
}

/**
 * Returns the Deployment that its settings describe: kubectl records no last installation when it
 * applies a printed manifest. Fields that others added stay. Returns undefined for other objects
 * and for unreadable settings.
 */
function lastBySettings(current: KubeObject): KubeObject | undefined {
  const { namespace } = current.metadata;
  if (current.kind !== DEPLOYMENTS.kind || namespace === undefined || !isOurs(current))
    return undefined;
  try {
    return deploymentObject(namespace, '', keptValues(current)).object;
  } catch (error) {
    if (error instanceof StowageError) return undefined;
    throw error;
  }
}

/** Immutable fields in a change. */
interface Fixed {
  roleRef?: unknown;
  spec?: { selector?: unknown };
}

function fixed(message: string, { resource, object }: Wanted): StowageError {
  const name = titleOf(resource, object).split(' ')[0];
  const how =
    resource === DEPLOYMENTS
      ? ` -n ${object.metadata.namespace} --cascade=foreground; or keep it, and install into another namespace with -n`
      : resource.namespaced
        ? ` -n ${object.metadata.namespace}`
        : '';
  return new StowageError('conflict', message, {
    hint: `If it is not needed, delete it, then install again: kubectl delete ${name}${how}`,
  });
}

function definitionChange(current: KubeObject, object: KubeObject): object | undefined {
  const [before, wanted] = [current as Definition, object as Definition];
  // MetalK8s's definition has no label: it stays MetalK8s's, and gets the fields that Stowage adds.
  const metadata = isOurs(current) ? wanted.metadata : before.metadata;
  const spec = { ...wanted.spec, versions: versionsAfter(before, wanted) };
  const rest = merged(
    { metadata: before.metadata, spec: { ...before.spec, versions: [] } },
    { metadata, spec: { ...spec, versions: [] } },
    undefined,
  ) as Definition;
  return mergePatch(before, {
    ...before,
    ...rest,
    spec: { ...rest.spec, versions: spec.versions },
  });
}

/** Throws a StowageError `conflict` for a downgrade: older objects lack fields. */
function refuseOlder(current: KubeObject, title: string): void {
  const installed = isOurs(current) ? current.metadata.labels?.[VERSION_LABEL] : undefined;
  if (installed === undefined || !isNewer(installed, VERSION)) return;
  throw new StowageError(
    'conflict',
    `${title} was installed by Stowage ${installed}; this is ${VERSION}`,
    {
      hint: `Install with ${installed} or later.`,
    },
  );
}

/** Compares versions such as 1.10.2. A text that is no version is not newer. */
export function isNewer(version: string, than: string): boolean {
  const [a, b] = [version, than].map((text) => text.split(/[.+-]/, 3).map(Number)) as [
    number[],
    number[],
  ];
  for (const [index, number] of a.entries()) {
    const other = b[index] ?? 0;
    if (number !== other) return number > other;
  }
  return false;
}
