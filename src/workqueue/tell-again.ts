/**
 * API servers drop Events an hour after they were written (`--event-ttl`), some a minute later: what still holds is told again
 * then. ms
 */
export const TELL_AGAIN = 62 * 60_000;
