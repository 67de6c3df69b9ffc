import { NodeError } from '../../nodes/errors.ts';
import type { Executor } from '../../nodes/job.ts';
import type { NodeReport } from '../lib/checks/report.ts';
import type { Io } from '../lib/io.ts';
import { fileName } from './bounds.ts';
import { capture, type Parts } from './parts.ts';

/** Timeout (ms) of all requests to a node. */
export const NODE_TIMEOUT = 60_000;

/** Number of nodes that are checked at a time: an executor's limit, so that no request waits. */
const AT_ONCE = 64;

/**
 * Adds the result of `check node` for each node. A node that does not answer in time delays no
 * other batch.
 * @param check prints the results of nodes in JSON, and may then throw
 */
export async function addNodeChecks(
  names: readonly string[],
  check: (names: readonly string[], io: Io) => Promise<void>,
  parts: Parts,
  io: Io,
): Promise<void> {
  for (let start = 0; start < names.length; start += AT_ONCE) {
    const batch = names.slice(start, start + AT_ONCE);
    const bounded: Io = Object.create(io, {
      nodes: {
        value: async (options: Parameters<Io['nodes']>[0]) =>
          boundedExecutor(await io.nodes(options), io.clock),
      },
    });
    const { out, notes, error } = await capture(bounded, (inner) => check(batch, inner));
    for (const note of notes) parts.problem('nodes', note);
    // Errors of single nodes are in their reports.
    if (out === '') parts.problem('nodes', error ?? 'no result');
    else await Promise.all(reportsIn(out).map((report) => addReport(report, parts)));
  }
}

function reportsIn(out: string): NodeReport[] {
  const data = JSON.parse(out) as NodeReport | { items: NodeReport[] };
  return 'items' in data ? data.items : [data];
}

async function addReport(report: NodeReport, parts: Parts): Promise<void> {
  const path = `nodes/${fileName(report.node)}.json`;
  for (const { check, ok, message } of report.checks)
    if (check === 'reachable' && !ok) parts.problem(path, message);
  await parts.addObject(path, report);
}

/**
 * Returns an executor that only observes, whose requests to each node end within NODE_TIMEOUT after
 * the first.
 */
export function boundedExecutor(executor: Executor, clock: Io['clock']): Executor {
  const closed = new AbortController();
  const deadlines = new Map<string, Promise<never>>();
  function deadlineOf(node: string): Promise<never> {
    const known = deadlines.get(node);
    if (known !== undefined) return known;
    const deadline = clock.sleep(NODE_TIMEOUT, closed.signal).then(
      (): never => {
        throw new NodeError('unreachable', node, `no answer within ${NODE_TIMEOUT / 1000} s`);
      },
      () => new Promise<never>(() => {}),
    );
    // The deadline may pass while no request runs.
    deadline.catch(() => {});
    deadlines.set(node, deadline);
    return deadline;
  }
  const refuse = async (node: string): Promise<never> => {
    throw new NodeError('not-ours', node, 'a support bundle changes nothing');
  };
  return {
    observe: (node, probes) => Promise.race([executor.observe(node, probes), deadlineOf(node)]),
    subjects: (node) => Promise.race([executor.subjects(node), deadlineOf(node)]),
    submit: refuse,
    poll: refuse,
    purge: refuse,
    close() {
      closed.abort();
      return executor.close();
    },
  };
}
