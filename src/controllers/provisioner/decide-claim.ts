import type { KubeNode, PersistentVolumeClaim, StorageClass } from '../../api/core.ts';
import { CLAIM_EVENT, READY_REASON, SELECTED_NODE_ANNOTATION } from '../../api/names.ts';
import { parseQuantity } from '../../api/quantity.ts';
import {
  type Explanation,
  explain,
  type ReasonCode,
  readReason,
  reason,
} from '../../api/reasons.ts';
import type { Volume } from '../../api/volume.ts';
import { claimOf, claimVolume, volumeNameOf } from '../../model/claim-volume.ts';
import { dataSourceOf } from '../../model/data-source/data-source.ts';
import { type DynamicClass, fileSystemProblem } from '../../model/dynamic-class.ts';
import { RETRY } from '../../model/retry.ts';
import { withHint } from '../../nodes/job-text.ts';
import { publicly } from '../../nodes/public-text.ts';
import { downloadBytes } from '../../storage/populate/download.ts';
import { type Explained, nameOf, publicNameOf, whyNoRoom } from '../lib/capacity/refusal.ts';
import type { EventToSend } from '../lib/event.ts';
import { eventKey, keyOf } from '../lib/event-key.ts';
import { isPrime, untolerated } from './consumers.ts';
import { expand, isItsVolume } from './expand.ts';
import { failureMessage } from './failure-message.ts';
import { whyNotOn } from './nodes.ts';
import type { ClaimDecision, ClaimInput } from './types.ts';

/** Decides about one claim. Pure. */
export function decideClaim(input: ClaimInput, now: number): ClaimDecision {
  const { claim, storageClass, volume, options } = input;
  // A deleted claim's Volume is reclaimed; a lost claim gets no other Volume.
  if (claim.metadata.deletionTimestamp !== undefined || claim.status?.phase === 'Lost') return {};
  if (claim.status?.phase === 'Bound') return maintain(input, now);
  // The claim names its PersistentVolume.
  if (claim.spec.volumeName) return {};
  if (storageClass === undefined || options === undefined) return {};
  // A Volume of an earlier version does not help the claim either.
  const attributes = attributesProblem(claim.spec);
  if (attributes !== undefined) return emit(input, failed(attributes));
  if (volume !== undefined) return wait(input);
  if ('problem' in options) return emit(input, failed(unusable(storageClass, options.problem)));
  const problem = claimProblem(input);
  if (problem !== undefined) return emit(input, failed(problem));
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

/** Emits an event once; returns `otherwise` while it is the last one of the claim. */
const inform = (
  input: ClaimInput,
  event: EventToSend,
  otherwise: ClaimDecision = {},
): ClaimDecision =>
  input.lastEventKey === eventKey(event) ? otherwise : { action: { do: 'emit-event', event } };

/** Emits an event as `inform` does; a warning counts as a failed attempt. */
const emit = (
  input: ClaimInput,
  event: EventToSend,
  otherwise: ClaimDecision = {},
): ClaimDecision => ({
  ...inform(input, event, otherwise),
  ...(event.type === 'Warning' ? { failed: true } : {}),
});

/**
 * Returns why the claim gets no VolumeAttributesClass: the API server refuses one in a
 * PersistentVolume that is not of CSI (validation of `volumeAttributesClassName`), and without it
 * the PersistentVolume controller never binds the claim.
 */
const attributesProblem = ({
  volumeAttributesClassName: name,
}: PersistentVolumeClaim['spec']): Explanation | undefined =>
  name ? explain('VolumeAttributesClassRefused', { class: name }) : undefined;

/**
 * Expands a bound claim, and reports a VolumeAttributesClass that was added to it: event and its
 * reason are those of external-resizer.
 */
function maintain(input: ClaimInput, now: number): ClaimDecision {
  const decision = expand(input, now);
  const why = isItsVolume(input) ? attributesProblem(input.claim.spec) : undefined;
  // An expansion that emits events of its own goes first: two would replace each other.
  if (why === undefined || Object.keys(decision).length > 0) return decision;
  return inform(input, { type: 'Warning', reason: CLAIM_EVENT.modifyFailed, ...why });
}

/**
 * Returns why no volume is possible for the claim and its class: an
 * unbound claim's spec is immutable.
 */
function claimProblem({ claim: { spec }, storageClass }: ClaimInput): Explanation | undefined {
  const modes = spec.accessModes ?? [];
  if (modes.includes('ReadWriteMany')) return explain('ReadWriteManyRefused');
  if (spec.selector !== undefined) return explain('SelectorRefused');
  // Check before the Volume exists: a corrected class does not repair a Volume that failed.
  if (storageClass === undefined || spec.volumeMode === 'Block') return undefined;
  const problem = fileSystemProblem(storageClass);
  return problem === undefined ? undefined : unusable(storageClass, problem);
}

/**
 * Waits until the existing Volume has a PersistentVolume that the claim is bound to. Waiting is not
 * counted as an attempt.
 */
function wait(input: ClaimInput): ClaimDecision {
  const volume = input.volume as NonNullable<ClaimInput['volume']>;
  const { name } = volume.metadata;
  if (claimOf(volume) === undefined) {
    return emit(input, failed(explain('VolumeOfAnotherClaim', { volume: name })));
  }
  const ready = volume.status?.conditions?.find(({ type }) => type === 'Ready');
  const code = readReason(ready?.detail)?.code as ReasonCode | undefined;
  if (volume.status?.phase === 'Failed' && ready?.reason === READY_REASON.freeExtentsCarryData) {
    return takeBack(input, volume);
  }
  if (
    ready?.reason === READY_REASON.waitingForSource ||
    code === 'HostnameLabelMissing' ||
    code === 'HostnameLabelShared'
  ) {
    const { message, detail } = failureMessage(volume);
    return inform(input, failed({ message: `Volume ${name} waits: ${message}`, detail }));
  }
  if (
    ready?.reason === READY_REASON.nodeUnreachable ||
    ready?.reason === READY_REASON.nodeUnclear
  ) {
    // Omit the node's message: it varies per attempt.
    const node = volume.spec.nodeName;
    return inform(input, failed(explain('NodeNotAnswering', { volume: name, node })));
  }
  if (volume.status?.phase !== 'Failed') return {};
  const { message, detail } = failureMessage(volume);
  const on = `Volume ${name} on node ${volume.spec.nodeName}`;
  return emit(input, failed({ message: `${on} could not be provisioned: ${message}`, detail }));
}

/**
 * Deletes a Volume whose node has room only in extents with data of removed volumes. Nothing was
 * created there. The claim goes to another node, or stays if its class consents to overwriting. A
 * Volume with its own consent stays.
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
  const next = node === undefined ? '' : ' The scheduler must choose another node for the claim.';
  const gone = `Volume ${volume.metadata.name} is deleted: nothing was created on the node`;
  const { message, detail } = carried(place, nodeName);
  const event = failed({ message: `${message}.${next} ${gone}`, detail });
  return { action: { do: 'take-back', volume, place, node, event }, failed: true };
}

const carried = (place: DynamicClass['place'], node: string): Explained =>
  explain('ConsentMissing', { place: nameOf(place), node });

/**
 * Provisions on the node that the scheduler chose for the first pod. Writers of the claim can write
 * that choice, too. So it counts only while a pod uses the claim and tolerates the node's taints.
 */
function forSelected(
  input: ClaimInput,
  options: DynamicClass,
  storageClass: StorageClass,
): ClaimDecision {
  const name = input.claim.metadata.annotations?.[SELECTED_NODE_ANNOTATION];
  if (name === undefined) return {};
  const node = input.nodes.find(({ metadata }) => metadata.name === name);
  // The scheduler keeps its choice even if the node was deleted. Ignore nodes of another daemon.
  if (node === undefined && !input.isGone(name)) return {};
  // The node of a claim that another populator fills is not Stowage's concern.
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
      ? emit(input, failed(taint), { requeueAfter: RETRY.rereadSource })
      : rescheduleClaim(input, name, taint);
  }
  const source = sourceOf(input);
  if ('decision' in source) return source.decision;
  if (source.nodes !== undefined && !source.nodes.includes(name)) {
    const nodes = source.nodes.join(', ');
    return rescheduleClaim(input, name, explain('SourceElsewhere', { nodes, node: name }));
  }
  const room = roomOn(input, options, name);
  if (room === undefined) return observeRoom(options, [name]);
  return room.why === undefined
    ? create(input, options, name)
    : rescheduleClaim(input, name, room.why);
}

