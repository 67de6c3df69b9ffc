/** When things were last seen to appear or vanish. What was never told of is not there. */
export interface Sightings {
  tell(key: string, there: boolean): void;
  /** Resolves when each of them was seen so since, or is so already. */
  until(keys: readonly string[], there: boolean): Promise<void>;
  /** When it came to be as it is, as performance.now() has it. */
  at(key: string): number;
}

export function createSightings(): Sightings {
  const seen = new Map<string, { there: boolean; at: number }>();
  const waiting = new Set<{ missing: Set<string>; there: boolean; resolve(): void }>();
  const isThere = (key: string) => seen.get(key)?.there ?? false;
  return {
    tell(key, there) {
      if (isThere(key) === there) return;
      seen.set(key, { there, at: performance.now() });
      for (const each of waiting) {
        if (each.there !== there || !each.missing.delete(key) || each.missing.size > 0) continue;
        waiting.delete(each);
        each.resolve();
      }
    },
    until(keys, there) {
      const missing = new Set(keys.filter((key) => isThere(key) !== there));
      if (missing.size === 0) return Promise.resolve();
      return new Promise((resolve) => waiting.add({ missing, there, resolve }));
    },
    at: (key) => seen.get(key)?.at ?? Number.NaN,
  };
}
