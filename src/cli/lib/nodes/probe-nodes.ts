import type { Clock } from '../../../kube/types.ts';
import { NodeError } from '../../../nodes/errors.ts';
import type { Executor } from '../../../nodes/job.ts';
import { SudoRefusal } from '../../../nodes/sudo.ts';
import { ModuleRefusal } from '../../../nodes/transport/salt/refusal.ts';
import { freeSpaceProbes, readFreeSpace } from '../../../storage/free-space.ts';
import { SPARSE_DIRECTORY } from '../../../storage/loopfile/file.ts';
import { ObservationError } from '../../../storage/probe-results.ts';
import { askEach } from './ask-each.ts';
import type { ProbedNode } from './node-row.ts';

/** Number of parallel probes: an executor's limit, so that a timeout starts with its request. */
const AT_ONCE = 64;

/**
 * Probes nodes independently, each for at most `timeoutMs`. Returns results in the order of names.
 */
export async function probeNodes(
  executor: Executor,
  names: readonly string[],
  timeoutMs: number,
  clock: Clock,
): Promise<ProbedNode[]> {
  return askEach(
    names,
    { timeoutMs, atOnce: AT_ONCE },
    clock,
    (name) => freeSpaceOf(executor, name),
    (message): ProbedNode => ({ reachable: false, message }),
  );
}

/** Reads the free space of a node. Throws errors that do not come from the node. */
async function freeSpaceOf(executor: Executor, name: string): Promise<ProbedNode> {
  try {
    const results = await executor.observe(name, freeSpaceProbes(SPARSE_DIRECTORY));
    const bytes = Number(readFreeSpace(SPARSE_DIRECTORY, results));
    return { reachable: true, free: { directory: SPARSE_DIRECTORY, bytes } };
  } catch (error) {
    if (error instanceof ObservationError) return { reachable: true, message: error.message };
    if (!(error instanceof NodeError)) throw error;
    // The node answered, but permits nothing.
    const { cause } = error;
    const answered = cause instanceof SudoRefusal || cause instanceof ModuleRefusal;
    return { reachable: answered, message: error.message };
  }
}
