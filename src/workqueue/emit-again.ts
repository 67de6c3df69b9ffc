/**
 * Time (ms) after which an Event about a lasting state is emitted again. API servers drop Events
 * one hour after they were written (`--event-ttl`), some a minute later.
 */
export const EMIT_AGAIN_AFTER = 62 * 60_000;
