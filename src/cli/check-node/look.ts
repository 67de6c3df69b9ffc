import { NodeError } from '../../nodes/errors.ts';
import type { Executor, Probe, ProbeResult } from '../../nodes/job.ts';
import { ForeignJobs } from '../../nodes/jobs-folder.ts';
import { SudoRefusal } from '../../nodes/sudo.ts';
import {
  folderProbes,
  intentProbes,
  pathProbes,
  readFolders,
  readIntents,
  readPaths,
  readRecordFiles,
  recordsProbes,
} from '../../storage/node-check/files.ts';
import { missingTools, toolProbes } from '../../storage/node-check/tools.ts';
import { answersOf, ObservationError } from '../../storage/probe-results.ts';
import {
  type ClusterFacts,
  foldersOf,
  type Look,
  linkOfVolume,
  madeOn,
  type NodeContent,
  type NodeFacts,
  ownedUids,
} from './facts.ts';

/** Reads from a node what it is judged by, and changes nothing. @throws NodeError where the node can't be asked */
export async function lookAtNode(
  executor: Executor,
  node: string,
  cluster: ClusterFacts,
): Promise<NodeFacts> {
  const look = (probes: readonly Probe[]) => executor.observe(node, probes);
  const udev = await looked(async () => {
    const results = await look([{ name: 'udev', argv: ['test', '-S', '/run/udev/control'] }]);
    return results.get('udev')?.exit === 0;
  });
  // What is refused once is not asked for three times.
  if ('problem' in udev) return { udev, missingTools: udev, content: udev, subjects: udev };
  return {
    udev,
    missingTools: await looked(async () => missingTools(await look(toolProbes()))),
    content: await looked(() => lookAtContent(look, node, cluster)),
    subjects: await looked(() => executor.subjects(node)),
  };
}

async function lookAtContent(
  look: (probes: readonly Probe[]) => Promise<ReadonlyMap<string, ProbeResult>>,
  node: string,
  cluster: ClusterFacts,
): Promise<NodeContent> {
  const ask = async (probes: readonly Probe[]) =>
    answersOf(probes.length === 0 ? new Map() : await look(probes));
  const { users, records } = readRecordFiles(await ask(recordsProbes()));
  const owned = ownedUids(cluster);
  const unowned = [...new Set(records.map(({ uid }) => uid))].filter((uid) => !owned.has(uid));
  const intents = readIntents(unowned, await ask(intentProbes(unowned)));
  const folders = foldersOf(node, cluster.volumes, intents.values());
  const links = madeOn(node, cluster.volumes).map(linkOfVolume);
  const get = await ask([...folderProbes(folders), ...pathProbes(links)]);
  return { users, records, intents, folders, files: readFolders(folders, get), links: readPaths(links, get) };
}

/** What the node does not let us see is a finding; what it does not answer is none. */
async function looked<T>(ask: () => Promise<T>): Promise<Look<T>> {
  try {
    return { known: await ask() };
  } catch (error) {
    if (error instanceof ObservationError) return { problem: error.message, hint: undefined };
    const refused =
      error instanceof NodeError &&
      (error.cause instanceof SudoRefusal || error.cause instanceof ForeignJobs);
    if (refused) return { problem: error.message, hint: error.hint };
    throw error;
  }
}
