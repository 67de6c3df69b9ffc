import type { Reason } from '../../../api/reasons.ts';
import type { Volume } from '../../../api/volume.ts';
import type { StorageLocation } from '../../../model/dynamic-class.ts';
import type { Executor } from '../../../nodes/job.ts';
import type { Clock } from '../../../workqueue/clock.ts';
import { answered, type Unanswered } from '../answered.ts';
import { observePlace, type PlaceFacts } from './observe-place.ts';
import { directoryOf, directoryRoom, groupRoom, type KeptCopy } from './room.ts';

/**
 * Free space in bytes, or why it is unknown, or why none is offered. `refusedBytes`: size of a
 * recently refused volume, since free extents hold data of removed volumes.
 */
export type Room = { freeBytes: bigint; refusedBytes?: bigint } | Unseen | { refused: string };

/** Unknown free space, with the reason of the node's failure if it has one. */
type Unseen = { unknown: string; detail?: Reason | undefined };

export interface RoomDeps {
  executor: Pick<Executor, 'observe'>;
  clock: Pick<Clock, 'now'>;
  /** Returns the Volumes that are or will be on a node. */
  volumesOn(node: string): readonly Volume[];
  copiesOn(node: string): readonly KeptCopy[];
}

/** Cache of the free space on nodes. */
export interface Rooms {
  /**
   * Returns the free space by a recent observation; undefined if there is none.
   * @param own UID of the content that needs the space: its copy does not count
   */
  room(node: string, place: StorageLocation, overcommit: number, own?: string): Room | undefined;
  /** Observes the node, or joins an observation that is running. Never throws. */
  observe(node: string, place: StorageLocation): Promise<void>;
  /** Discards observations of a node after something was removed there. */
  forget(node: string): void;
  /**
   * Records that a volume of that size was refused for the data in free extents: none as large is
   * offered for a while.
   */
  refuse(node: string, place: StorageLocation, bytes: bigint): void;
}

type Facts = PlaceFacts | Unseen;

/**
 * Time (ms) for which an observation is valid: others use the space, too. Stowage's own
 * reservations count at once.
 */
const FRESH = 5000;

/**
 * Time (ms) for which a refusal is valid: no event reports that extents are cleared, or that others
 * are free.
 */
const REFUSED_FOR = 300_000;

export function createRooms({ executor, clock, volumesOn, copiesOn }: RoomDeps): Rooms {
  const seen = new Map<string, { facts: Facts; at: number }>();
  const inFlight = new Map<string, Promise<void>>();
  const refusals = new Map<string, { bytes: bigint; at: number }>();
  /** Number of discards by node. */
  const forgotten = new Map<string, number>();
  const keyOf = (node: string, place: StorageLocation) => JSON.stringify([node, place]);

  async function observe(node: string, place: StorageLocation): Promise<void> {
    const key = keyOf(node, place);
    const known =
      inFlight.get(key) ?? observeNow(key, node, place).finally(() => inFlight.delete(key));
    inFlight.set(key, known);
    await known;
  }

  async function observeNow(key: string, node: string, place: StorageLocation): Promise<void> {
    const before = forgotten.get(node);
    const unknown = ({ message, detail }: Unanswered) => ({ unknown: message, detail });
    const facts = await answered(() => factsOf(node, place), unknown);
    // Storage removed meanwhile may or may not be in the observation.
    if (before === forgotten.get(node)) seen.set(key, { facts, at: clock.now() });
  }

  const factsOf = (node: string, place: StorageLocation): Promise<Facts> =>
    observePlace(
      (probes) => executor.observe(node, probes),
      place,
      volumesOn(node).flatMap((each) => directoryOf(each) ?? []),
    );

  function refusal(key: string): { refusedBytes?: bigint } {
    const known = refusals.get(key);
    return known === undefined || clock.now() - known.at > REFUSED_FOR
      ? {}
      : { refusedBytes: known.bytes };
  }

  return {
    observe,
    forget(node) {
      forgotten.set(node, (forgotten.get(node) ?? 0) + 1);
      for (const key of seen.keys())
        if ((JSON.parse(key) as [string])[0] === node) seen.delete(key);
    },
    room(node, place, overcommit, own) {
      const { facts, at } = seen.get(keyOf(node, place)) ?? {};
      if (facts === undefined || at === undefined || clock.now() - at > FRESH) return undefined;
      if ('unknown' in facts || 'refused' in facts) return facts;
      const volumes = volumesOn(node);
      const copies = copiesOn(node).filter(({ uid }) => uid !== own);
      if ('directory' in facts) {
        // A volume reserved since then may be on the same file system or on another.
        const isSeen = (directory: string | undefined) =>
          directory === undefined || facts.of.includes(directory);
        if (!volumes.every((volume) => isSeen(directoryOf(volume)))) return undefined;
        return { freeBytes: directoryRoom(facts.directory, volumes, copies, overcommit) };
      }
      return {
        freeBytes: groupRoom(facts.group, facts.place, volumes, copies, overcommit),
        ...refusal(keyOf(node, place)),
      };
    },
    refuse(node, place, bytes) {
      const key = keyOf(node, place);
      const { refusedBytes = bytes } = refusal(key);
      refusals.set(key, { bytes: bytes < refusedBytes ? bytes : refusedBytes, at: clock.now() });
    },
  };
}
