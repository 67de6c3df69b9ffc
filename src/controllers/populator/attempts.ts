import type { PersistentVolumeClaim } from '../../api/core.ts';
import type { KubeObject } from '../../api/meta.ts';
import { POPULATE_ATTEMPTS_ANNOTATION } from '../../api/names.ts';
import type { PopulatorDefinition } from '../../api/populator.ts';
import { RETRY } from '../../model/retry.ts';
import { backoffMs } from '../../workqueue/backoff.ts';
import type { Attempts } from './types.ts';

/** Returns the record of a prime claim's pods; undefined if none exists or it is invalid. Pure. */
export function attemptsOf(prime: PersistentVolumeClaim | undefined): Attempts | undefined {
  const text = prime?.metadata.annotations?.[POPULATE_ATTEMPTS_ANNOTATION];
  if (text === undefined) return undefined;
  try {
    const { failed, pod, message, at, of } = JSON.parse(text) as Attempts;
    const isWhole = Number.isSafeInteger(failed) && Number.isFinite(at);
    return isWhole
      ? { failed, at, pod: String(pod), message: String(message), of: String(of) }
      : undefined;
  } catch {
    return undefined;
  }
}

/** Identifies the definition and source of a pod: a change of either permits another attempt. */
export function originOf({ metadata }: PopulatorDefinition, source: KubeObject): string {
  const { uid, generation, resourceVersion } = source.metadata;
  return `${metadata.uid}/${metadata.generation ?? ''} ${uid}/${generation ?? resourceVersion ?? ''}`;
}

/**
 * Returns when the next pod may be created, in ms since the epoch; undefined if none may be for
 * this origin. Pure.
 */
export function nextAttempt(attempts: Attempts | undefined, origin: string): number | undefined {
  if (attempts === undefined || attempts.failed === 0 || attempts.of !== origin) return 0;
  if (attempts.failed >= RETRY.maxTransfers) return undefined;
  return attempts.at + backoffMs(attempts.failed - 1, 0, RETRY.betweenTransfers);
}
