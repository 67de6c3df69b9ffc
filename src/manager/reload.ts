import type { Logger } from '../api/logger.ts';
import type { Clock } from '../workqueue/clock.ts';

export interface ReloadOptions<T> {
  /** Path of the file, for the log. */
  path: string;
  /** Reads the file. Throws if it is invalid. */
  read(): Promise<T>;
  /** Applies the settings. Throws without any change if they cannot be applied. */
  apply(settings: T): void;
  /** Calls back when the file must be read at once. */
  onHangup(listener: () => void): void;
  clock: Clock;
  logger: Logger;
  signal: AbortSignal;
}

/**
 * Interval (ms) at which the file is read. Mounted ConfigMaps are swapped by symbolic links, which
 * no file watch reports.
 */
const POLL_EVERY = 5000;

/**
 * Reloads a configuration when it changes, and on request, until the signal. Logs an error once
 * while it stays the same, and keeps the settings. `first` are the settings already applied.
 */
export async function keepReloading<T>(options: ReloadOptions<T>, first: T): Promise<void> {
  const { path, read, apply, onHangup, clock, logger, signal } = options;
  let last = fingerprint(first);
  let wake = new AbortController();
  let asked = false;
  onHangup(() => {
    asked = true;
    wake.abort();
  });
  while (!signal.aborted) {
    wake = new AbortController();
    if (!asked)
      await clock.sleep(POLL_EVERY, AbortSignal.any([wake.signal, signal])).catch(() => {});
    if (signal.aborted) return;
    const hungUp = asked;
    asked = false;
    const found = await readSettings(read);
    if (found.fingerprint === last && !hungUp) continue;
    last = found.fingerprint;
    try {
      apply(found.settings());
      logger.info({ path }, 'configuration reloaded');
    } catch (err) {
      logger.error({ err, path }, 'configuration not reloaded; the previous one stays in effect');
    }
  }
}

/** Returns the settings of the file, or its error, which `settings` throws. */
async function readSettings<T>(
  read: () => Promise<T>,
): Promise<{ fingerprint: string; settings(): T }> {
  try {
    const settings = await read();
    return { fingerprint: fingerprint(settings), settings: () => settings };
  } catch (err) {
    return {
      fingerprint: `wrong: ${(err as Error).message}`,
      settings() {
        throw err;
      },
    };
  }
}

/** Serializes settings, including maps. */
const fingerprint = (settings: unknown): string =>
  JSON.stringify(settings, (_, value) => (value instanceof Map ? [...value] : value));
