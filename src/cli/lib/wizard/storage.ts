import { isLvmName, LVM_NAME } from '../../../api/lvm-name.ts';
import { roundedSize } from '../../../api/rounded-size.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { NodeError } from '../../../nodes/errors.ts';
import type { Probe, ProbeResult } from '../../../nodes/job.ts';
import { groupProbes, readAllGroups } from '../../../storage/lvm/report.ts';
import { readView, viewProbes } from '../../../storage/lvm/view.ts';
import { offeredProbes, readOffered } from '../../../storage/offered-devices.ts';
import { answersOf, ObservationError } from '../../../storage/probe-results.ts';
import type { Io } from '../io.ts';
import type { NodeFlags } from '../nodes/flags.ts';
import { withNodes } from '../nodes/with-nodes.ts';
import { printable } from '../output/printable.ts';
import type { Choice } from '../prompts/prompts.ts';
import { orOther } from './ask.ts';
import { type NodeDevice, ownersOn, withUses } from './devices.ts';

/** Access for reading choices from the cluster and its nodes. */
export interface ClusterAccess {
  io: Io;
  connect: () => Promise<KubeClient>;
  /** Returns the flags for node access. Called only when a node is observed. */
  nodeFlags: () => Promise<NodeFlags>;
}

type ChoicesOn = (node: string, access: ClusterAccess) => Promise<readonly Choice[]>;

/** Returns a question for a disk or partition. With one node, the choices are its devices. */
export const deviceOf = <A>(nodesOf: (answers: A) => readonly string[], on: ChoicesOn) =>
  ({
    of: 'device',
    message: (answers: A) => `Device of ${nodesOf(answers)[0]}:`,
    needed: true,
    choices: (answers: A, access: ClusterAccess) => ofOne(nodesOf(answers), on, access),
    typed: 'Path of the device on the node:',
    problem: (text: string) =>
      text.startsWith('/') ? undefined : 'Write an absolute path, such as /dev/disk/by-id/…',
  }) as const;

/**
 * Returns a question for a volume group. With one node, the choices are its groups and free space.
 */
export const groupOf = <A>(nodesOf: (answers: A) => readonly string[]) =>
  ({
    of: 'vg',
    message: (answers: A) => `Volume group of ${nodesOf(answers)[0]}:`,
    needed: true,
    choices: (answers: A, access: ClusterAccess) => ofOne(nodesOf(answers), groupChoices, access),
    typed: 'Volume group on the node:',
    problem: (text: string) => (isLvmName(text) ? undefined : `It must be ${LVM_NAME}`),
  }) as const;

const ofOne = async ([node, ...more]: readonly string[], on: ChoicesOn, access: ClusterAccess) =>
  node === undefined || more.length > 0 ? [] : on(node, access);

/** Returns the disks and partitions of a node with their content. Devices in use are disabled. */
export async function deviceChoices(
  node: string,
  access: ClusterAccess,
): Promise<readonly Choice[]> {
  const devices = await tryObserve(
    node,
    async (ask) => readOffered(await ask(offeredProbes())),
    access,
  );
  if (devices === undefined || devices.length === 0) return [];
  const owners = await ownersOn(node, await access.connect(), access.io.signal);
  const choices = aligned(withUses(devices, owners).map(deviceChoice));
  return [
    ...choices.filter(({ disabled }) => disabled === undefined),
    { name: 'another one, by its path', value: '' },
    ...choices.filter(({ disabled }) => disabled !== undefined),
  ];
}

async function groupChoices(node: string, access: ClusterAccess): Promise<readonly Choice[]> {
  const groups = await tryObserve(
    node,
    async (ask) => {
      const view = readView(await ask(viewProbes()));
      return readAllGroups(await ask(groupProbes(view)), view);
    },
    access,
  );
  return orOther(
    (groups ?? []).map(
      ({ name, extentBytes, freeExtents, readOnly, exported, partial }): Choice => ({
        name: `${name}  ${roundedSize(Number(extentBytes * freeExtents))} free`,
        value: name,
        ...((readOnly || exported || partial) && {
          disabled: readOnly ? 'read-only' : exported ? 'exported' : 'a disk is missing',
        }),
      }),
    ),
  );
}

function deviceChoice({ path, links, model = '', sizeBytes, carries, use }: NodeDevice): {
  cells: string[];
  choice: Omit<Choice, 'name'>;
} {
  return {
    cells: [
      path,
      roundedSize(Number(sizeBytes)),
      model,
      carries ?? (use === undefined ? 'no signature found' : ''),
    ],
    choice: { value: links[0] ?? path, ...(use !== undefined && { disabled: use }) },
  };
}

function aligned(rows: readonly ReturnType<typeof deviceChoice>[]): Choice[] {
  const widths = [0, 1, 2, 3].map((column) =>
    Math.max(...rows.map(({ cells }) => cells[column]?.length ?? 0)),
  );
  return rows.map(({ cells, choice }) => ({
    ...choice,
    name: cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .filter((cell) => cell !== '')
      .join('  ')
      .trimEnd(),
  }));
}

/**
 * Observes a node. Returns undefined, after a note on standard error, if the node fails to answer.
 * The answer is then typed.
 */
export async function tryObserve<T>(
  node: string,
  read: (ask: (probes: readonly Probe[]) => Promise<(probe: string) => ProbeResult>) => Promise<T>,
  { io, connect, nodeFlags }: ClusterAccess,
): Promise<T | undefined> {
  io.stderr.write(`Checking node ${node} …\n`);
  try {
    const flags = await nodeFlags();
    return await withNodes([node], flags, io, await connect(), (executor) =>
      read(async (probes) => answersOf(await executor.observe(node, probes))),
    );
  } catch (error) {
    if (!(error instanceof NodeError) && !(error instanceof ObservationError)) throw error;
    io.stderr.write(printable(`note: not checked: ${error.message}\n`));
    return undefined;
  }
}
