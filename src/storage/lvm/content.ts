import { refuse } from '../../api/reasons.ts';
import type { Precondition, Probe, ProbeResult } from '../../nodes/job.ts';
import { ObservationError, succeeded } from '../probe-results.ts';
import { blkidValues } from '../signature.ts';
import type { Extents, FreeExtents } from './facts.ts';

/** Returns the blkid(8) command that probes part of a device like a whole device. */
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
 * Returns the command that drops the kernel's cache of a disk. Writes through a logical volume
 * bypass that cache, so it may still have old content.
 */
const forgetCache = ({ pv }: FreeExtents): string[] => ['blockdev', '--flushbufs', pv];

const AMBIVALENT = 'ambivalent';

const placeOf = ({ pv, first }: FreeExtents) => `${pv} ${first}`;

/**
 * Returns the probes of free extents. blkid prints nothing for unreadable extents, so dd reads
 * their beginning as well.
 */
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

/** @throws ObservationError if the content cannot be determined */
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

/** Returns the type and UUID of the content, in the format used for raw devices. */
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

/** Returns the content that a new logical volume would find in its extents, without duplicates. */
export const contentOf = (extents: readonly Extents[]): string =>
  [...new Set(extents.flatMap(({ content }) => (content === '' ? [] : content.split('+'))))]
    .sort()
    .join('+');

/**
 * Reports whether an extent has several signatures. blkid names none of them, so no consent can.
 */
export const isAmbivalent = (extents: readonly Extents[]): boolean =>
  extents.some(({ content }) => content === AMBIVALENT);

/**
 * Consent to destroy whatever removed volumes left in free extents of the group, known or not.
 * Volumes made for claims carry it if their class sets `overwrite`, since nobody can be asked then.
 */
export const FREE_EXTENTS = 'free extents';

/** Returns the number of extents. */
export const extentsIn = (extents: readonly FreeExtents[]): bigint =>
  extents.reduce((sum, { count }) => sum + count, 0n);

/** Returns the extents as an LVM argument that restricts the allocation to them. */
export const rangeOf = ({ pv, first, count }: FreeExtents): string =>
  `${pv}:${first}-${first + count - 1n}`;

/** Preconditions that the extents have exactly the observed content. */
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

/** Maximum number of large pieces to probe if the extents of LVM's choice have signatures. */
const MAX_PIECES = 16;

/**
 * Returns places to probe for extents without signatures. A removed volume would have begun where a
 * piece begins. The end of a piece of twice the needed size shares no extent with that.
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

/** Returns the extents without signatures, only the first place of each piece. */
export const clean = (places: readonly Extents[], free: readonly FreeExtents[]): FreeExtents[] =>
  free.flatMap((piece) => {
    const isIn = ({ pv, first }: FreeExtents) =>
      pv === piece.pv && first >= piece.first && first < piece.first + piece.count;
    return places.find((place) => isIn(place) && place.content === '') ?? [];
  });

/** Returns the first extents, as many as needed. */
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
