import type { StoredObject } from '../kind.ts';
import { type Cause, invalidValue } from '../refusal.ts';

const NAME = '[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?';
const PREFIX = '([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?';
/** apimachinery, validation.IsQualifiedName and IsValidLabelValue. */
const QUALIFIED_NAME = new RegExp(`^${PREFIX}${NAME}$`);
const LABEL_VALUE = new RegExp(`^(${NAME})?$`);

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
