import { ASKS, LANES } from './lanes.ts';

/** The choice: unit tests, lanes, and the reason for each. */
export interface Choice {
  lane: string;
  /** Regular expressions of paths; the whole lane without one. */
  patterns: readonly string[];
  /** The changed files that ask for it. */
  because: readonly string[];
}

/** Returns what changed files ask for, lane by lane in the order of `LANES`: pure. Deleted files count, too. */
export function choose(changed: readonly string[]): Choice[] {
  const asked = new Map<string, { patterns: Set<string>; because: Set<string> }>();
  function ask(lane: string, pattern: string, file: string): void {
    const known = asked.get(lane) ?? { patterns: new Set(), because: new Set() };
    known.patterns.add(pattern);
    known.because.add(file);
    asked.set(lane, known);
  }
  for (const file of changed) {
    const project = /^test\/(integration|thorough|cluster)\/.*\.test\.ts$/.exec(file)?.[1];
    if (project !== undefined) {
      // A lane with every case of the file, which the integration lane has not.
      ask(project === 'integration' ? 'thorough' : project, `^${file.replaceAll('.', '\\.')}$`, file);
      continue;
    }
    const [, ...asks] = ASKS.find(([directory]) => file.startsWith(directory)) ?? [''];
    for (const [lane, pattern = ''] of asks) ask(lane, pattern, file);
  }
  return Object.keys(LANES).flatMap((lane) => {
    const { patterns, because } = asked.get(lane) ?? {};
    if (patterns === undefined || because === undefined) return [];
    // The empty pattern stands for the whole lane.
    return [{ lane, patterns: patterns.has('') ? [] : [...patterns], because: [...because] }];
  });
}
