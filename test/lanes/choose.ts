import { ASKS, LANES } from './lanes.ts';

/** The choice: unit tests or a lane, its files, and the reason. */
export interface Choice {
  lane: string;
  /** Regular expressions of paths. Empty for the whole lane. */
  patterns: readonly string[];
  /** The files that run, relative to the checkout. */
  files: readonly string[];
  /** The changed files that require it. */
  because: readonly string[];
}

/** Lanes whose files another lane includes. */
const CONTAINED_IN: Readonly<Record<string, string>> = {
  integration: 'thorough',
  smoke: 'cluster',
};

const PROJECT = /^test\/(integration|thorough|fuzz|cluster)\//;

/**
 * Returns the tests that changed files require: unit tests first, then lanes in the order of
 * `LANES`. A pure function. Deleted files count, too.
 * @param tests all existing test files
 */
export function choose(changed: readonly string[], tests: readonly string[]): Choice[] {
  const asked = new Map<string, { patterns: Set<string>; because: Set<string> }>();
  function ask(lane: string, pattern: string, file: string): void {
    const known = asked.get(lane) ?? { patterns: new Set(), because: new Set() };
    known.patterns.add(pattern);
    known.because.add(file);
    asked.set(lane, known);
  }
  for (const file of changed) {
    const project = file.endsWith('.test.ts') ? PROJECT.exec(file)?.[1] : undefined;
    if (project !== undefined) {
      // This lane runs every case of the file, unlike the integration lane.
      ask(project === 'integration' ? 'thorough' : project, exactly(file), file);
      continue;
    }
    const [, ...asks] = ASKS.find(([directory]) => file.startsWith(directory)) ?? [''];
    for (const [lane, pattern = ''] of asks) ask(lane, pattern, file);
  }
  const filesOf = (lane: string) => {
    const patterns = [...(asked.get(lane)?.patterns ?? [])].map((pattern) => new RegExp(pattern));
    return laneFiles(lane, tests).filter((file) => patterns.some((pattern) => pattern.test(file)));
  };
  return ['unit', ...Object.keys(LANES)].flatMap((lane) => {
    const { patterns, because } = asked.get(lane) ?? {};
    if (patterns === undefined || because === undefined) return [];
    const elsewhere = filesOf(CONTAINED_IN[lane] ?? '');
    const files = filesOf(lane).filter((file) => !elsewhere.includes(file));
    if (files.length === 0) return [];
    // The empty pattern stands for the whole lane.
    return [
      { lane, patterns: patterns.has('') ? [] : [...patterns], files, because: [...because] },
    ];
  });
}

/**
 * Returns the regular expression that matches a path, relative or absolute, and no other file of
 * the checkout.
 */
export const exactly = (path: string): string =>
  `(^|/)${path.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`;

/**
 * Returns those of the test files that a lane runs. `unit` are the tests that need no real parts.
 */
export function laneFiles(lane: string, tests: readonly string[]): string[] {
  if (lane === 'unit') return tests.filter((file) => !PROJECT.test(file));
  const { projects = [], only } = LANES[lane] ?? {};
  return tests.filter(
    (file) =>
      projects.some((project) => file.startsWith(`test/${project}/`)) && (only?.test(file) ?? true),
  );
}
