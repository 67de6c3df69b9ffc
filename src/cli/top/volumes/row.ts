import { parseQuantity } from '../../../api/quantity.ts';
import type { Volume } from '../../../api/volume.ts';
import { sizeOf } from '../../../storage/registry.ts';
import type { VolumeStats } from '../stats-summary.ts';
import type { Growth } from './growth.ts';

/** Row as docs/output.md describes it. Unknown figures are absent. */
export interface VolumeRow {
  name: string;
  uid: string;
  node: string;
  sizeBytes?: number;
  used?: Used;
  onDiskBytes?: number;
  growth?: Growth;
}

/** Use of a mounted file system. */
export interface Used {
  bytes: number;
  availableBytes: number;
  capacityBytes: number;
  /** Part (%) of the space for users other than root, rounded up as in df(1). */
  percent: number;
  inodes?: { used: number; total: number; percent: number };
  /** Time of the measurement, in RFC 3339. */
  measured?: string;
}

/** Latest time (ms since the epoch) that RFC 3339 can express. */
const LATEST = Date.parse('9999-12-31T23:59:59Z');

export function usedOf(stats: VolumeStats): Used {
  const { usedBytes, capacityBytes, inodes, at } = stats;
  const { availableBytes = capacityBytes - usedBytes } = stats;
  return {
    bytes: usedBytes,
    availableBytes,
    capacityBytes,
    percent: percentOf(usedBytes, usedBytes + availableBytes),
    ...(inodes && { inodes: { ...inodes, percent: percentOf(inodes.used, inodes.total) } }),
    ...(at !== undefined && at >= 0 && at <= LATEST && { measured: new Date(at).toISOString() }),
  };
}

const percentOf = (part: number, whole: number): number =>
  whole === 0 ? 0 : Math.ceil((part / whole) * 100);

/** Returns the measured capacity in bytes, else the requested size; undefined without both. */
export function sizeBytesOf({ spec, status }: Volume): number | undefined {
  const measured = bytesIn(status?.capacity);
  const size = measured ?? sizeOf(spec);
  return size > 0n ? Number(size) : undefined;
}

function bytesIn(quantity: string | undefined): bigint | undefined {
  if (quantity === undefined) return undefined;
  try {
    return parseQuantity(quantity);
  } catch {
    return undefined;
  }
}
