import type { Cause, Kind, StoredObject } from '../kind.ts';
import { invalidValue, requiredValue } from '../refusal.ts';
import { labelFaults, subdomainFaults } from './formats.ts';

/** Returns the causes in the name of a new object. */
export function nameCauses(kind: Kind, object: StoredObject): Cause[] {
  const { name } = object.metadata;
  if (name === undefined)
    return [requiredValue('metadata.name', 'name or generateName is required')];
  const refused = (why: string) => [invalidValue('metadata.name', JSON.stringify(name), why)];
  switch (kind.names) {
    case 'path':
      if (name === '.' || name === '..') return refused(`may not be '${name}'`);
      return ['/', '%']
        .filter((one) => name.includes(one))
        .flatMap((one) => refused(`may not contain '${one}'`));
    case 'label':
      return name.includes('.')
        ? refused('must not contain dots')
        : labelFaults(name).flatMap(refused);
    default:
      return subdomainFaults(name).flatMap(refused);
  }
}
