import { dirname } from 'node:path';
import { NodeError } from '../../../nodes/errors.ts';
import type { Executor, Probe, ProbeResult } from '../../../nodes/job.ts';
import { ForeignJobs } from '../../../nodes/jobs-directory.ts';
import { SudoRefusal } from '../../../nodes/sudo.ts';
import { ModuleRefusal } from '../../../nodes/transport/salt/refusal.ts';
import {
  placeProbes,
  readPlaces,
  readRecorded,
  recordedProbe,
} from '../../../storage/directory/node-check.ts';
import { findFreeSpace, freeSpaceProbes } from '../../../storage/free-space.ts';
import { SPARSE_DIRECTORY } from '../../../storage/loopfile/file.ts';
import { groupProbes, readGroups } from '../../../storage/lvm/report.ts';
import { lackOfLvm, readView, viewProbes } from '../../../storage/lvm/view.ts';
import {
  directoryProbes,
  intentProbes,
  missingDirectories,
  pathProbes,
  readDirectories,
  readIntents,
  readPaths,
  readRecordFiles,
  recordsProbes,
} from '../../../storage/node-check/files.ts';
import { readSystem, systemProbes } from '../../../storage/node-check/system.ts';
import { answersOf, ObservationError } from '../../../storage/probe-results.ts';
import {
  type ClusterFacts,
  directoriesOf,
  groupsOf,
  linkOfVolume,
  madeOn,
  type NodeContent,
  type NodeFacts,
  type Observation,
  ownedUids,
} from './facts.ts';

/**
 * Observes a node for its checks, without changes. `now` is in ms since the epoch.
 * @param nameOfCommands command that is permitted only with the commands of this version
 * @throws NodeError if the node cannot be observed
 */
export async function observeNode(
  executor: Executor,
  node: string,
  cluster: ClusterFacts,
  nameOfCommands: readonly string[],
  now: () => number,
): Promise<NodeFacts> {
  const runProbes = (probes: readonly Probe[]) => executor.observe(node, probes);
  const askUdev = (...more: Probe[]) =>
    observationOf(async () => {
      const results = await runProbes([
        { name: 'udev', argv: ['test', '-S', '/run/udev/control'] },
        ...more,
      ]);
      return results.get('udev')?.exit === 0;
    });
  const commands = await askUdev({ name: 'commands', argv: nameOfCommands });
  const udev = 'problem' in commands ? await askUdev() : commands;
  // A refused request is not repeated for the other parts.
  if ('problem' in udev)
    return { udev, commands: udev, system: udev, content: udev, subjects: udev };
  return {
    udev,
    commands,
    system: await observationOf(async () => {
      const asked = now();
      return readSystem(await runProbes(systemProbes('known' in commands)), asked, now());
    }),
    content: await observationOf(() => observeContent(runProbes, node, cluster)),
    subjects: await observationOf(() => executor.subjects(node)),
  };
}

