import { roundedSize } from '../../../api/rounded-size.ts';
import type { VolumeUsage } from '../../../ui/protocol.ts';
import { dataIn, errorIn, isData, notesIn, parsed } from '../command-data.ts';
import { publicTime } from '../public-text.ts';
import type { ReadAccess } from './read-access.ts';
import type { ReadRoute } from './read-route.ts';

/** Reads how full a Volume is, as `stowage top volumes` does. Throws a StowageError. */
export async function readVolumeUsage(
  { name }: Pick<ReadRoute, 'name'>,
  { runOnNode, io }: Pick<ReadAccess, 'runOnNode' | 'io'>,
): Promise<VolumeUsage> {
  const result = await runOnNode(['top', 'volumes', name, '-o', 'json']);
  const data = parsed(result.stdout);
  if (!isData(data)) throw errorIn(result);
  return {
    figures: usageFigures(data),
    at: new Date(io.clock.timeOfDay()).toISOString(),
    note: notesIn(result),
  };
}

const count = (value: unknown): string | undefined =>
  typeof value === 'number' ? value.toLocaleString('en-US') : undefined;
const size = (value: unknown): string | undefined =>
  typeof value === 'number' ? roundedSize(value) : undefined;

/** Returns the known figures of a row of `top volumes -o json`. Pure. */
export function usageFigures(data: unknown): [label: string, value: string][] {
  const { sizeBytes, used, onDiskBytes } = dataIn(data);
  const { bytes, availableBytes, percent, inodes, measured } = dataIn(used);
  const { used: usedInodes, total, percent: inodePercent } = dataIn(inodes);
  const ofAll = (value: string | undefined, part: unknown) =>
    value === undefined ? undefined : `${value} (${count(part) ?? '?'} %)`;
  const all: [string, string | undefined][] = [
    ['Size', size(sizeBytes)],
    ['Used', ofAll(size(bytes), percent)],
    ['Available', size(availableBytes)],
    [
      'Inodes',
      ofAll(
        count(usedInodes) && `${count(usedInodes)} of ${count(total) ?? 'unknown'}`,
        inodePercent,
      ),
    ],
    ['On disk', size(onDiskBytes)],
    ['Measured by the kubelet', publicTime(measured) || undefined],
  ];
  return all.flatMap(([label, value]): [string, string][] =>
    value === undefined ? [] : [[label, value]],
  );
}
