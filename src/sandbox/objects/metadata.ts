import type { ObjectMeta, OwnerReference } from '../../api/meta.ts';
import type { Cause, StoredObject } from '../kind.ts';
import { badRequest, invalidValue, quoted } from '../refusal.ts';
import { keyFaults, valueFaults } from './formats.ts';

/**
 * Sets the namespace of an object to that of its request, in place (apiserver,
 * EnsureObjectNamespaceMatchesRequestNamespace). A cluster-scoped object loses its namespace.
 * Throws a 400 if the object names another one.
 */
export function settleNamespace(metadata: ObjectMeta, namespace: string | undefined): void {
  const { namespace: given = namespace } = metadata;
  if (namespace === undefined) delete metadata.namespace;
  else if (given === namespace) metadata.namespace = namespace;
  else
    throw badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    );
}

/**
 * Returns the causes in labels, annotations, owners and the names of
 * finalizers (ValidateObjectMeta).
 */
export function metadataCauses({ metadata }: StoredObject): Cause[] {
  const { labels = {}, annotations = {}, finalizers = [], ownerReferences = [] } = metadata;
  return [
    ...Object.entries(labels).flatMap(([key, value]) => [
      ...causes('labels', key, keyFaults(key)),
      ...causes('labels', value, valueFaults(value)),
    ]),
    ...Object.keys(annotations).flatMap((key) =>
      causes('annotations', key, keyFaults(key.toLowerCase())),
    ),
    ...ownerReferences.flatMap(ownerCauses),
    ...controllerCauses(ownerReferences),
    ...finalizers.flatMap((name) => causes('finalizers', name, keyFaults(name))),
  ];
}

function causes(field: string, value: unknown, faults: string[]): Cause[] {
  const shown = typeof value === 'string' ? quoted(value) : JSON.stringify(value);
  return faults.map((fault) => invalidValue(`metadata.${field}`, shown, fault));
}

function ownerCauses({ apiVersion, kind, name, uid }: OwnerReference): Cause[] {
  const empty = (field: string, value: string | undefined, fault = 'must not be empty') =>
    value ? [] : causes(`ownerReferences.${field}`, '', [fault]);
  return [
    ...empty('apiVersion', apiVersion, 'version must not be empty'),
    ...empty('kind', kind),
    ...empty('name', name),
    ...empty('uid', uid),
  ];
}

function controllerCauses(owners: OwnerReference[]): Cause[] {
  const [first, ...others] = owners
    .filter(({ controller }) => controller)
    .map((one) => `${one.kind}/${one.name}`);
  return others.flatMap((other) =>
    causes('ownerReferences', owners, [
      `Only one reference can have Controller set to true. Found "true" in references for ${first} and ${other}`,
    ]),
  );
}
