import type { KubeNode, PersistentVolumeClaim, StorageClass } from '../../api/core.ts';
import { CLAIM_EVENT, READY_REASON, SELECTED_NODE_ANNOTATION } from '../../api/names.ts';
import { parseQuantity } from '../../api/quantity.ts';
import { type Explanation, explain, type ReasonCode, reason } from '../../api/reasons.ts';
import type { Volume } from '../../api/volume.ts';
import { claimOf, claimVolume, volumeNameOf } from '../../model/claim-volume.ts';
import { dataSourceOf } from '../../model/data-source/data-source.ts';
import { type DynamicClass, fileSystemProblem } from '../../model/dynamic-class.ts';
import { RETRY } from '../../model/retry.ts';
import { publicly } from '../../nodes/public-text.ts';
import { downloadBytes } from '../../storage/populate/download.ts';
import { type Explained, nameOf, whyNoRoom } from '../lib/capacity/refusal.ts';
import type { EventToSend } from '../lib/event.ts';
import { keyOf, saidBy } from '../lib/event-key.ts';
import { isPrime, untolerated } from './consumers.ts';
import { expand } from './expand.ts';
import { failureMessage } from './failure-message.ts';
import { whyNotOn } from './nodes.ts';
import type { ClaimDecision, ClaimInput } from './types.ts';

/** What to do about one claim now. Pure. */
export function decideClaim(input: ClaimInput, now: number): ClaimDecision {
  const { claim, storageClass, volume, options } = input;
  // Of a deleted one, its Volume is reclaimed; of a lost one, nothing is made anew.
  if (claim.metadata.deletionTimestamp !== undefined || claim.status?.phase === 'Lost') return {};
  if (claim.status?.phase === 'Bound') return expand(input, now);
  // Somebody chose a PersistentVolume.
  if (claim.spec.volumeName) return {};
  if (storageClass === undefined || options === undefined) return {};
  if (volume !== undefined) return wait(input);
  if ('problem' in options) return tell(input, failed(unusable(storageClass, options.problem)));
  const problem = claimProblem(input);
  if (problem !== undefined) return tell(input, failed(problem));
  return options.waits
    ? forSelected(input, options, storageClass)
    : forAny(input, options, storageClass);
}

const failed = (why: Explanation & { about?: string }): EventToSend => ({
  type: 'Warning',
  reason: CLAIM_EVENT.failed,
  ...why,
});

const unusable = ({ metadata }: StorageClass, message: string): Explanation => ({
  message,
  detail: reason('StorageClassUnusable', { class: metadata.name }),
});

/** Once; then until something changes, or the time is over. */
const inform = (
  input: ClaimInput,
  event: EventToSend,
  otherwise: ClaimDecision = {},
): ClaimDecision => (input.told === saidBy(event) ? otherwise : { action: { do: 'tell', event } });

/** As `inform`; a warning is an attempt that failed. */
const tell = (
  input: ClaimInput,
  event: EventToSend,
  otherwise: ClaimDecision = {},
): ClaimDecision => ({
  ...inform(input, event, otherwise),
  ...(event.type === 'Warning' ? { failed: true } : {}),
});

/** What no volume can be made for, as class and claim are: the spec of a claim that is not bound is immutable. */
function claimProblem({ claim: { spec }, storageClass }: ClaimInput): Explanation | undefined {
  const modes = spec.accessModes ?? [];
  if (modes.includes('ReadWriteMany')) return explain('ReadWriteManyRefused');
  if (spec.selector !== undefined) return explain('SelectorRefused');
  // Of a Volume that could not be made a class that was put right makes nothing.
  if (storageClass === undefined || spec.volumeMode === 'Block') return undefined;
  const problem = fileSystemProblem(storageClass);
  return problem === undefined ? undefined : unusable(storageClass, problem);
}

/** The Volume is there, and is on its way to a PersistentVolume that the claim is bound to. That it waits is no attempt. */
function wait(input: ClaimInput): ClaimDecision {
  const volume = input.volume as NonNullable<ClaimInput['volume']>;
  const { name } = volume.metadata;
  if (claimOf(volume) === undefined) {
    return tell(input, failed(explain('VolumeOfAnotherClaim', { volume: name })));
  }
  const ready = volume.status?.conditions?.find(({ type }) => type === 'Ready');
  if (volume.status?.phase === 'Failed' && ready?.reason === READY_REASON.freeExtentsCarryData) {
    return takeBack(input, volume);
  }
  if (ready?.reason === READY_REASON.waitingForSource) {
    const { message, detail } = failureMessage(volume);
    return inform(input, failed({ message: `Volume ${name} waits: ${message}`, detail }));
  }
  if (
    ready?.reason === READY_REASON.nodeUnreachable ||
    ready?.reason === READY_REASON.nodeUnclear
  ) {
    // What the node says, or what says that it does not, is different each time.
    const node = volume.spec.nodeName;
    return inform(input, failed(explain('NodeNotAnswering', { volume: name, node })));
  }
  if (volume.status?.phase !== 'Failed') return {};
  const { message, detail } = failureMessage(volume);
  const on = `Volume ${name} on node ${volume.spec.nodeName}`;
  return tell(input, failed({ message: `${on} could not be made: ${message}`, detail }));
}

