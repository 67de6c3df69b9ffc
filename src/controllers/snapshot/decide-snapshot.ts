import { DRIVER, SNAPSHOT_EVENT, SNAPSHOT_FINALIZERS } from '../../api/names.ts';
import { type Explanation, explain } from '../../api/reasons.ts';
import type {
  VolumeSnapshot,
  VolumeSnapshotClass,
  VolumeSnapshotContent,
} from '../../api/snapshot.ts';
import { publicly } from '../../nodes/public-text.ts';
import type { EventToSend } from '../lib/event.ts';
import { contentFor, contentNameOf, mayReferTo, refersTo } from '../lib/snapshot-content.ts';
import { decideSnapshotDeletion } from './decide-snapshot-deletion.ts';
import { defaultClass, freezeOf } from './snapshot-class.ts';
import { snapshotSourceOf } from './source.ts';
import { detailOf, type SnapshotStatusFields, setFields, setProblem, shownOf } from './status.ts';
import type { Decision, SnapshotAction, SnapshotInput } from './types.ts';

/**
 * Decides about one VolumeSnapshot, in place of the standard snapshot-controller or beside it.
 * Ignores snapshots of other drivers. Pure.
 * @param now ms since the epoch
 */
export function decideSnapshot(input: SnapshotInput, now: number): Decision<SnapshotAction> {
  const { snapshot, mode } = input;
  if (mode === 'external') return beside(input);
  if (snapshot.metadata.deletionTimestamp !== undefined) return decideSnapshotDeletion(input, now);
  const { persistentVolumeClaimName, volumeSnapshotContentName } = snapshot.spec.source;
  if ((persistentVolumeClaimName === undefined) === (volumeSnapshotContentName === undefined)) {
    return problem(snapshot, now, SNAPSHOT_EVENT.validation, explain('SnapshotSourceAmbiguous'));
  }
  return volumeSnapshotContentName === undefined ? dynamic(input, now) : preProvisioned(input, now);
}

/**
 * Decides beside the standard snapshot-controller. The snapshot-controller refuses claims whose
 * PersistentVolume is not CSI, but binds an existing content of the expected name. By the driver of
 * such a PersistentVolume, it finds no default class, so this function sets the class as well.
 * Everything else is left to the snapshot-controller, including reports of obstacles.
 */
function beside({ snapshot, content, ...input }: SnapshotInput): Decision<SnapshotAction> {
  const { metadata, spec, status } = snapshot;
  const claimName = spec.source.persistentVolumeClaimName;
  if (metadata.deletionTimestamp !== undefined || claimName === undefined) return {};
  if (content !== undefined) {
    const name = content.spec.volumeSnapshotClassName;
    const isOurs = content.spec.driver === DRIVER && refersTo(content, snapshot);
    if (spec.volumeSnapshotClassName !== undefined || name === undefined || !isOurs) return {};
    return { action: { do: 'set-class', name } };
  }
  if (status?.boundVolumeSnapshotContentName !== undefined) return {};
  const source = snapshotSourceOf(claimName, input.claim, input.pv, input.volume);
  const snapshotClass = classOf(snapshot, input.classes);
  if (source.is !== 'ours' || 'message' in snapshotClass || 'message' in freezeOf(snapshotClass))
    return {};
  if (spec.volumeSnapshotClassName === undefined) {
    return { action: { do: 'set-class', name: snapshotClass.metadata.name } };
  }
  // The finalizer shows that the standard controller handles the snapshot: a deletion from now on
  // waits for it to clean up the content.
  const { asSource, bound } = SNAPSHOT_FINALIZERS;
  if (![asSource, bound].some((each) => metadata.finalizers?.includes(each))) return {};
  return create(contentFor(snapshot, source.volume, snapshotClass));
}

function dynamic(input: SnapshotInput, now: number): Decision<SnapshotAction> {
  const { snapshot, content, classes } = input;
  const { metadata, spec, status } = snapshot;
  const name = contentNameOf(snapshot) ?? '';
  if (content !== undefined) {
    if (content.spec.driver !== DRIVER) return {};
    if (!refersTo(content, snapshot)) return misbound(snapshot, now, name);
    if (content.spec.source.volumeHandle === undefined) {
      const why = explain('ContentPreProvisioned');
      return problem(snapshot, now, SNAPSHOT_EVENT.contentMismatch, why);
    }
    return bound(input, content);
  }
  if (status?.boundVolumeSnapshotContentName !== undefined) return missing(snapshot, now, name);

  const source = snapshotSourceOf(
    spec.source.persistentVolumeClaimName ?? '',
    input.claim,
    input.pv,
    input.volume,
  );
  const named = classes.find((each) => each.metadata.name === spec.volumeSnapshotClassName);
  // Leave a snapshot of another driver, or of an unknown source, to that driver.
  if (named !== undefined && named.driver !== DRIVER && source.is !== 'ours') return {};
  if (source.is === 'not-ours') {
    return named === undefined ? {} : cannotCreate(snapshot, now, source.why);
  }
  if (source.is === 'waits') return cannotCreate(snapshot, now, source.why);
  const snapshotClass = classOf(snapshot, classes);
  if ('message' in snapshotClass) {
    return spec.volumeSnapshotClassName === undefined
      ? problem(snapshot, now, SNAPSHOT_EVENT.defaultClassFailed, {
          ...snapshotClass,
          message: `Failed to set default snapshot class with error ${snapshotClass.message}`,
        })
      : cannotCreate(snapshot, now, snapshotClass);
  }
  if (spec.volumeSnapshotClassName === undefined) {
    return { action: { do: 'set-class', name: snapshotClass.metadata.name } };
  }
  const freeze = freezeOf(snapshotClass);
  if ('message' in freeze) return cannotCreate(snapshot, now, freeze);
  // Add the finalizer first: a snapshot deleted at this moment must not leave a content behind.
  if (!metadata.finalizers?.includes(SNAPSHOT_FINALIZERS.bound)) {
    return { action: { do: 'add-finalizer', finalizer: SNAPSHOT_FINALIZERS.bound } };
  }
  if (!source.claim.metadata.finalizers?.includes(SNAPSHOT_FINALIZERS.claimAsSource)) {
    return { action: { do: 'protect-claim', claim: source.claim } };
  }
  const why = explain('SnapshotBegun', { snapshot: idOf(snapshot) });
  const event: EventToSend = { type: 'Normal', reason: SNAPSHOT_EVENT.creating, ...why };
  return create(contentFor(snapshot, source.volume, snapshotClass), event);
}

