import type { ProbeResult } from '../nodes/job.ts';

/** Prints the names and UUIDs of all devices of device-mapper, a line each. A device has no path without its name in it. */
export const MAPPERS = [
  ...[
    'find',
    '/sys/devices/virtual/block',
    '-mindepth',
    '1',
    '-maxdepth',
    '3',
    '-ignore_readdir_race',
  ],
  ...[
    '(',
    '-path',
    '/sys/devices/virtual/block/*',
    '!',
    '-path',
    '/sys/devices/virtual/block/dm-*',
    '-prune',
    ')',
  ],
  ...[
    '-o',
    '(',
    '-path',
    '*/dm/name',
    '-o',
    '-path',
    '*/dm/uuid',
    ')',
    '-exec',
    'grep',
    '-H',
    '.',
    '{}',
    '+',
  ],
];

/**
 * Reads what `MAPPERS` printed, by the kernel's name. They are only for people: what could not be read is left out, as is a device
 * whose name has several lines.
 */
export function readMappers({
  stdout,
}: Pick<ProbeResult, 'stdout'>): Map<string, { name: string; uuid: string }> {
  const values = new Map<string, string[]>();
  for (const line of stdout.split('\n')) {
    const [, place, value] =
      /^\/sys\/devices\/virtual\/block\/(dm-\d+\/dm\/(?:name|uuid)):(.*)$/.exec(line) ?? [];
    if (place !== undefined && value !== undefined)
      values.set(place, [...(values.get(place) ?? []), value]);
  }
  const only = (place: string): string | undefined => {
    const [value, another] = values.get(place) ?? [];
    return another === undefined ? value : undefined;
  };
  return new Map(
    [...values.keys()].flatMap((place) => {
      const [device = '', , which] = place.split('/');
      const name = which === 'name' ? only(place) : undefined;
      return name === undefined
        ? []
        : [[device, { name, uuid: only(`${device}/dm/uuid`) ?? '' }] as const];
    }),
  );
}