/**
 * Its node has room, and only in extents that carry what removed volumes left. Nothing was made there: the Volume goes, and
 * the claim is to be on another node, or on this one once its class consents. A Volume that somebody gave a consent stays.
 */
function takeBack(input: ClaimInput, volume: Volume): ClaimDecision {
  const { claim, options, pv } = input;
  const { nodeName, overwrite } = volume.spec;
  if (options === undefined || 'problem' in options) return {};
  if (volume.metadata.deletionTimestamp !== undefined || pv !== undefined || overwrite != null)
    return {};
  if (volume.status?.prepared !== undefined) return {};
  const { place, waits } = options;
  const selected = claim.metadata.annotations?.[SELECTED_NODE_ANNOTATION];
  const consents = place.type === 'lvm' && place.overwrite === true;
  const node = waits && !consents && selected === nodeName ? nodeName : undefined;
  const next = node === undefined ? '' : ' The scheduler is to choose another node for the claim.';
  const gone = `Volume ${volume.metadata.name} is deleted: nothing was made`;
  const { message, detail } = carried(place, nodeName);
  const event = failed({ message: `${message}.${next} ${gone}`, detail });
  return { action: { do: 'take-back', volume, place, node, event }, failed: true };
}

const carried = (place: DynamicClass['place'], node: string): Explained =>
  explain('ConsentMissing', { place: nameOf(place), node });

/**
 * Provisions on the node that the scheduler chose for the first pod. Whoever may write the claim may write that choice, too: so it
 * counts only while a pod uses the claim, and for a node whose taints that pod tolerates.
 */
function forSelected(
  input: ClaimInput,
  options: DynamicClass,
  storageClass: StorageClass,
): ClaimDecision {
  const name = input.claim.metadata.annotations?.[SELECTED_NODE_ANNOTATION];
  if (name === undefined) return {};
  const node = input.nodes.find(({ metadata }) => metadata.name === name);
  // The scheduler holds on to its choice, also of a node that was deleted since. Another daemon's is left to that.
  if (node === undefined && !input.isGone(name)) return {};
  // Where somebody else's is to be made is not ours to say.
  const others = isOthers(input.claim) ? sourceOf(input) : undefined;
  if (others !== undefined && 'decision' in others) return others.decision;
  const why =
    node === undefined
      ? explain('SelectedNodeMissing', { node: name })
      : whyNotOn(node, storageClass);
  if (why !== undefined) return rescheduleClaim(input, name, why);
  if (input.consumers.length === 0) return {};
  const taint = node && untolerated(node, input.consumers);
  if (taint !== undefined) {
    return isPrime(input.claim)
      ? tell(input, failed(taint), { requeueAfter: RETRY.rereadSource })
      : rescheduleClaim(input, name, taint);
  }
  const source = sourceOf(input);
  if ('decision' in source) return source.decision;
  if (source.nodes !== undefined && !source.nodes.includes(name)) {
    const nodes = source.nodes.join(', ');
    return rescheduleClaim(input, name, explain('SourceElsewhere', { nodes, node: name }));
  }
  const room = roomOn(input, options, name);
  if (room === undefined) return lookForRoom(options, [name]);
  return room.why === undefined
    ? create(input, options, name)
    : rescheduleClaim(input, name, room.why);
}

/** Whether it may be followed is asked with the rest. */
const asked = (claim: PersistentVolumeClaim) => dataSourceOf(claim, { crossNamespace: true });

const isOthers = (claim: PersistentVolumeClaim): boolean => asked(claim).kind === 'other';

