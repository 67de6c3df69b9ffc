import { type Clock, timeOfDayAt } from '../../workqueue/clock.ts';

/** Times of the last observations of Volumes by this process. */
export interface ObservationTimes {
  /** Records an observation that was made just now. */
  note(uid: string, node: string): void;
  /**
   * Returns when the last observation was made, by the present time of day, in ms since the epoch;
   * undefined if none was made in the node's current incarnation.
   */
  last(uid: string, node: string): number | undefined;
  /** Records that udev prefers the Volume's device for its path. */
  notePath(uid: string, node: string): void;
  /** Reports whether that was recorded in the node's current incarnation. */
  hasPath(uid: string, node: string): boolean;
  forget(uid: string): void;
}

/**
 * `incarnationOf` returns the incarnation of a node: observations of an earlier one no longer
 * count.
 */
export function createObservationTimes(
  incarnationOf: (node: string) => string,
  clock: Pick<Clock, 'now' | 'timeOfDay'>,
): ObservationTimes {
  const observations = new Map<string, { at: number; node: string; incarnation: string }>();
  const paths = new Map<string, string>();
  const hereOf = (node: string) => JSON.stringify([node, incarnationOf(node)]);
  return {
    note: (uid, node) => {
      observations.set(uid, { at: clock.now(), node, incarnation: incarnationOf(node) });
    },
    last(uid, node) {
      const observation = observations.get(uid);
      return observation?.node === node && observation.incarnation === incarnationOf(node)
        ? timeOfDayAt(observation.at, clock)
        : undefined;
    },
    notePath: (uid, node) => {
      paths.set(uid, hereOf(node));
    },
    hasPath: (uid, node) => paths.get(uid) === hereOf(node),
    forget: (uid) => {
      observations.delete(uid);
      paths.delete(uid);
    },
  };
}
