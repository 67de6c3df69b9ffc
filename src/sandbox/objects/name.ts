import type { Kind, StoredObject } from '../kind.ts';
import { type Cause, invalidValue, requiredValue } from '../refusal.ts';

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const SUBDOMAIN_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const LABEL_RULE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

/** What is wrong with the name of a new object. */
export function nameCauses(kind: Kind, object: StoredObject): Cause[] {
  const { name } = object.metadata;
  if (name === undefined) return [requiredValue('metadata.name', 'name or generateName is required')];
  const refused = (why: string) => [invalidValue('metadata.name', JSON.stringify(name), why)];
  switch (kind.names) {
    case 'path':
      if (name === '.' || name === '..') return refused(`may not be '${name}'`);
      return /[/%]/.test(name) ? refused("may not contain '/' or '%'") : [];
    case 'label':
      if (name.length > 63) return refused('must be no more than 63 characters');
      return LABEL.test(name) ? [] : refused(LABEL_RULE);
    default:
      if (name.length > 253) return refused('must be no more than 253 characters');
      return SUBDOMAIN.test(name) ? [] : refused(SUBDOMAIN_RULE);
  }
}
