import { refuse } from '../../api/reasons.ts';
import type { Precondition, Probe, ProbeResult } from '../../nodes/job.ts';
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
export const readContent = (
  extents: readonly FreeExtents[],
  get: (name: string) => ProbeResult,
): Extents[] =>
  extents.map((each) => {
    const { exit, stdout, stderr } = get(`blkid ${placeOf(each)}`);
    succeeded(`the cache of ${each.pv}`, get(`cache ${placeOf(each)}`));
    succeeded(`free extents of ${each.pv}`, get(`beginning ${placeOf(each)}`));
    if (![0, 2, 8].includes(exit)) {
      throw new ObservationError(
        refuse('FreeExtentsUnread', { device: each.pv, said: stderr.trim() }),
      );
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
  [...new Set(extents.flatMap(({ content }) => (content === '' ? [] : content.split('+'))))]
    .sort()
    .join('+');

/** Several signatures are in some of them, and blkid names none: no consent can say which. */
export const isAmbivalent = (extents: readonly Extents[]): boolean =>
  extents.some(({ content }) => content === AMBIVALENT);

/**
 * The consent to whatever removed volumes left in free extents of the group, known or not. It says of which extents, where a
 * Volume is made for whom nobody is there to be asked.
 */
export const FREE_EXTENTS = 'free extents';

/** How many they are. */
export const extentsIn = (extents: readonly FreeExtents[]): bigint =>
  extents.reduce((sum, { count }) => sum + count, 0n);

/** As LVM is told to take these and no others. */
export const rangeOf = ({ pv, first, count }: FreeExtents): string =>
  `${pv}:${first}-${first + count - 1n}`;

/** They hold what they held, to the letter. */
export const sameContentPreconditions = (extents: readonly Extents[]): Precondition[] =>
  extents.flatMap((each) => {
    const disk = each.pv;
    return [
      {
        argv: forgetCache(each),
        expect: { exit: 0 },
        ...refuse('FreeExtentsUnreadable', { disk }),
      },
      {
        argv: blkidAt(each),
        expect: { exit: each.blkidExit, stdout: { is: each.blkid } },
        ...refuse('FreeExtentsChanged', { disk }),
      },
    ];
  });

/** How many of the largest pieces are looked into where those carry something that would be taken first. */
const MAX_PIECES = 16;

/**
 * Places to look for extents that carry nothing: the beginning of each piece, where a removed volume would have begun, and
 * the end of one that is twice as large as what is needed, so that nothing is taken of what its beginning was a part of.
 */
export function placesIn(
  free: readonly FreeExtents[],
  count: bigint,
  extentBytes: bigint,
): FreeExtents[] {
  return free.slice(0, MAX_PIECES).flatMap((each) => {
    const begins = takeExtents([each], count, extentBytes);
    if (each.count < 2n * count) return begins;
    const skipped = each.count - count;
    const offsetBytes = each.offsetBytes + skipped * extentBytes;
    const end = {
      ...each,
      first: each.first + skipped,
      count,
      offsetBytes,
      sizeBytes: count * extentBytes,
    };
    return [...begins, end];
  });
}

/** Returns the extents that carry nothing, of each piece the first place alone. */
export const clean = (places: readonly Extents[], free: readonly FreeExtents[]): FreeExtents[] =>
  free.flatMap((piece) => {
    const isIn = ({ pv, first }: FreeExtents) =>
      pv === piece.pv && first >= piece.first && first < piece.first + piece.count;
    return places.find((place) => isIn(place) && place.content === '') ?? [];
  });

/** The first of these, as many as are needed. */
export function takeExtents(
  free: readonly FreeExtents[],
  count: bigint,
  extentBytes: bigint,
): FreeExtents[] {
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
