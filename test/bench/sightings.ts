/** When things were last seen to appear or vanish. What was never told of is not there. */
export interface Sightings {
  tell(key: string, there: boolean): void;
  /** Resolves when each of them was seen so since, or is so already. Rejects after ten minutes. */
  until(keys: readonly string[], there: boolean): Promise<void>;
  /** When it came to be as it is, as performance.now() has it. */
  at(key: string): number;
}

const DEADLINE = 600_000;

interface Waiting {
  missing: Set<string>;
  there: boolean;
  resolve(): void;
}

/** @param what is seen, for the error */
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