/** Where there is most room, of the nodes that it can be on. */
function forAny(
  input: ClaimInput,
  options: DynamicClass,
  storageClass: StorageClass,
): ClaimDecision {
  const source = sourceOf(input);
  if ('decision' in source) return source.decision;
  const whys: Explained[] = [];
  const unseen: string[] = [];
  const able: { node: KubeNode; freeBytes: bigint }[] = [];
  for (const node of input.nodes) {
    const { name } = node.metadata;
    if (source.nodes !== undefined && !source.nodes.includes(name)) continue;
    const why = whyNotOn(node, storageClass);
    if (why !== undefined) {
      whys.push(why);
      continue;
    }
    const room = roomOn(input, options, name);
    if (room === undefined) {
      unseen.push(name);
      continue;
    }
    if (room.why === undefined) able.push({ node, freeBytes: room.freeBytes });
    else whys.push(room.why);
  }
  if (unseen.length > 0) return lookForRoom(options, unseen);
  const [most] = able.sort((a, b) =>
    a.freeBytes < b.freeBytes ? 1 : a.freeBytes > b.freeBytes ? -1 : 0,
  );
  if (most !== undefined) return create(input, options, most.node.metadata.name);
  const why = whys.length === 0 ? explain('NoNode') : ofSeveral(whys);
  return tell(input, failed(why), { requeueAfter: RETRY.recheck });
}

/** The order in which somebody can do something about what keeps a volume from nodes. */
const FIRST: readonly ReasonCode[] = [
  'ConsentMissing',
  'NoRoom',
  'NodeDirectoryUnusable',
  'RoomUnknown',
  'NodeNotReady',
];

/** All that is said of several nodes, for the reason of one. */
function ofSeveral(whys: readonly Explained[]): Explanation & { about: string } {
  const [first = whys[0]] = FIRST.flatMap((code) =>
    whys.filter(({ detail }) => detail.code === code),
  );
  return {
    message: whys.map(({ message }) => message).join('; '),
    detail: first?.detail,
    about: whys.map(({ detail }) => keyOf(detail)).join('; '),
  };
}

function create(input: ClaimInput, options: DynamicClass, node: string): ClaimDecision {
  const { source } = input;
  const from = source?.is === 'ready' ? source.source : undefined;
  return {
    action: {
      do: 'create-volume',
      volume: claimVolume(input.claim, options, node, from),
    },
  };
}

/** The nodes that the data is on; undefined where it starts from nothing. */
function sourceOf(
  input: ClaimInput,
): { nodes: readonly string[] | undefined } | { decision: ClaimDecision } {
  const { claim, source } = input;
  if (source === undefined && asked(claim).kind === 'none') return { nodes: undefined };
  if (source === undefined) return { decision: { action: { do: 'resolve-source' } } };
  switch (source.is) {
    case 'none':
      return { nodes: undefined };
    case 'ready':
      return { nodes: source.nodes };
    case 'waits': {
      const { message, detail } = source;
      const event = failed({ message, detail });
      return { decision: tell(input, event, { requeueAfter: RETRY.rereadSource }) };
    }
    case 'other': {
      const { message, detail } = source;
      const { provisioning } = CLAIM_EVENT;
      return {
        decision: tell(input, { type: 'Normal', reason: provisioning, message, detail }),
      };
    }
  }
}

const lookForRoom = ({ place }: DynamicClass, nodes: readonly string[]): ClaimDecision => ({
  action: { do: 'look-for-room', nodes, place },
});

/** Undefined `why`: there is room. Undefined where that was not looked for. */
function roomOn(
  input: ClaimInput,
  { place }: DynamicClass,
  node: string,
): { why: Explained } | { why: undefined; freeBytes: bigint } | undefined {
  const room = input.roomOn(node);
  if (room === undefined) return undefined;
  const wanted = parseQuantity(input.claim.spec.resources?.requests?.storage ?? '0');
  if ('freeBytes' in room && room.refusedBytes !== undefined && wanted >= room.refusedBytes) {
    return { why: carried(place, node) };
  }
  const { source } = input;
  const populator = source?.is === 'ready' ? source.source.populator : undefined;
  const format = populator?.options.format;
  const download = place.type === 'sparse' ? downloadBytes(format, wanted) : 0n;
  const downloaded = download === 0n ? undefined : format;
  const why = whyNoRoom(node, place, room, wanted + download, 'NoRoom', downloaded);
  // For the tenant: administrators have the class, and its events.
  if (why !== undefined) return { why: publicly(why) };
  return 'freeBytes' in room ? { why: undefined, freeBytes: room.freeBytes } : undefined;
}

function rescheduleClaim({ claim }: ClaimInput, node: string, why: Explanation): ClaimDecision {
  const message = `${why.message}. The scheduler is to choose another node for the claim (Volume ${volumeNameOf(claim)} was not made)`;
  const event = failed({ message, detail: why.detail });
  return { action: { do: 'give-back', node, event }, failed: true };
}
