import type { PersistentVolumeClaim } from '../../api/core.ts';
import { isDnsSubdomain } from '../../api/dns-name.ts';
import type { KubeObject } from '../../api/meta.ts';
import { POPULATOR_EVENT } from '../../api/names.ts';
import { kindText, type PopulatorDefinition } from '../../api/populator.ts';
import { ApiError, isNotFound } from '../../kube/errors.ts';
import type { KubeClient } from '../../kube/types.ts';
import { sourceReference } from '../../model/data-source/reference.ts';
import { resourceOf } from '../../model/populator-definition.ts';
import type { SourceFound } from './types.ts';

/** Who refers to what in another namespace. */
export interface Reference {
  from: { group: string; kind: string; namespace: string };
  to: { group: string; kind: string; namespace: string; name: string };
}

export interface SourceDeps {
  client: Pick<KubeClient, 'get'>;
  /** Whether claims may name other namespaces. */
  crossNamespace: boolean;
  /** Whether a ReferenceGrant allows it, by a live read. */
  isGranted(reference: Reference): Promise<boolean>;
}

/**
 * What a claim is filled from, by a live read. Of another namespace the grant is looked for first, so that without one nothing is said of
 * what is there. Throws what the API server answers otherwise.
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
  const what = `${kind} ${resource.namespaced ? `${namespace}/` : ''}${name}`;
  if (wanted.crossNamespace) {
    if (!resource.namespaced) {
      return refused(`${what} is in no namespace, and the claim names namespace ${namespace}`);
    }
    if (!crossNamespace) {
      return refused(
        `${what} is in another namespace than ${own}, which this daemon does not follow. Switch the gate CrossNamespaceVolumeDataSource of stowage watch on`,
      );
    }
    const from = { group: '', kind: 'PersistentVolumeClaim', namespace: own };
    if (!(await isGranted({ from, to: { group, kind, namespace, name } }))) {
      return refused(
        `accessing ${namespace}/${name} of ${kind} dataSource from ${own}/${claim.metadata.name} isn't allowed. A ReferenceGrant in namespace ${namespace} allows it, from PersistentVolumeClaim in ${own} to ${kind} of group ${group}`,
      );
    }
  }
  if (!isDnsSubdomain(name)) return notFound(what);
  try {
    const object = await client.get<KubeObject>(
      resource,
      name,
      resource.namespaced ? { namespace } : {},
    );
    return object.metadata.deletionTimestamp === undefined
      ? { is: 'ready', object: { ...object, kind } }
      : notFound(what, 'is being deleted');
  } catch (error) {
    if (isNotFound(error)) {
      // A missing object names itself; a missing kind does not.
      return error.status.details?.name === undefined
        ? refused(
            `the API server serves no ${resource.plural} in ${group}/${resource.version}, which PopulatorDefinition ${definition.metadata.name} names`,
          )
        : notFound(what);
    }
    if (error instanceof ApiError && error.statusCode === 403) {
      return refused(
        `the daemon may not read ${resource.plural} of group ${group}: have an administrator run stowage register populator for ${kindText(wanted)}`,
      );
    }
    throw error;
  }
}

const refused = (message: string): SourceFound => ({
  is: 'waits',
  event: { type: 'Warning', reason: POPULATOR_EVENT.sourceRefused, message },
});

const notFound = (what: string, why = 'does not exist'): SourceFound => ({
  is: 'waits',
  event: { type: 'Warning', reason: POPULATOR_EVENT.sourceNotFound, message: `${what} ${why}` },
});
