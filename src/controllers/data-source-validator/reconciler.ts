import type { PersistentVolumeClaim } from '../../api/core.ts';
import type { VolumePopulator } from '../../api/populator.ts';
import type { Reason } from '../../api/reasons.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Clock } from '../../workqueue/clock.ts';
import { EMIT_AGAIN_AFTER } from '../../workqueue/emit-again.ts';
import { classifyDataSource, type DataSourceClass, eventFor } from './decide.ts';

export interface ValidatorDeps {
  claims: Informer<PersistentVolumeClaim>;
  populators: Informer<VolumePopulator>;
  clock: Pick<Clock, 'now'>;
  /** Reports whether the standard validator runs, which emits the same events. */
  isExternal(): boolean;
  /** Emits an event once, even if an earlier process died after emitting it: see eventOnce. */
  once(
    object: PersistentVolumeClaim,
    type: 'Warning',
    reason: string,
    message: string,
    detail: Reason | undefined,
  ): Promise<void>;
  /** Called with each new or changed verdict; `error`: its event could not be written. */
  onVerdict?: ((verdict: DataSourceClass | 'error') => void) | undefined;
}

/**
 * Returns the reconcile function for claims by `namespace/name`. It warns about data sources of
 * kinds without a populator.
 */
export function createValidator(deps: ValidatorDeps) {
  const { claims, populators, clock, isExternal, once, onVerdict } = deps;
  const last = new Map<string, { uid: string; verdict: DataSourceClass; at: number }>();

  return async (key: string): Promise<{ requeueAfterMs: number } | undefined> => {
    const slash = key.indexOf('/');
    const claim = claims.get(key.slice(slash + 1), key.slice(0, slash));
    if (claim === undefined) {
      last.delete(key);
      return undefined;
    }
    const verdict = classifyDataSource(
      claim,
      populators
        .list()
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .map(({ sourceKind }) => sourceKind),
    );
    const { uid = '' } = claim.metadata;
    const before = last.get(key);
    const isKnown = before?.uid === uid && before.verdict === verdict;
    const event = isExternal() ? undefined : eventFor(claim, verdict);
    const now = clock.now();
    const left = isKnown ? before.at + EMIT_AGAIN_AFTER - now : 0;
    const again =
      event === undefined ? undefined : { requeueAfterMs: left > 0 ? left : EMIT_AGAIN_AFTER };
    if (isKnown && (event === undefined || left > 0)) return again;
    if (event !== undefined) {
      try {
        await once(claim, 'Warning', event.reason, event.message, event.detail);
      } catch (error) {
        onVerdict?.('error');
        throw error;
      }
    }
    // Without an event of its own, one is due as soon as the standard validator is gone.
    last.set(key, { uid, verdict, at: event === undefined ? Number.NEGATIVE_INFINITY : now });
    if (!isKnown) onVerdict?.(verdict);
    return again;
  };
}
