import { parseQuantity } from '../api/quantity.ts';
import type { VolumeSpec } from '../api/volume.ts';
import { sizeIn } from '../api/volume-size.ts';
import { raw } from './block/driver.ts';
import type { VolumeDriver } from './driver.ts';
import { sparse } from './loopfile/driver.ts';
import { lvm } from './lvm/driver.ts';

/** The kinds of storage that there are. */
export const DRIVERS = [sparse, raw, lvm] as const;

/** A Volume as storage sees it: names, bytes and options that were validated before. */
export type Desired = Parameters<(typeof DRIVERS)[number]['plan']>[1];

/** All that plans are made from. */
export type Observed = Parameters<(typeof DRIVERS)[number]['plan']>[2];

export type AnyDriver = VolumeDriver<keyof VolumeSpec & string, Desired, Observed>;

const all = DRIVERS as unknown as readonly AnyDriver[];

/** Throws Error for an observation of another kind than what is desired. */
export function driverOf({ type }: Desired, observed?: Observed): AnyDriver {
  if (observed !== undefined && observed.type !== type)
    throw new Error(`a ${type} volume was looked at as a ${observed.type} one`);
  return all.find((driver) => driver.type === type) as AnyDriver;
}

/** The kinds that a spec asks for: one, in a spec that is valid. */
export const driversOf = (spec: VolumeSpec): AnyDriver[] =>
  all.filter(({ field }) => spec[field] != null);

/** The kind of a Volume; of one that names none, sparse files. */
export const driverOfSpec = (spec: VolumeSpec): AnyDriver =>
  driversOf(spec).at(-1) ?? (sparse as unknown as AnyDriver);

/** The names of the fields of all kinds, of those alone for which something is so. */
export const fieldsOf = (is: (driver: AnyDriver) => boolean = () => true): (keyof VolumeSpec)[] =>
  all.filter(is).map(({ field }) => field);

/** The size that a spec asks for, as it is written there; undefined for a kind that has the size of its device. */
export const sizeText = (spec: VolumeSpec): string | undefined =>
  sizeIn(spec, driverOfSpec(spec).field);

/** The same in bytes; 0 for what is no size: such a Volume is never made, and one that is made keeps the size that it has. */
export function sizeOf(spec: VolumeSpec): bigint {
  try {
    return parseQuantity(sizeText(spec) ?? 0);
  } catch {
    return 0n;
  }
}
