import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Path of the journal, beside the packages: a fresh clone has none, and git ignores it. */
export const JOURNAL = 'node_modules/.cache/stowage/times.jsonl';

/** A stage of a run, or one file of it. */
export interface Entry {
  /** Start of the run, in ms since the epoch. */
  run: number;
  /** `set-up`, `checks`, `unit`, or the name of a lane. */
  stage: string;
  /** Path relative to the checkout. Absent for the whole stage. */
  file?: string;
  ms: number;
  /** For stages: only a part of it ran. */
  part?: true;
  /** For stages: idle share of the processors' time, 0 to 1. */
  idle?: number;
  passed?: number;
  leftOut?: number;
  failed?: number;
  /** Messages of a file's failed tests; not recorded. */
  why?: string[];
}

export async function record(entries: readonly Entry[]): Promise<void> {
  await mkdir(dirname(JOURNAL), { recursive: true });
  await appendFile(
    JOURNAL,
    entries.map(({ why: _, ...entry }) => `${JSON.stringify(entry)}\n`).join(''),
  );
}

/**
 * Returns all entries, oldest first, or none if nothing ran yet. Skips a line that a killed run
 * left incomplete.
 */
export async function readJournal(): Promise<Entry[]> {
  const text = await readFile(JOURNAL, 'utf8').catch(() => '');
  return text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as Entry];
    } catch {
      return [];
    }
  });
}

/** Starts a measurement. The returned function gives the idle share since then. */
export async function measureIdle(): Promise<() => Promise<number>> {
  const before = await processorTime();
  return async () => {
    const after = await processorTime();
    const total = after.total - before.total;
    return total === 0 ? 0 : (after.idle - before.idle) / total;
  };
}

/** Returns the time of all processors, in ticks since the machine started (proc_stat(5)). */
async function processorTime(): Promise<{ idle: number; total: number }> {
  const [line = ''] = (await readFile('/proc/stat', 'utf8')).split('\n');
  const ticks = line.split(/\s+/).slice(1, 9).map(Number);
  const [, , , idle = 0, waiting = 0] = ticks;
  return { idle: idle + waiting, total: ticks.reduce((sum, each) => sum + each, 0) };
}
