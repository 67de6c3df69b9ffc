import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Beside the packages, so that a fresh clone starts with none and git ignores it. */
export const JOURNAL = 'node_modules/.cache/stowage/times.jsonl';

/** A stage of a run, or one file of it. */
export interface Entry {
  /** Start of the run, in ms since the epoch. */
  run: number;
  /** `set-up`, `checks`, `unit`, or the name of a lane. */
  stage: string;
  /** Relative to the checkout; absent for the stage as a whole. */
  file?: string;
  ms: number;
  /** Of stages: only a part of it ran. */
  part?: true;
  /** Share of the processors' time in which the machine was idle, 0 to 1; of stages. */
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

/** Returns every entry, oldest first; none where nothing ran yet. A line that a killed run cut off is left out. */
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

/** Starts to measure; the returned function gives the idle share since then. */
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