function preProvisioned(input: SnapshotInput, now: number): Decision<SnapshotAction> {
  const { snapshot, content } = input;
  const name = contentNameOf(snapshot) ?? '';
  if (content === undefined) return missing(snapshot, now, name);
  if (content.spec.driver !== DRIVER) return {};
  if (content.spec.source.snapshotHandle === undefined) {
    const why = explain('ContentDynamic');
    return problem(snapshot, now, SNAPSHOT_EVENT.contentMismatch, why);
  }
  if (!mayReferTo(content, snapshot)) return misbound(snapshot, now, name);
  if (!snapshot.metadata.finalizers?.includes(SNAPSHOT_FINALIZERS.bound)) {
    return { action: { do: 'add-finalizer', finalizer: SNAPSHOT_FINALIZERS.bound } };
  }
  if (!refersTo(content, snapshot)) return { action: { do: 'bind-content', content } };
  return bound(input, content);
}

/** Copies the content's status to its snapshot, and protects the snapshot during restores. */
function bound(
  { snapshot, restores }: SnapshotInput,
  content: VolumeSnapshotContent,
): Decision<SnapshotAction> {
  const { metadata, status } = snapshot;
  const { asSource } = SNAPSHOT_FINALIZERS;
  if (!metadata.finalizers?.includes(SNAPSHOT_FINALIZERS.bound)) {
    return { action: { do: 'add-finalizer', finalizer: SNAPSHOT_FINALIZERS.bound } };
  }
  const isProtected = metadata.finalizers.includes(asSource);
  if (!isProtected && restores.length > 0)
    return { action: { do: 'add-finalizer', finalizer: asSource } };
  if (isProtected && restores.length === 0) {
    return { action: { do: 'take-off-finalizers', finalizers: [asSource] } };
  }
  const shown = shownOf(content);
  const action = setFields(status, shown, eventOf(snapshot, content, shown));
  return action === undefined ? {} : { action };
}

function eventOf(
  snapshot: VolumeSnapshot,
  content: VolumeSnapshotContent,
  { error, readyToUse }: SnapshotStatusFields,
): EventToSend | undefined {
  const { status } = snapshot;
  if (error != null && error.message !== status?.error?.message) {
    const why = publicly({ message: error.message ?? '', detail: detailOf(content) });
    return { type: 'Warning', reason: SNAPSHOT_EVENT.creationFailed, ...why };
  }
  if (!readyToUse || status?.readyToUse) return undefined;
  const { message, detail } = explain('SnapshotReady', { snapshot: idOf(snapshot) });
  return { type: 'Normal', reason: SNAPSHOT_EVENT.ready, message: `${message}.`, detail };
}

const idOf = ({ metadata }: VolumeSnapshot): string => `${metadata.namespace}/${metadata.name}`;

function classOf(
  { spec }: VolumeSnapshot,
  classes: readonly VolumeSnapshotClass[],
): VolumeSnapshotClass | Explanation {
  const name = spec.volumeSnapshotClassName;
  if (name === undefined) return defaultClass(classes);
  const found = classes.find(({ metadata }) => metadata.name === name);
  if (found === undefined) return explain('SnapshotClassNotFound', { class: JSON.stringify(name) });
  const { driver } = found;
  return driver === DRIVER
    ? found
    : explain('SnapshotClassForeign', { class: name, driver, own: DRIVER });
}

const create = (content: VolumeSnapshotContent, event?: EventToSend): Decision<SnapshotAction> => ({
  action: { do: 'create-content', content, ...(event && { event }) },
});

function cannotCreate(
  snapshot: VolumeSnapshot,
  now: number,
  { message, detail }: Explanation,
): Decision<SnapshotAction> {
  return problem(snapshot, now, SNAPSHOT_EVENT.contentCreationFailed, {
    message: `Failed to create snapshot content with error ${message}`,
    detail,
  });
}

/**
 * Reports a missing content. None is created again under its name: it may refer to the only copy.
 */
const missing = (snapshot: VolumeSnapshot, now: number, name: string): Decision<SnapshotAction> =>
  problem(
    snapshot,
    now,
    SNAPSHOT_EVENT.contentMissing,
    explain('ContentMissing', { content: name }),
  );

const misbound = (snapshot: VolumeSnapshot, now: number, name: string): Decision<SnapshotAction> =>
  problem(
    snapshot,
    now,
    SNAPSHOT_EVENT.contentMisbound,
    explain('ContentMisbound', { content: name }),
  );

/** Reports an obstacle once. A change of the obstacle triggers a reconcile. */
function problem(
  snapshot: VolumeSnapshot,
  now: number,
  reason: string,
  why: Explanation,
): Decision<SnapshotAction> {
  const action = setProblem(snapshot, now, reason, why);
  return action === undefined ? {} : { action };
}
