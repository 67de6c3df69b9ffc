import type { KubeObject } from '../../api/meta.ts';
import type { ReferenceGrant } from '../../api/snapshot.ts';
import { isGranted } from './grant.ts';
import type { Awaited } from './types.ts';

/**
 * Reports whether the change of an object may end a wait. A grant that allows something else does
 * not: a thousand grants in a namespace would each make a thousand claims read all of them. Pure.
 */
export function mayEnd(awaited: Awaited, kind: Awaited['kind'], object: KubeObject): boolean {
  const { namespace, name, reference } = awaited;
  return (
    awaited.kind === kind &&
    (namespace === undefined || namespace === object.metadata.namespace) &&
    (name === undefined || name === object.metadata.name) &&
    (reference === undefined || isGranted([object as ReferenceGrant], reference.from, reference.to))
  );
}