async function observeContent(
  runProbes: (probes: readonly Probe[]) => Promise<ReadonlyMap<string, ProbeResult>>,
  node: string,
  cluster: ClusterFacts,
): Promise<NodeContent> {
  const results = async (probes: readonly Probe[]) =>
    probes.length === 0 ? new Map() : runProbes(probes);
  const ask = async (probes: readonly Probe[]) => answersOf(await results(probes));
  const first = await ask([...recordsProbes(), recordedProbe]);
  const { users, records } = readRecordFiles(first);
  const recorded = readRecorded(first('recorded directories'));
  const owned = ownedUids(cluster);
  const unowned = [...new Set(records.map(({ uid }) => uid))].filter((uid) => !owned.has(uid));
  const intents = readIntents(unowned, await ask(intentProbes(unowned)));
  const { classDirectories = [] } = cluster;
  const used = [
    ...directoriesOf(node, cluster.volumes, intents.values(), classDirectories),
    ...cluster.leftovers.flatMap(directoriesOfLeftover),
    SPARSE_DIRECTORY,
  ];
  const named = directoriesOf(node, cluster.volumes, intents.values(), [
    ...classDirectories,
    ...recorded.map(({ directory }) => directory),
  ]);
  // The default directory may hold files, too. If unreadable, it matters only if it is named.
  const all = [...new Set([SPARSE_DIRECTORY, ...named])];
  const seen = await observeDirectories(all, runProbes);
  const { open: accessible, closed, files, free } = seen;
  const readable = recorded.filter(({ directory }) => accessible.includes(directory));
  const isUnused = (directory: string) =>
    // A class that cannot be read may name it. Without the record, the next file goes elsewhere.
    cluster.classDirectories !== undefined &&
    seen.missing.includes(directory) &&
    !used.includes(directory);
  const unused = readable.map(({ directory }) => directory).filter(isUnused);
  const links = madeOn(node, cluster.volumes).map(linkOfVolume);
  const names = groupsOf(node, cluster.volumes);
  const lvm = names.length === 0 ? undefined : await runProbes(viewProbes());
  const lacksLvm = lvm !== undefined && lackOfLvm(lvm) !== undefined;
  const view = lvm === undefined || lacksLvm ? undefined : readView(answersOf(lvm));
  const found = await results([
    ...pathProbes(links),
    ...(view === undefined ? [] : groupProbes(view)),
    ...(readable.length === 0 ? [] : placeProbes(readable.map(({ directory }) => directory))),
  ]);
  const get = answersOf(found);
  return {
    users,
    records,
    intents,
    folders: accessible,
    files,
    closed: closed.filter(({ folder, isRefused }) => !isRefused || named.includes(folder)),
    free,
    links: readPaths(links, get),
    groups: new Map(
      view === undefined ? [] : names.map((name) => [name, readGroups(get, view, name)]),
    ),
    lacksLvm,
    directories: readPlaces(readable, get),
    unused,
  };
}

/** Returns the directories that a Leftover's storage may be in. */
const directoriesOfLeftover = ({ spec }: ClusterFacts['leftovers'][number]): string[] => [
  ...(spec.sparseLoopDevice?.directory === undefined ? [] : [spec.sparseLoopDevice.directory]),
  ...(spec.prepared?.paths ?? []).map((path) => dirname(path)),
];

interface ObservedDirectories extends Pick<NodeContent, 'files' | 'free' | 'closed'> {
  open: string[];
  /** Open directories that do not exist. */
  missing: string[];
}

/** Observes directories in one request, or each in its own if that is refused. */
async function observeDirectories(
  directories: readonly string[],
  runProbes: (probes: readonly Probe[]) => Promise<ReadonlyMap<string, ProbeResult>>,
): Promise<ObservedDirectories> {
  const seen = await observationOf(async () => {
    // Directories share their parents.
    const space = new Map(directories.flatMap(freeSpaceProbes).map((probe) => [probe.name, probe]));
    const found = await runProbes([...directoryProbes(directories), ...space.values()]);
    return {
      files: readDirectories(directories, answersOf(found)),
      missing: missingDirectories(directories, answersOf(found)),
      // The directory may not exist yet: a Volume waits for it.
      free: directories.flatMap((directory) => {
        const bytes = findFreeSpace(directory, found);
        return bytes === undefined ? [] : [[directory, bytes] as const];
      }),
    };
  });
  if ('known' in seen) {
    const { files, free, missing } = seen.known;
    return { open: [...directories], missing, closed: [], files, free: new Map(free) };
  }
  const [first = '', ...more] = directories;
  if (more.length === 0)
    return {
      ...{ open: [], missing: [], files: [], free: new Map() },
      closed: [{ folder: first, ...seen }],
    };
  const parts = await Promise.all(directories.map((each) => observeDirectories([each], runProbes)));
  return {
    open: parts.flatMap(({ open }) => open),
    missing: parts.flatMap(({ missing }) => missing),
    closed: parts.flatMap(({ closed }) => closed),
    files: parts.flatMap(({ files }) => files),
    free: new Map(parts.flatMap(({ free }) => [...free])),
  };
}

/** Turns a refused or unreadable observation into a problem; throws if the node does not answer. */
async function observationOf<T>(ask: () => Promise<T>): Promise<Observation<T>> {
  try {
    return { known: await ask() };
  } catch (error) {
    if (error instanceof ObservationError) return { problem: error.message, hint: undefined };
    const refused =
      error instanceof NodeError &&
      [SudoRefusal, ForeignJobs, ModuleRefusal].some((refusal) => error.cause instanceof refusal);
    if (refused) return { problem: error.message, hint: error.hint, isRefused: true };
    throw error;
  }
}
