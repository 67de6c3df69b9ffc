/** A source of the daemon's view of the cluster. */
export interface ReadinessSource {
  name: string;
  /** Time of the last message, by the clock of `now`; 0 before the first. */
  lastHeard(): number;
}

/**
 * Maximum age (ms) of the last message: two missed bookmarks, which API servers send about every
 * minute.
 */
const LATELY_MS = 3 * 60_000;

export interface Readiness {
  ready: boolean;
  /** A line for each source, in the format of API servers. */
  text: string;
}

/** Reports ready if each source sent a message recently. `now` is by a clock that never steps. */
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
  if (heard === 0) return 'no response yet';
  const ago = now - heard;
  return ago > LATELY_MS ? `no response for ${Math.round(ago / 1000)} s` : undefined;
}
