import type { PersistentVolumeClaim } from '../../api/core.ts';
import type { KubeObject } from '../../api/meta.ts';
import { mayEnd } from '../../model/data-source/source-watch-match.ts';
import type { Awaited } from '../../model/data-source/types.ts';
import type { ClaimStart } from './types.ts';

/**
 * Resolves claims' data sources and tracks which claim waits for which object. Claims
 * are named as `namespace/name`.
 */
export interface SourceResolver {
  /**
   * Resolves the data source of a claim.
   * @throws errors of the API server
   */
  ask(key: string, claim: PersistentVolumeClaim): Promise<ClaimStart>;
  /** Reports whether a claim waits for its data source; nothing else lets it continue. */
  waits(key: string): boolean;
  /** Returns the claims that wait for such an object. */
  waitingFor(kind: Awaited['kind'], object: KubeObject): string[];
  /** Removes the claim from those that wait. */
  forget(key: string): void;
}

/** Maximum reads in a row of a data source that changes during each read. */
const MAX_READS = 10;

/** @param resolve resolves a claim's data source by live reads */
export function createSourceResolver(
  resolve: (claim: PersistentVolumeClaim) => Promise<ClaimStart>,
): SourceResolver {
  const waiting = new Map<string, readonly Awaited[]>();
  /** Objects that changed during a claim's present read. */
  const asking = new Map<string, { kind: Awaited['kind']; object: KubeObject }[]>();
  return {
    async ask(key, claim) {
      // Repeat after a change during the read: the result may lack it, and
      // the claim was not waiting yet.
      for (let left = MAX_READS; ; left--) {
        const heard: { kind: Awaited['kind']; object: KubeObject }[] = [];
        asking.set(key, heard);
        const source = await resolve(claim).finally(() => asking.delete(key));
        // A populator for another kind may still be registered.
        if (source.is !== 'waits' && source.is !== 'other') {
          waiting.delete(key);
          return source;
        }
        waiting.set(key, source.on);
        if (left <= 1 || !heard.some(({ kind, object }) => isAwaited(source.on, kind, object)))
          return source;
      }
    },
    waits: (key) => waiting.has(key),
    waitingFor(kind, object) {
      for (const heard of asking.values()) heard.push({ kind, object });
      return [...waiting].flatMap(([key, on]) => (isAwaited(on, kind, object) ? [key] : []));
    },
    forget(key) {
      waiting.delete(key);
    },
  };
}

const isAwaited = (on: readonly Awaited[], kind: Awaited['kind'], object: KubeObject): boolean =>
  on.some((each) => mayEnd(each, kind, object));
