/** A source that the daemon's picture of the cluster comes from. */
export interface ReadinessSource {
  name: string;
  /** ms since the epoch; 0 before the first time. */
  lastHeard(): number;
}

/** API servers say something about every minute, if only how far they are: this is two missed. */
const LATELY_MS = 3 * 60_000;

export interface Readiness {
  ready: boolean;
  /** A line for each source, as API servers word theirs. */
  text: string;
}

/** Ready is who has heard from each source, and lately. `now` is in ms since the epoch. */
export function readiness(sources: readonly ReadinessSource[], now: number): Readiness {
  const checks = sources.map(({ name, lastHeard }) => ({
    name,
    problem: problemOf(lastHeard(), now),
  }));
  const ready = checks.every(({ problem }) => problem === undefined);
  const lines = checks.map(({ name, problem }) =>
    problem === undefined ? `[+]${name} ok` : `[-]${name} failed: ${problem}`,
  );
  return { ready, text: [...lines, `readyz check ${ready ? 'passed' : 'failed'}`, ''].join('\n') };
}

function problemOf(heard: number, now: number): string | undefined {
  if (heard === 0) return 'not heard from yet';
  const ago = now - heard;
  return ago > LATELY_MS ? `not heard from for ${Math.round(ago / 1000)} s` : undefined;
}
