import type { ProbeResult } from '../nodes/job.ts';

/**
 * Command that prints names and UUIDs of all device-mapper devices, one per line. Each line has a
 * path with the device's kernel name.
 */
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
 * Parses the output of `MAPPERS`, by kernel name. Names and UUIDs are only for messages, so
 * unreadable ones are omitted, as is a device whose name has several lines.
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
