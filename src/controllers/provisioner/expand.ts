import type { ClaimCondition } from '../../api/core.ts';
import { CLAIM_EVENT } from '../../api/names.ts';
import { parseQuantity } from '../../api/quantity.ts';
import { type Explanation, explain } from '../../api/reasons.ts';
import type { Volume } from '../../api/volume.ts';
import { claimOf } from '../../model/claim-volume.ts';
import { nodeOf } from '../../model/volume-nodes.ts';
import { publicly } from '../../nodes/public-text.ts';
import { driverOfSpec, sizeText } from '../../storage/registry.ts';
import { publicNameOf, whyNoRoom } from '../lib/capacity/refusal.ts';
import { eventKey } from '../lib/event-key.ts';
import { failureMessage } from './failure-message.ts';
import type { ClaimDecision, ClaimInput } from './types.ts';

/** Condition types of claims in Kubernetes. */
const RESIZING = 'Resizing';
const OURS = [RESIZING, 'FileSystemResizePending'];

/**
 * Expands the Volume of a bound claim to the requested size if there is room, and updates the
 * claim's status. The kubelet of the node may update it as well while a pod runs.
 */
export function expand(input: ClaimInput, now: number): ClaimDecision {
  const { claim, volume, pv } = input;
  if (volume === undefined || !isItsVolume(input)) return {};
  const wanted = claim.spec.resources?.requests?.storage ?? '0';
  const has = claim.status?.capacity?.storage ?? '0';
  if (parseQuantity(wanted) <= parseQuantity(has)) return done(input);
  const asked = sizeText(volume.spec) ?? '0';
  if (parseQuantity(asked) < parseQuantity(wanted))
    return grow(input, wanted, parseQuantity(wanted) - parseQuantity(asked));
  const capacity = pv?.spec.capacity.storage ?? '0';
  if (parseQuantity(capacity) >= parseQuantity(wanted)) {
    return {
      action: {
        do: 'set-claim-status',
        status: {
          capacity: { ...claim.status?.capacity, storage: capacity },
          conditions: others(input),
        },
      },
    };
  }
  const grows = `Volume ${volume.metadata.name} is being expanded to ${asked}`;
  return resizing(input, failureMessage(volume).message || grows, now);
}

/** Reports whether the Volume is the claim's: provisioned for it, or rebound to it after a fill. */
export function isItsVolume({ claim: { metadata }, pv, volume }: ClaimInput): boolean {
  if (volume === undefined) return false;
  const madeFor = claimOf(volume)?.uid;
  if (madeFor === undefined || madeFor === metadata.uid) return madeFor !== undefined;
  const isOfVolume =
    pv?.metadata.ownerReferences?.some(({ uid }) => uid === volume.metadata.uid) ?? false;
  return isOfVolume && pv?.spec.claimRef?.uid === metadata.uid;
}

function grow(input: ClaimInput, size: string, bytes: bigint): ClaimDecision {
  const { volume, options } = input;
  if (volume === undefined || options === undefined || 'problem' in options) return {};
  const shown = shownByGrowth(volume);
  if (shown !== undefined) return refuse(input, shown);
  const node = nodeOf(volume);
  const room = input.roomOn(node);
  if (room === undefined) {
    return { action: { do: 'observe-room', nodes: [node], place: options.place } };
  }
  const why = whyNoRoom(node, publicNameOf(options.place), room, bytes, 'NoRoomToGrow');
  if (why === undefined) return { action: { do: 'expand', volume, size } };
  return refuse(input, publicly(why));
}

/**
 * Returns the obstacle if bytes added to a Block volume could expose data of earlier volumes.
 * Writing zeros afterwards could overwrite what the pod wrote first.
 */
function shownByGrowth({ spec }: Volume): Explanation | undefined {
  if (!driverOfSpec(spec).exposesOldData?.(spec)) return undefined;
  return explain('GrowthShowsOldData', { group: `${spec.lvmLogicalVolume?.vgName}` });
}

function refuse(input: ClaimInput, why: Explanation): ClaimDecision {
  const event = { type: 'Warning', reason: CLAIM_EVENT.resizeFailed, ...why } as const;
  return input.lastEventKey === eventKey(event)
    ? { requeueAfter: 30_000 }
    : { action: { do: 'emit-event', event } };
}

/** Sets the condition Resizing, once per message. */
function resizing(input: ClaimInput, message: string, now: number): ClaimDecision {
  const old = input.claim.status?.conditions?.find(({ type }) => type === RESIZING);
  if (old?.status === 'True' && old.message === message) return {};
  const condition: ClaimCondition = {
    type: RESIZING,
    status: 'True',
    message,
    lastTransitionTime:
      (old?.status === 'True' ? old.lastTransitionTime : undefined) ??
      new Date(now).toISOString().replace(/\.\d+Z$/, 'Z'),
  };
  return {
    action: { do: 'set-claim-status', status: { conditions: [...others(input), condition] } },
  };
}

/** Removes the condition Resizing from a claim that has its size. */
function done(input: ClaimInput): ClaimDecision {
  const { conditions = [] } = input.claim.status ?? {};
  return conditions.some(({ type }) => type === RESIZING)
    ? { action: { do: 'set-claim-status', status: { conditions: others(input) } } }
    : {};
}

const others = ({ claim }: ClaimInput): ClaimCondition[] =>
  claim.status?.conditions?.filter(({ type }) => !OURS.includes(type)) ?? [];
