/**
 * Times at which objects last appeared or vanished. An object that was never observed is absent.
 */
export interface Sightings {
  tell(key: string, there: boolean): void;
  /**
   * Resolves once each object was observed in that state; at once if all are. Rejects after ten
   * minutes.
   */
  until(keys: readonly string[], there: boolean): Promise<void>;
  /** Returns the time of the last change, as of performance.now(). */
  at(key: string): number;
}

const DEADLINE = 600_000;

interface Waiting {
  missing: Set<string>;
  there: boolean;
  resolve(): void;
}

/** @param what names the objects in errors */
export function createSightings(what: string): Sightings {
  const seen = new Map<string, { there: boolean; at: number }>();
  const waiting = new Set<Waiting>();
  const isThere = (key: string) => seen.get(key)?.there ?? false;
  return {
    tell(key, there) {
      if (isThere(key) === there) return;
      seen.set(key, { there, at: performance.now() });
      for (const each of waiting) {
        if (each.there === there && each.missing.delete(key) && each.missing.size === 0)
          each.resolve();
      }
    },
    async until(keys, there) {
      const missing = new Set(keys.filter((key) => isThere(key) !== there));
      if (missing.size === 0) return;
      await new Promise<void>((resolve, reject) => {
        const each: Waiting = { missing, there, resolve: () => end(resolve) };
        const timer = setTimeout(() => end(late), DEADLINE);
        const end = (how: () => void) => {
          clearTimeout(timer);
          waiting.delete(each);
          how();
        };
        const late = () => {
          const [one] = missing;
          const state = there ? 'not seen' : 'still seen';
          reject(
            new Error(
              `${what}: ${missing.size} of ${keys.length} ${state} after ${DEADLINE} ms, such as ${one}`,
            ),
          );
        };
        waiting.add(each);
      });
    },
    at: (key) => seen.get(key)?.at ?? Number.NaN,
  };
}