/** Returns the data source that the claim names; its resolution checks gates and grants. */
const asked = (claim: PersistentVolumeClaim) => dataSourceOf(claim, { crossNamespace: true });

const isOthers = (claim: PersistentVolumeClaim): boolean => asked(claim).kind === 'other';

/** Provisions on the permitted node with the most room. */
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
  if (unseen.length > 0) return observeRoom(options, unseen);
  const [most] = able.sort((a, b) =>
    a.freeBytes < b.freeBytes ? 1 : a.freeBytes > b.freeBytes ? -1 : 0,
  );
  if (most !== undefined) return create(input, options, most.node.metadata.name);
  const why = whys.length === 0 ? explain('NoNode') : ofSeveral(whys);
  return emit(input, failed(why), { requeueAfter: RETRY.recheck });
}

/** Obstacles in the order in which a person can act on them. */
const FIRST: readonly ReasonCode[] = [
  'ConsentMissing',
  'NoRoom',
  'NodeDirectoryUnusable',
  'RoomUnknown',
  'NodeNotReady',
];

/** Joins the obstacles of several nodes, with the first reason by `FIRST`. */
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

/** Returns the nodes with the data of the source; undefined `nodes` if any node will do. */
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
      return { decision: emit(input, event, { requeueAfter: RETRY.rereadSource }) };
    }
    case 'other': {
      const { message, detail } = source;
      const { provisioning } = CLAIM_EVENT;
      return {
        decision: emit(input, { type: 'Normal', reason: provisioning, message, detail }),
      };
    }
  }
}

const observeRoom = ({ place }: DynamicClass, nodes: readonly string[]): ClaimDecision => ({
  action: { do: 'observe-room', nodes, place },
});

/**
 * Returns the room on a node, or why it does not suffice (`why`); undefined if not observed yet.
 */
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
  const why = whyNoRoom(node, publicNameOf(place), room, wanted + download, 'NoRoom', downloaded);
  // Public text for the tenant: administrators have the class and its events.
  if (why !== undefined) return { why: publicly(why) };
  return 'freeBytes' in room ? { why: undefined, freeBytes: room.freeBytes } : undefined;
}

function rescheduleClaim({ claim }: ClaimInput, node: string, why: Explanation): ClaimDecision {
  const next = `The scheduler must choose another node for the claim (Volume ${volumeNameOf(claim)} was not created)`;
  const event = failed({ message: withHint(why.message, next), detail: why.detail });
  return { action: { do: 'give-back', node, event }, failed: true };
}
