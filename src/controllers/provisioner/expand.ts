import type { ClaimCondition } from '../../api/core.ts';
import { CLAIM_EVENT } from '../../api/names.ts';
import { parseQuantity } from '../../api/quantity.ts';
import { type Explanation, explain } from '../../api/reasons.ts';
import type { Volume } from '../../api/volume.ts';
import { claimOf } from '../../model/claim-volume.ts';
import { nodeOf } from '../../model/desired-volume.ts';
import { publicly } from '../../nodes/public-text.ts';
import { driverOfSpec, sizeText } from '../../storage/registry.ts';
import { whyNoRoom } from '../lib/capacity/refusal.ts';
import { saidBy } from '../lib/event-key.ts';
import { failureMessage } from './failure-message.ts';
import type { ClaimDecision, ClaimInput } from './types.ts';

/** Of conditions on claims, as Kubernetes has them. */
const RESIZING = 'Resizing';
const OURS = [RESIZING, 'FileSystemResizePending'];

/**
 * A claim that is bound: its Volume grows to what it asks for, where there is room, and the claim is told of it. The kubelet of the node
 * may tell it as well, once a pod is there.
 */
export function expand(input: ClaimInput, now: number): ClaimDecision {
  const { claim, volume, pv } = input;
  if (volume === undefined || !isIts(input, volume)) return {};
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
  const grows = `Volume ${volume.metadata.name} grows to ${asked}`;
  return resizing(input, failureMessage(volume).message || grows, now);
}

/** Made for it, or given to it once it was filled: by whose the PersistentVolume is. */
function isIts({ claim: { metadata }, pv }: ClaimInput, volume: Volume): boolean {
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
    return { action: { do: 'look-for-room', nodes: [node], place: options.place } };
  }
  const why = whyNoRoom(node, options.place, room, bytes, 'NoRoomToGrow');
  if (why === undefined) return { action: { do: 'expand', volume, size } };
  return refuse(input, publicly(why));
}

/**
 * Bytes that are added to a volume of mode Block may show at once what earlier volumes left there, and whoever writes zeros there may
 * write over what the pod wrote first.
 */
function shownByGrowth({ spec }: Volume): Explanation | undefined {
  if (!driverOfSpec(spec).exposesOldData?.(spec)) return undefined;
  return explain('GrowthShowsOldData', { group: `${spec.lvmLogicalVolume?.vgName}` });
}

function refuse(input: ClaimInput, why: Explanation): ClaimDecision {
  const event = { type: 'Warning', reason: CLAIM_EVENT.resizeFailed, ...why } as const;
  return input.told === saidBy(event)
    ? { requeueAfter: 30_000 }
    : { action: { do: 'tell', event } };
}

/** Says on the claim that it grows, once for each reason. */
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

/** It has what it asks for: a condition that says otherwise is of before. */
function done(input: ClaimInput): ClaimDecision {
  const { conditions = [] } = input.claim.status ?? {};
  return conditions.some(({ type }) => type === RESIZING)
    ? { action: { do: 'set-claim-status', status: { conditions: others(input) } } }
    : {};
}

const others = ({ claim }: ClaimInput): ClaimCondition[] =>
  claim.status?.conditions?.filter(({ type }) => !OURS.includes(type)) ?? [];
