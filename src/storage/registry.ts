import { parseQuantity } from '../api/quantity.ts';
import type { VolumeSpec } from '../api/volume.ts';
import { sizeIn } from '../api/volume-size.ts';
import { raw } from './block/driver.ts';
import type { VolumeDriver } from './driver.ts';
import { sparse } from './loopfile/driver.ts';
import { lvm } from './lvm/driver.ts';

/** The kinds of storage that there are. */
export const DRIVERS = [sparse, raw, lvm] as const;

/** Desired state of a Volume: validated names, sizes (bytes) and options. */
export type Desired = Parameters<(typeof DRIVERS)[number]['plan']>[1];

/** Observed state that plans depend on. */
export type Observed = Parameters<(typeof DRIVERS)[number]['plan']>[2];

export type AnyDriver = VolumeDriver<keyof VolumeSpec & string, Desired, Observed>;

const all = DRIVERS as unknown as readonly AnyDriver[];

/**
 * Returns the driver of a kind. Throws Error for an observation of another kind than the desired
 * state.
 */
export function driverOf({ type }: Desired, observed?: Observed): AnyDriver {
  if (observed !== undefined && observed.type !== type)
    throw new Error(`a volume of type ${type} was observed as ${observed.type}`);
  return all.find((driver) => driver.type === type) as AnyDriver;
}

/** Returns the drivers that a spec requests: exactly one in a valid spec. */
export const driversOf = (spec: VolumeSpec): AnyDriver[] =>
  all.filter(({ field }) => spec[field] != null);

/** Returns the driver of a Volume; that of sparse files if the spec names none. */
export const driverOfSpec = (spec: VolumeSpec): AnyDriver =>
  driversOf(spec).at(-1) ?? (sparse as unknown as AnyDriver);

/** Returns the spec fields of all drivers that match a predicate. */
export const fieldsOf = (is: (driver: AnyDriver) => boolean = () => true): (keyof VolumeSpec)[] =>
  all.filter(is).map(({ field }) => field);

/**
 * Returns the requested size as the spec has it; undefined for a kind with the size of its device.
 */
export const sizeText = (spec: VolumeSpec): string | undefined =>
  sizeIn(spec, driverOfSpec(spec).field);

/**
 * Returns the requested size in bytes; 0 if it is invalid. Such a Volume is never provisioned, and
 * a provisioned one keeps its size.
 */
export function sizeOf(spec: VolumeSpec): bigint {
  try {
    return parseQuantity(sizeText(spec) ?? 0);
  } catch {
    return 0n;
  }
}
