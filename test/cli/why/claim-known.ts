import type { AnyEvent, PersistentVolumeClaim, StorageClass } from '../../../src/api/core.ts';
import { COMPONENT, DRIVER } from '../../../src/api/names.ts';
import { type Explanation, reasonAnnotations } from '../../../src/api/reasons.ts';
import type { ClaimFacts } from '../../../src/cli/why/claim/facts.ts';
import { classNamed } from '../../support/volumes.ts';

/** Facts that `why pvc` reads about a claim of a dynamic class, with defaults. */

export const ABSENT = { absent: true } as const;
export const FAST: StorageClass = { ...classNamed('fast'), provisioner: DRIVER };
export const WAITS: StorageClass = { ...FAST, volumeBindingMode: 'WaitForFirstConsumer' };

export const knownOf = (
  claim: PersistentVolumeClaim,
  parts: Partial<ClaimFacts> = {},
): ClaimFacts => ({
  claim,
  storageClass: { found: FAST },
  source: { none: true },
  misses: [],
  population: undefined,
  ...{ pv: ABSENT, volume: ABSENT, known: undefined },
  pods: { found: [] },
  events: { found: [] },
  supply: undefined,
  ...parts,
});

/** Returns an event of the daemon. Without `detail`, it is that of an earlier version. */
export const eventOf = (
  reason: string,
  { message, detail }: Explanation,
  type: 'Warning' | 'Normal' = 'Warning',
) =>
  ({
    ...{ type, reason, message, firstTimestamp: '2029-12-31T23:59:00Z' },
    metadata: { name: 'e', ...(detail && { annotations: reasonAnnotations(detail) }) },
    involvedObject: {},
    source: { component: COMPONENT },
  }) as unknown as AnyEvent;
