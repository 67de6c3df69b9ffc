import type { Guard, Probe, ProbeResult } from '../../nodes/job.ts';
import { ObservationError, succeeded } from '../probe-results.ts';
import { blkidValues } from '../signature.ts';
import type { Extents, FreeExtents } from './facts.ts';

/** blkid(8) reads a part of a device as if it was all of one. */
const blkidAt = ({ pv, offsetBytes, sizeBytes }: FreeExtents): string[] => [
  'blkid',
  '-p',
  '-O',
  String(offsetBytes),
  '-S',
  String(sizeBytes),
  '-o',
  'export',
  pv,
];

/**
 * What is written through a logical volume goes past what the kernel keeps of the disk below it, so that it may keep what
 * was there long ago: it is to forget that.
 */
const forgetCache = ({ pv }: FreeExtents): string[] => ['blockdev', '--flushbufs', pv];

const AMBIVALENT = 'ambivalent';

const placeOf = ({ pv, first }: FreeExtents) => `${pv} ${first}`;

/** What is in free extents. Of what cannot be read blkid prints nothing, so it is read as well. */
export const contentProbes = (extents: readonly FreeExtents[]): Probe[] =>
  extents.flatMap((each) => [
    { name: `cache ${placeOf(each)}`, argv: forgetCache(each) },
    { name: `blkid ${placeOf(each)}`, argv: blkidAt(each) },
    {
      name: `beginning ${placeOf(each)}`,
      argv: [
        ...['dd', `if=${each.pv}`, 'of=/dev/null', 'bs=1M', 'count=4'],
        ...['iflag=skip_bytes', `skip=${each.offsetBytes}`, 'status=none'],
      ],
    },
  ]);

/** @throws ObservationError where that can't be told */
export const readContent = (extents: readonly FreeExtents[], get: (name: string) => ProbeResult): Extents[] =>
  extents.map((each) => {
    const { exit, stdout, stderr } = get(`blkid ${placeOf(each)}`);
    succeeded(`the cache of ${each.pv}`, get(`cache ${placeOf(each)}`));
    succeeded(`free extents of ${each.pv}`, get(`beginning ${placeOf(each)}`));
    if (![0, 2, 8].includes(exit)) {
      throw new ObservationError(`what is in free extents of ${each.pv} can't be told: ${stderr.trim()}`);
    }
    const content = exit === 8 ? AMBIVALENT : textOf(blkidValues(stdout));
    return { ...each, content, blkid: stdout.replace(/\n+$/, ''), blkidExit: exit };
  });

/** As a raw device's content is told: the type and UUID of what is in them. */
function textOf(values: ReadonlyMap<string, string>): string {
  return (
    [
      ['TYPE', 'UUID'],
      ['PTTYPE', 'PTUUID'],
    ] as const
  )
    .flatMap(([type, uuid]) => {
      const name = values.get(type);
      const id = values.get(uuid);
      return name === undefined ? [] : [id === undefined ? name : `${name}:${id}`];
    })
    .join('+');
}

/** All that a new logical volume would find in its extents, each once. */
export const contentOf = (extents: readonly Extents[]): string =>
  [...new Set(extents.flatMap(({ content }) => (content === '' ? [] : content.split('+'))))].sort().join('+');

/** Several signatures are in some of them, and blkid names none: no consent can say which. */
export const isAmbivalent = (extents: readonly Extents[]): boolean =>
  extents.some(({ content }) => content === AMBIVALENT);

/** How many they are. */
export const extentsIn = (extents: readonly FreeExtents[]): bigint =>
  extents.reduce((sum, { count }) => sum + count, 0n);

/** As LVM is told to take these and no others. */
export const rangeOf = ({ pv, first, count }: FreeExtents): string => `${pv}:${first}-${first + count - 1n}`;

/** They hold what they held, to the letter. */
export const sameContentGuards = (extents: readonly Extents[]): Guard[] =>
  extents.flatMap((each) => {
    return [
      { argv: forgetCache(each), expect: { exit: 0 }, refusal: `${each.pv} cannot be read anew` },
      {
        argv: blkidAt(each),
        expect: { exit: each.blkidExit, stdout: { is: each.blkid } },
        refusal: `what is in the free extents of ${each.pv} changed since they were looked at`,
      },
    ];
  });

/** The first of these, as many as are needed. */
export function takeExtents(free: readonly FreeExtents[], count: bigint, extentBytes: bigint): FreeExtents[] {
  const taken: FreeExtents[] = [];
  let left = count;
  for (const each of free) {
    if (left <= 0n) break;
    const some = each.count < left ? each.count : left;
    taken.push({ ...each, count: some, sizeBytes: some * extentBytes });
    left -= some;
  }
  return taken;
}
