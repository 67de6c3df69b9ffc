import { directoryWanted } from '../../api/directory.ts';
import type { Volume, VolumeSpec } from '../../api/volume.ts';
import type { DesiredContext } from '../driver.ts';
import type { DesiredRaw } from '../types.ts';

/**
 * Returns the problems of the device path. A device can have any name below /dev, and the name used
 * does not matter, so nothing is compared.
 */
export function specProblems({ spec }: Pick<Volume, 'spec'>): string[] {
  if (spec.rawBlockDevice == null) return [];
  const { devicePath } = spec.rawBlockDevice;
  const field = 'spec.rawBlockDevice.devicePath';
  if (typeof devicePath !== 'string')
    return [`${field} is ${JSON.stringify(devicePath)}, but must be a string`];
  const wanted = devicePath.startsWith('/dev/')
    ? directoryWanted(devicePath)
    : 'be a path below /dev';
  return wanted === undefined
    ? []
    : [`${field} is ${JSON.stringify(devicePath)}, but must ${wanted}`];
}

export const hasPlace = (spec: VolumeSpec): boolean => specProblems({ spec }).length === 0;

export const desired = ({ volume, common, path }: DesiredContext): DesiredRaw => ({
  ...common,
  type: 'raw',
  devicePath: path ?? devicePathOf(volume.spec),
  overwrite: volume.spec.overwrite,
  identity: volume.status?.prepared?.identity,
});

const devicePathOf = ({ rawBlockDevice }: VolumeSpec): string =>
  rawBlockDevice?.devicePath ?? 'its device';

export const describe = (spec: VolumeSpec): [string, string | undefined][] => [
  ['Device', devicePathOf(spec)],
];

export const summarize = (spec: VolumeSpec): string => `the device ${devicePathOf(spec)}`;

export const overwritten = (spec: VolumeSpec): string => `on ${devicePathOf(spec)}`;

/** Reports whether a path is the device of the spec, which is immutable. */
export const isPlaceOf = ({ spec }: Volume, path: string): boolean =>
  path === spec.rawBlockDevice?.devicePath;

export const holdsData = (spec: VolumeSpec, path: string | undefined) => ({
  what: path ?? devicePathOf(spec),
  own: false,
});
