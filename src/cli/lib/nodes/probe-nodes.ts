import type { Clock } from '../../../kube/types.ts';
import { NodeError } from '../../../nodes/errors.ts';
import type { Executor } from '../../../nodes/job.ts';
import { SudoRefusal } from '../../../nodes/sudo.ts';
import { ModuleRefusal } from '../../../nodes/transport/salt/refusal.ts';
import { freeSpaceProbes, readFreeSpace } from '../../../storage/free-space.ts';
import { SPARSE_DIRECTORY } from '../../../storage/loopfile/file.ts';
import { ObservationError } from '../../../storage/probe-results.ts';
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
  const heard: ProbedNode[] = [];
  const left = names.entries();
  const ask = async () => {
    for (const [index, name] of left)
      heard[index] = await probeNode(executor, name, timeoutMs, clock);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, ask));
  return heard;
}

async function probeNode(
  executor: Executor,
  name: string,
  timeoutMs: number,
  clock: Clock,
): Promise<ProbedNode> {
  const over = new AbortController();
  const late = clock.sleep(timeoutMs, over.signal).then(
    (): ProbedNode => ({ reachable: false, message: `no answer within ${timeoutMs / 1000} s` }),
    () => new Promise<ProbedNode>(() => {}),
  );
  try {
    return await Promise.race([freeSpaceOf(executor, name), late]);
  } finally {
    over.abort();
  }
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
