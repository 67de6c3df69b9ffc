import type { Logger } from '../api/logger.ts';
import type { Clock } from '../workqueue/clock.ts';

export interface ReloadOptions<T> {
  /** For the log. */
  path: string;
  /** What the file says now. Throws what is wrong with it. */
  read(): Promise<T>;
  /** Takes what the file says. Throws what it cannot take, and has taken nothing then. */
  apply(settings: T): void;
  /** Calls back when it is to be read at once. */
  onHangup(listener: () => void): void;
  clock: Clock;
  logger: Logger;
  signal: AbortSignal;
}

/** How often the file is looked at, in ms. Mounted ConfigMaps are swapped by symbolic links, which no file watch tells of. */
const LOOK_EVERY = 5000;

/**
 * Reads a configuration again when it changes, and when asked to, until the signal. What is wrong is logged, once for as
 * long as it stays the same, and changes nothing. `first` is what was read first.
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
      await clock.sleep(LOOK_EVERY, AbortSignal.any([wake.signal, signal])).catch(() => {});
    if (signal.aborted) return;
    const hungUp = asked;
    asked = false;
    const found = await look(read);
    if (found.fingerprint === last && !hungUp) continue;
    last = found.fingerprint;
    try {
      apply(found.settings());
      logger.info({ path }, 'configuration reloaded');
    } catch (err) {
      logger.error({ err, path }, 'configuration not reloaded; what was read before holds');
    }
  }
}

/** What is there now, or what is wrong with it. `settings` throws that. */
async function look<T>(read: () => Promise<T>): Promise<{ fingerprint: string; settings(): T }> {
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

/** Maps and all. */
const fingerprint = (settings: unknown): string =>
  JSON.stringify(settings, (_, value) => (value instanceof Map ? [...value] : value));
