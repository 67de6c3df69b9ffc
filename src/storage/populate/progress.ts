import { messageOf, type Reason, reason } from '../../api/reasons.ts';

/** Progress of populating a volume. */
export interface Progress {
  bytes: number;
  /** Undefined if the server does not report it. */
  totalBytes: number | undefined;
}

/**
 * Reason that a script has no slot on the node yet: all are taken, or its namespace has its share.
 */
export type Waiting = { waits: 'node' | 'namespace' };

/**
 * Reads the last report of a script that populates or packs a volume; undefined if there is none.
 */
export function readProgress(output = ''): Progress | Waiting | undefined {
  const last = output
    .trimEnd()
    .split('\n')
    .findLast((line) => line.startsWith('stowage-'));
  const [, waits] = /^stowage-waiting (node|namespace)$/.exec(last ?? '') ?? [];
  if (waits !== undefined) return { waits } as Waiting;
  const [, bytes, total] = /^stowage-progress (\d{1,15}) (\d{1,15}|-)$/.exec(last ?? '') ?? [];
  if (bytes === undefined) return undefined;
  return { bytes: Number(bytes), totalBytes: total === '-' ? undefined : Number(total) };
}

export const waitReason = ({ waits }: Waiting): Reason =>
  reason(waits === 'node' ? 'FillPlacesTaken' : 'NamespaceFillPlacesTaken');

const MIB = 1 << 20;

/** Formats progress for users: `12% (128 of 1024 MiB)`, `128 MiB`, or the reason to wait. */
export function progressText(progress: Progress | Waiting): string {
  if ('waits' in progress) return messageOf(waitReason(progress)) ?? '';
  const { bytes, totalBytes } = progress;
  const mib = (count: number) => Math.round(count / MIB);
  if (totalBytes === undefined || totalBytes === 0) return `${mib(bytes)} MiB`;
  const percent = Math.min(100, Math.floor((bytes / totalBytes) * 100));
  return `${percent}% (${mib(bytes)} of ${mib(totalBytes)} MiB)`;
}
