import { StowageError } from '../../api/errors.ts';
import { NODES } from '../../api/resources.ts';
import type { Connection } from '../../kube/connect.ts';
import { ConnectionError } from '../../kube/errors.ts';
import { codeOf } from '../lib/failure.ts';
import type { Io } from '../lib/io.ts';
import type { ProgressTask } from '../lib/output/live-progress.ts';
import { printable } from '../lib/output/printable.ts';
import { showProgress } from '../lib/output/progress.ts';
import { createArchive } from './archive.ts';
import { addNodeChecks } from './check-nodes.ts';
import { addDaemon, type LogFlags } from './daemon.ts';
import { objectsOf } from './kinds.ts';
import { createOutputFile, type OutputFile } from './output-file.ts';
import { capture, createParts, LIMITS, type Parts } from './parts.ts';
import { nodeVersions, pathOf, readObjects } from './read-objects.ts';
import { readme } from './readme.ts';

export interface BundleFlags extends LogFlags {
  /** `-` for standard output. */
  file?: string;
  force?: boolean;
}

/** Prints the result of another command in JSON, and may then throw. */
export type Report = (io: Io) => Promise<void>;

/** Commands whose results an archive has. */
export interface Reports {
  version: Report;
  why: Report;
  cluster: Report;
  /** Absent if no node is checked. */
  nodes?: {
    check(names: readonly string[], io: Io): Promise<void>;
    /** Nodes to check; undefined for all. */
    names?: readonly string[];
  };
}

/** Maximum number of problems on standard error. The archive has all. */
const SHOWN = 20;

/**
 * Runs `stowage support-bundle`. Parts that could not be read are notes. Throws a StowageError if
 * the API server does not answer, or if the archive cannot be written.
 */
export async function supportBundle(
  flags: BundleFlags,
  io: Io,
  connection: Connection,
  reports: Reports,
): Promise<void> {
  const now = io.clock.timeOfDay();
  const date = new Date(now).toISOString().slice(0, 19).replaceAll(':', '');
  const directory = `stowage-support-${date}Z`;
  const path = flags.file ?? `${directory}.tar.gz`;
  const output = await openOutput(path, flags, io);
  let problems: readonly string[];
  try {
    await requireServer(connection, io.signal);
    const archive = createArchive((bytes) => output.write(bytes), directory, now);
    const parts = createParts(archive);
    await archive.add('README.txt', readme(now));
    const tasks = tasksOf(flags, io, connection, reports, parts);
    const outcomes = await showProgress(io, tasks);
    io.signal.throwIfAborted();
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.status === 'rejected') parts.problem(tasks[index]?.title ?? '', outcome.reason);
    }
    problems = parts.problems();
    if (problems.length > 0)
      await parts.addText('errors.txt', `${problems.join('\n')}\n`, LIMITS.report);
    await archive.close();
    await output.commit();
  } finally {
    await output.discard();
  }
  for (const problem of problems.slice(0, SHOWN)) io.stderr.write(`note: not read: ${problem}\n`);
  if (problems.length > 0) {
    const more = Math.max(0, problems.length - SHOWN);
    const rest = more === 0 ? '' : ` ${more} more:`;
    io.stderr.write(`note:${rest} errors.txt in the archive lists what could not be read\n`);
  }
  io.stderr.write(
    'note: look through the archive before you send it; README.txt lists its parts\n',
  );
  if (path !== STDOUT) io.stdout.write(`${printable(path)}\n`);
}

const STDOUT = '-';

async function openOutput(path: string, { force }: BundleFlags, io: Io): Promise<OutputFile> {
  if (path !== STDOUT) return createOutputFile(path, force === true);
  if (io.stdout.isTTY)
    throw new StowageError('usage', 'an archive cannot be written to a terminal', {
      hint: 'Name a file with --file, or pipe the output into a program.',
    });
  return {
    async write(bytes) {
      io.stdout.write(bytes);
    },
    async commit() {},
    async discard() {},
  };
}

/** Throws the error of a server that does not answer: each request would time out. */
async function requireServer(connection: Connection, signal: AbortSignal): Promise<void> {
  try {
    await connection.serverVersion(signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ConnectionError || codeOf(error) === 'timeout') throw error;
  }
}

function tasksOf(
  flags: BundleFlags,
  io: Io,
  connection: Connection,
  { version, why, cluster, nodes }: Reports,
  parts: Parts,
): ProgressTask<void>[] {
  const objects = readObjects(connection, parts, io.signal);
  // Tasks report its failure.
  objects.catch(() => {});
  return [
    {
      title: 'objects',
      async run(report) {
        report('reading');
        const found = await objects;
        for (const [plural, items] of found) {
          const path = pathOf({ plural });
          // An object that cannot be written loses no other kind.
          await parts.addList(path, items).catch((error) => parts.problem(path, error));
        }
        await addReport('versions.json', version, parts, io, { nodes: nodeVersions(found) });
        report('done');
      },
    },
    {
      title: 'diagnoses',
      async run(report) {
        report('reading');
        await addReport('why.json', why, parts, io);
        await addReport('cluster.json', cluster, parts, io);
        report('done');
      },
    },
    {
      title: 'logs and metrics',
      async run(report) {
        report('reading');
        await addDaemon(connection, await objects, flags, parts, io);
        report('done');
      },
    },
    ...(nodes === undefined
      ? []
      : [
          {
            title: 'nodes',
            async run(report: (state: string) => void) {
              const found = objectsOf(await objects, NODES).map(({ metadata }) => metadata.name);
              const names = nodes.names ?? found;
              report(`checking ${names.length}`);
              await addNodeChecks(names, nodes.check, parts, io);
              report('done');
            },
          },
        ]),
  ];
}

/** Adds the result of a command. A conflict means that it found problems, as it prints. */
async function addReport(
  path: string,
  report: Report,
  parts: Parts,
  io: Io,
  more: object = {},
): Promise<void> {
  const { out, notes, error } = await capture(io, report);
  for (const note of notes) parts.problem(path, note);
  if (error !== undefined && (out === '' || codeOf(error) !== 'conflict'))
    parts.problem(path, error);
  if (out !== '') await parts.addObject(path, { ...JSON.parse(out), ...more });
}
