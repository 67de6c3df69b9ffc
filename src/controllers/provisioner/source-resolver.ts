import type { PersistentVolumeClaim } from '../../api/core.ts';
import type { KubeObject } from '../../api/meta.ts';
import { mayEnd } from '../../model/data-source/source-watch-match.ts';
import type { Awaited } from '../../model/data-source/types.ts';
import type { ClaimStart } from './types.ts';

/** What claims start from is asked here, and who waits for what of it is kept. Claims are named as `namespace/name`. */
export interface SourceResolver {
  /** @throws what the API server refuses */
  ask(key: string, claim: PersistentVolumeClaim): Promise<ClaimStart>;
  /** Whether a claim waits for what it starts from: nothing else lets it go on. */
  waits(key: string): boolean;
  /** The claims that wait for such an object. */
  waitingFor(kind: Awaited['kind'], object: KubeObject): string[];
  /** The claim waits no more. */
  forget(key: string): void;
}

/** How often in a row it is asked again what a claim starts from, as something of that changed meanwhile. */
const MAX_READS = 10;

/** @param resolve says what a claim starts from, by live reads */
export function createSourceResolver(
  resolve: (claim: PersistentVolumeClaim) => Promise<ClaimStart>,
): SourceResolver {
  const waiting = new Map<string, readonly Awaited[]>();
  /** What was heard of since the reads began that say what a claim starts from. */
  const asking = new Map<string, { kind: Awaited['kind']; object: KubeObject }[]>();
  return {
    async ask(key, claim) {
      // What comes into being while it is read may be in no answer, and wakes nobody who does not wait yet.
      for (let left = MAX_READS; ; left--) {
        const heard: { kind: Awaited['kind']; object: KubeObject }[] = [];
        asking.set(key, heard);
        const source = await resolve(claim).finally(() => asking.delete(key));
        // Who fills it may be registered yet.
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
