import { byPod } from './desired.ts';
import { byNode, recordOf } from './record.ts';
import type { Entry, PodUse, Wanted } from './types.ts';

/** The actual state of the world: volume → nodes → pods. Functions answer with the same list when nothing changes. */

/** With an entry of its node replaced, or added; sorted by node. */
export const withEntry = (entries: readonly Entry[], entry: Entry): readonly Entry[] =>
  [...withoutNode(entries, entry.node), entry].sort(byNode);

/** Without the entry of a node. */
export function withoutNode(entries: readonly Entry[], node: string): readonly Entry[] {
  return entries.some((entry) => entry.node === node)
    ? entries.filter((entry) => entry.node !== node)
    : entries;
}

/**
 * An entry with some of it changed. A state that it was in already leaves the time since when as it was. What is not
 * Attached is not safe to mount or to detach.
 * @param now ms since the epoch
 */
export function setState(entry: Entry, change: Partial<Omit<Entry, 'node' | 'since'>>, now: number): Entry {
  const changed = { ...entry, ...change };
  const safe =
    changed.state === 'Attached'
      ? { safeToMount: changed.safeToMount, safeToDetach: changed.safeToDetach }
      : { safeToMount: false, safeToDetach: false };
  return { ...changed, ...safe, since: changed.state === entry.state ? entry.since : now };
}

/**
 * With the pods that are gone or terminated taken from their entries, and those that want the volume where it is added.
 * @param lives whether a pod that does not want it any more is there all the same: its claim may be gone before it
 */
export function withPods(
  entries: readonly Entry[],
  wanted: readonly Wanted[],
  lives: (pod: PodUse) => boolean,
): readonly Entry[] {
  const next = entries.map((entry) => {
    const wanting = wanted.find(({ node }) => node === entry.node)?.pods ?? [];
    const uids = new Set(wanting.map(({ uid }) => uid));
    const left = entry.pods.filter((pod) => !uids.has(pod.uid) && pod.node === entry.node && lives(pod));
    const pods = [...wanting, ...left].sort(byPod);
    return isSame(pods, entry.pods) ? entry : { ...entry, pods };
  });
  return next.every((entry, at) => entry === entries[at]) ? entries : next;
}

const isSame = (some: readonly PodUse[], others: readonly PodUse[]): boolean =>
  some.length === others.length && some.every(({ uid }, at) => uid === others[at]?.uid);

/** The entries of all volumes, by UID of the Volume. */
export interface ActualState {
  volumes(): string[];
  /** Sorted by node; none for a volume that is not known. */
  of(volume: string): readonly Entry[];
  /** Marks the volume dirty when an entry appears or vanishes: what is recorded are the nodes. */
  set(volume: string, entries: readonly Entry[]): void;
  /** What was read from the record: not dirty by that. */
  fill(volume: string, entries: readonly Entry[]): void;
  dirty(): string[];
  /** The record was written as those nodes: the volume is dirty no more, unless it has changed since. */
  persisted(volume: string, nodes: readonly string[]): void;
  /** Nothing is to be known of it, or recorded, any more. */
  forget(volume: string): void;
}

export function createActualState(): ActualState {
  const entriesOf = new Map<string, readonly Entry[]>();
  const dirty = new Set<string>();
  const of = (volume: string): readonly Entry[] => entriesOf.get(volume) ?? [];

  function fill(volume: string, entries: readonly Entry[]): void {
    if (entries.length === 0) entriesOf.delete(volume);
    else entriesOf.set(volume, entries);
  }

  return {
    volumes: () => [...entriesOf.keys()],
    of,
    set(volume, entries) {
      if (!isSameRecord(recordOf(of(volume)), recordOf(entries))) dirty.add(volume);
      fill(volume, entries);
    },
    fill,
    dirty: () => [...dirty],
    persisted(volume, nodes) {
      if (isSameRecord(recordOf(of(volume)), nodes)) dirty.delete(volume);
    },
    forget(volume) {
      entriesOf.delete(volume);
      dirty.delete(volume);
    },
  };
}

const isSameRecord = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((node, at) => node === others[at]);
