import type { ObjectMeta } from '../../api/meta.ts';
import type { StoredObject } from '../kind.ts';
import { badRequest, type Cause, invalidValue } from '../refusal.ts';

const NAME = '[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?';
const PREFIX = '([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?';
/** apimachinery, validation.IsQualifiedName and IsValidLabelValue. */
export const QUALIFIED_NAME = new RegExp(`^${PREFIX}${NAME}$`);
export const LABEL_VALUE = new RegExp(`^(${NAME})?$`);

/**
 * Has an object be in the namespace of its request (apiserver, EnsureObjectNamespaceMatchesRequestNamespace): what is in none
 * loses the one that it names. In place. Throws a 400 where it names another.
 */
export function settleNamespace(metadata: ObjectMeta, namespace: string | undefined): void {
  const { namespace: given = namespace } = metadata;
  if (namespace === undefined) delete metadata.namespace;
  else if (given === namespace) metadata.namespace = namespace;
  else
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
}

/** What is wrong with labels, names of finalizers and owners: what a real server refuses must not pass here. */
export function metadataCauses({ metadata }: StoredObject): Cause[] {
  const { labels = {}, finalizers = [], ownerReferences = [] } = metadata;
  return [
    ...Object.entries(labels).flatMap(([key, value]) => [
      ...(QUALIFIED_NAME.test(key)
        ? []
        : [invalidValue('metadata.labels', JSON.stringify(key), 'is no valid label key')]),
      ...(LABEL_VALUE.test(value)
        ? []
        : [invalidValue('metadata.labels', JSON.stringify(value), 'is no valid label value')]),
    ]),
    ...finalizers
      .filter((name) => !QUALIFIED_NAME.test(name))
      .map((name) => invalidValue('metadata.finalizers', JSON.stringify(name), 'is no qualified name')),
    ...ownerReferences
      .filter(({ apiVersion, kind, name, uid }) => !(apiVersion && kind && name && uid))
      .map((owner) =>
        invalidValue(
          'metadata.ownerReferences',
          JSON.stringify(owner),
          'needs apiVersion, kind, name and uid',
        ),
      ),
  ];
}
