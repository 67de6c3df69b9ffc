/** How much has come of what a volume is filled from. */
export interface Progress {
  bytes: number;
  /** Undefined where the server does not say it. */
  totalBytes: number | undefined;
}

/** What a script that fills a volume told last of its progress; undefined where it told nothing, or is of another kind. */
export function readProgress(output = ''): Progress | undefined {
  const last = output
    .trimEnd()
    .split('\n')
    .findLast((line) => line.startsWith('stowage-progress '));
  const [, bytes, total] = /^stowage-progress (\d{1,15}) (\d{1,15}|-)$/.exec(last ?? '') ?? [];
  if (bytes === undefined) return undefined;
  return { bytes: Number(bytes), totalBytes: total === '-' ? undefined : Number(total) };
}

const MIB = 1 << 20;

/** For people: `12% (128 of 1024 MiB)`, or `128 MiB`. */
export function progressText({ bytes, totalBytes }: Progress): string {
  const mib = (count: number) => Math.round(count / MIB);
  if (totalBytes === undefined || totalBytes === 0) return `${mib(bytes)} MiB`;
  const percent = Math.min(100, Math.floor((bytes / totalBytes) * 100));
  return `${percent}% (${mib(bytes)} of ${mib(totalBytes)} MiB)`;
}
