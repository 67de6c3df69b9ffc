import type { PersistentVolumeClaim } from '../../api/core.ts';
import { isDnsSubdomain } from '../../api/dns-name.ts';
import type { KubeObject } from '../../api/meta.ts';
import { POPULATOR_EVENT } from '../../api/names.ts';
import { kindText, type PopulatorDefinition } from '../../api/populator.ts';
import { type Explanation, explain } from '../../api/reasons.ts';
import { ApiError, isNotFound } from '../../kube/errors.ts';
import type { KubeClient } from '../../kube/types.ts';
import { sourceReference } from '../../model/data-source/reference.ts';
import { resourceOf } from '../../model/populator-definition.ts';
import type { SourceFound } from './types.ts';

/** Reference to an object in another namespace. */
export interface Reference {
  from: { group: string; kind: string; namespace: string };
  to: { group: string; kind: string; namespace: string; name: string };
}

export interface SourceDeps {
  client: Pick<KubeClient, 'get'>;
  /** Permits claims to name objects in other namespaces. */
  crossNamespace: boolean;
  /** Reports by live reads whether a ReferenceGrant allows the reference. */
  isGranted(reference: Reference): Promise<boolean>;
}

/**
 * Reads the object that a claim is filled from. For another namespace, checks the grant first:
 * without one, the result reveals nothing about that namespace. Throws other errors of the API
 * server.
 */
export async function findSource(
  claim: PersistentVolumeClaim,
  definition: PopulatorDefinition,
  { client, crossNamespace, isGranted }: SourceDeps,
): Promise<SourceFound> {
  const wanted = sourceReference(claim);
  if (wanted === undefined) throw new Error(`claim ${claim.metadata.name} has no data source`);
  const { group, kind, namespace, name } = wanted;
  const resource = resourceOf(definition);
  const own = claim.metadata.namespace ?? '';
  const what = { kind, source: `${resource.namespaced ? `${namespace}/` : ''}${name}` };
  if (wanted.crossNamespace) {
    if (!resource.namespaced) {
      return refused(explain('SourceNotNamespaced', { ...what, namespace }));
    }
    if (!crossNamespace) return refused(explain('PopulatorGateOff', { ...what, namespace: own }));
    const from = { group: '', kind: 'PersistentVolumeClaim', namespace: own };
    if (!(await isGranted({ from, to: { group, kind, namespace, name } }))) {
      const asked = { ...what, claim: `${own}/${claim.metadata.name}`, from: from.kind };
      return refused(explain('GrantMissing', { ...asked, own, namespace, group }));
    }
  }
  if (!isDnsSubdomain(name)) return notFound(explain('SourceMissing', what));
  try {
    const object = await client.get<KubeObject>(
      resource,
      name,
      resource.namespaced ? { namespace } : {},
    );
    return object.metadata.deletionTimestamp === undefined
      ? { is: 'ready', object: { ...object, kind } }
      : notFound(explain('SourceBeingDeleted', what));
  } catch (error) {
    if (isNotFound(error)) {
      // A missing object names itself; a missing kind does not.
      if (error.status.details?.name !== undefined) {
        return notFound(explain('SourceMissing', what));
      }
      const named = { version: resource.version, definition: definition.metadata.name };
      return refused(explain('KindNotServed', { plural: resource.plural, group, ...named }));
    }
    if (error instanceof ApiError && error.statusCode === 403) {
      const unread = { plural: resource.plural, group, kind: kindText(wanted) };
      return refused(explain('KindForbidden', unread));
    }
    throw error;
  }
}

const refused = (why: Explanation): SourceFound => ({
  is: 'waits',
  event: { type: 'Warning', reason: POPULATOR_EVENT.sourceRefused, ...why },
});

const notFound = (why: Explanation): SourceFound => ({
  is: 'waits',
  event: { type: 'Warning', reason: POPULATOR_EVENT.sourceNotFound, ...why },
});
