import { isDeepStrictEqual } from 'node:util';
import { parseQuantity } from '../../api/quantity.ts';
import type { Cause, Reader, StoredObject } from '../kind.ts';
import { forbidden, Refusal } from '../refusal.ts';
import { type Fields, immutable, specOf } from './plain.ts';

interface SizedClaim extends StoredObject {
  spec: { resources?: { requests?: { storage?: string } }; storageClassName?: string };
  status?: { phase?: string; capacity?: { storage?: string } };
}

/** Returns the requested size of a claim in bytes; undefined if there is none. */
export function claimSize(object: StoredObject): bigint | undefined {
  const text = (object as SizedClaim).spec.resources?.requests?.storage;
  return text === undefined ? undefined : parseQuantity(String(text));
}

/**
 * Checks an update as ValidatePersistentVolumeClaimUpdate: volumeName and class can be set once,
 * and a bound claim can grow.
 */
export function claimChanges(object: StoredObject, old: StoredObject): Cause[] {
  const [spec, before] = [{ ...specOf(object) }, { ...specOf(old) }];
  for (const field of ['volumeName', 'storageClassName'])
    if (before[field] === undefined) delete spec[field];
  const [size = 0n, oldSize = 0n] = [claimSize(object), claimSize(old)];
  const { status } = old as SizedClaim;
  if (status?.phase === 'Bound' || size === oldSize) {
    spec.resources = withoutSize(spec.resources);
    before.resources = withoutSize(before.resources);
  }
  const capacity = parseQuantity(status?.capacity?.storage ?? '0');
  return [
    ...(isDeepStrictEqual(spec, before)
      ? []
      : [
          forbidden(
            'spec',
            'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims',
          ),
        ]),
    ...(size < oldSize && size <= capacity
      ? [forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity')]
      : []),
    ...(spec.volumeMode === before.volumeMode ? [] : [immutable('volumeMode', spec.volumeMode)]),
  ];
}

function withoutSize(resources: unknown): Fields {
  const { requests, ...rest } = (resources ?? {}) as Fields;
  return { ...rest, requests: { ...(requests as Fields | undefined), storage: undefined } };
}

/** Checks an expansion as the admission plugin PersistentVolumeClaimResize. */
export function admitGrowth(
  object: StoredObject,
  old: StoredObject | undefined,
  read: Reader,
): void {
  if (old === undefined || (claimSize(object) ?? 0n) <= (claimSize(old) ?? 0n)) return;
  const { metadata, status } = old as SizedClaim;
  const refuse = (why: string) =>
    new Refusal(403, 'Forbidden', `persistentvolumeclaims "${metadata.name}" is forbidden: ${why}`);
  if (status?.phase !== 'Bound')
    throw refuse('Only bound persistent volume claims can be expanded');
  const { storageClassName = '' } = (object as SizedClaim).spec;
  if (read('storageclasses.storage.k8s.io', storageClassName)?.allowVolumeExpansion !== true)
    throw refuse(
      'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
    );
}
