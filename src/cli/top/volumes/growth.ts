/** Growth of a volume, as far as one run of the command has seen it. */
export interface Growth {
  /** Mean growth in bytes per day; negative if the volume became emptier. */
  bytesPerDay: number;
  /** Time (s) between the two measurements. */
  overSeconds: number;
  /** Time (s) until it is full at that rate; absent if it does not grow. */
  fullInSeconds?: number;
}

interface Sample {
  usedBytes: number;
  /** Time of the measurement, in ms since the epoch. */
  at: number;
}

/**
 * Minimum time (ms) between two measurements. A kubelet measures about once per minute, so that
 * less would extrapolate a single write to a day.
 */
const SHORTEST = 5 * 60_000;
const DAY = 24 * 60 * 60_000;

export interface GrowthTracker {
  /**
   * Adds a measurement of a volume, and returns its growth since the first one; undefined until
   * they are 5 min apart. A measurement without a time is ignored.
   */
  add(
    uid: string,
    figures: { usedBytes: number; availableBytes: number; at?: number },
  ): Growth | undefined;
}

/** Creates a tracker, which keeps one measurement of each volume. */
export function createGrowthTracker(): GrowthTracker {
  const first = new Map<string, Sample>();
  return {
    add(uid, { usedBytes, availableBytes, at }) {
      if (at === undefined) return undefined;
      const before = first.get(uid);
      // A clock that was set back would turn growth around.
      if (before === undefined || at < before.at) {
        first.set(uid, { usedBytes, at });
        return undefined;
      }
      const over = at - before.at;
      if (over < SHORTEST) return undefined;
      const perMs = (usedBytes - before.usedBytes) / over;
      return {
        bytesPerDay: Math.round(perMs * DAY),
        overSeconds: Math.round(over / 1000),
        ...(perMs > 0 && { fullInSeconds: Math.floor(availableBytes / perMs / 1000) }),
      };
    },
  };
}
