import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Clock, longestSince, type Moment, momentOf } from '../../workqueue/clock.ts';

/** Time (ms) for which a token is valid. */
export const TOKEN_MS = 60_000;
/** Tabs of a browser have a key each. Beyond this number, the oldest key ends. */
const MOST_KEYS = 16;
/** 256 bits. */
const BYTES = 32;

export interface Token {
  token: string;
  /** Aborts once the token is used or replaced; not when its time is over. */
  ended: AbortSignal;
}

export interface Session {
  /** Returns a new token. The previous one is void. */
  issue(): Token;
  /** Returns a new key for the valid token, which ends with it; undefined for any other text. */
  exchange(token: string): string | undefined;
  /** Reports whether a key is valid. */
  admits(key: string): boolean;
  /** Voids the token. */
  end(): void;
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * Creates the secrets of one run of `stowage ui`. It stores only digests, and compares these in
 * constant time.
 * @param random returns that many random bytes
 */
export function createSession(
  clock: Pick<Clock, 'now' | 'timeOfDay'>,
  random: (bytes: number) => Buffer = randomBytes,
): Session {
  let current: { hash: Buffer; at: Moment; end: AbortController } | undefined;
  let keys: Buffer[] = [];
  const secret = () => random(BYTES).toString('base64url');

  function end(): void {
    current?.end.abort();
    current = undefined;
  }

  return {
    issue() {
      end();
      const token = secret();
      current = { hash: digest(token), at: momentOf(clock), end: new AbortController() };
      return { token, ended: current.end.signal };
    },
    exchange(token) {
      if (current === undefined) return undefined;
      const { hash, at } = current;
      const isEqual = timingSafeEqual(digest(token), hash);
      if (!isEqual || longestSince(at, clock) >= TOKEN_MS) return undefined;
      end();
      const key = secret();
      keys = [...keys, digest(key)].slice(-MOST_KEYS);
      return key;
    },
    admits(key) {
      const hash = digest(key);
      // Each key is compared, so that the time does not depend on the position of the match.
      return keys.reduce((found, each) => timingSafeEqual(hash, each) || found, false);
    },
    end,
  };
}
