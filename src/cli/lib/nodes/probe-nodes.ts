import type { Volume } from '../../../api/volume.ts';
import {
  fileDirectories,
  promisedInDirectory,
} from '../../../controllers/lib/capacity/promised.ts';
import type { Clock } from '../../../kube/types.ts';
import { NodeError } from '../../../nodes/errors.ts';
import type { Executor } from '../../../nodes/job.ts';
import { SudoRefusal } from '../../../nodes/sudo.ts';
import { ModuleRefusal } from '../../../nodes/transport/salt/refusal.ts';
import { freeSpaceProbes, readFreeSpace } from '../../../storage/free-space.ts';
import { SPARSE_DIRECTORY } from '../../../storage/loopfile/file.ts';
import { ObservationError } from '../../../storage/probe-results.ts';
import { directoryRoomProbes, readDirectoryRoom } from '../../../storage/room.ts';
import { askEach } from './ask-each.ts';
import type { ProbedNode } from './node-row.ts';

/** Number of parallel probes: an executor's limit, so that a timeout starts with its request. */
const AT_ONCE = 64;

/**
 * Probes nodes independently, each for at most `timeoutMs`. Returns results in the order of names.
 * @param volumesOn returns the Volumes of a node, to observe what they may still take, for which
 * their files are listed; unset: only the free space is observed
 */
export async function probeNodes(
  executor: Executor,
  names: readonly string[],
  timeoutMs: number,
  clock: Clock,
  volumesOn?: (name: string) => readonly Volume[],
): Promise<ProbedNode[]> {
  return askEach(
    names,
    { timeoutMs, atOnce: AT_ONCE },
    clock,
    (name) => spaceOf(executor, name, volumesOn?.(name)),
    (message): ProbedNode => ({ reachable: false, message }),
  );
}

/**
 * Reads the free space of a node, and what its Volumes may still take of it. Throws errors that do
 * not come from the node.
 */
async function spaceOf(
  executor: Executor,
  name: string,
  volumes: readonly Volume[] | undefined,
): Promise<ProbedNode> {
  const directories = fileDirectories(volumes ?? []);
  if (volumes !== undefined && directories.length > 0) {
    try {
      const all = [...new Set([SPARSE_DIRECTORY, ...directories])];
      const results = await executor.observe(name, directoryRoomProbes(SPARSE_DIRECTORY, all));
      const facts = readDirectoryRoom(SPARSE_DIRECTORY, all, results);
      const { promisedBytes, existingBytes } = promisedInDirectory(facts, volumes);
      const sizes = { bytes: Number(existingBytes), promised: Number(promisedBytes) };
      return { reachable: true, free: { directory: SPARSE_DIRECTORY, ...sizes } };
    } catch (error) {
      // The account may lack the right to read one of the directories.
      if (!(error instanceof ObservationError) && !isRefusal(error)) return notReached(error);
    }
  }
  const probed = await freeSpaceOf(executor, name);
  const { free } = probed;
  return volumes === undefined || directories.length > 0 || free === undefined
    ? probed
    : { ...probed, free: { ...free, promised: 0 } };
}

/** Reads the free space of a node. Throws errors that do not come from the node. */
async function freeSpaceOf(executor: Executor, name: string): Promise<ProbedNode> {
  try {
    const results = await executor.observe(name, freeSpaceProbes(SPARSE_DIRECTORY));
    const bytes = Number(readFreeSpace(SPARSE_DIRECTORY, results));
    return { reachable: true, free: { directory: SPARSE_DIRECTORY, bytes } };
  } catch (error) {
    if (error instanceof ObservationError) return { reachable: true, message: error.message };
    return notReached(error);
  }
}

/** Returns the result for an error of the node. Throws any other error. */
function notReached(error: unknown): ProbedNode {
  if (!(error instanceof NodeError)) throw error;
  return { reachable: isRefusal(error), message: error.message };
}

/** Reports whether the node answered, but does not permit the probe. */
const isRefusal = (error: unknown): boolean =>
  error instanceof NodeError &&
  (error.cause instanceof SudoRefusal || error.cause instanceof ModuleRefusal);
