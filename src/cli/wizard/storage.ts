import { isLvmName, LVM_NAME } from '../../api/lvm-name.ts';
import { VOLUMES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import { nodeOf } from '../../controllers/volume/desired-volume.ts';
import { listAll } from '../../kube/client.ts';
import type { KubeClient } from '../../kube/types.ts';
import { NodeError } from '../../nodes/errors.ts';
import type { Probe, ProbeResult } from '../../nodes/job.ts';
import { groupProbes, readAllGroups } from '../../storage/lvm/report.ts';
import { readView, viewProbes } from '../../storage/lvm/view.ts';
import { type OfferedDevice, offeredProbes, readOffered } from '../../storage/offered-devices.ts';
import { answersOf, ObservationError } from '../../storage/probe-results.ts';
import type { Io } from '../io.ts';
import type { NodeFlags } from '../nodes/flags.ts';
import { withNodes } from '../nodes/with-nodes.ts';
import { printable } from '../output/printable.ts';
import { roundedSize } from '../output/size.ts';
import type { Choice, Prompts } from '../prompts/prompts.ts';
import { foundIn, reading } from '../volume/read-result.ts';

/** What is asked where, and by what. */
export interface Asking {
  prompts: Prompts;
  io: Io;
  connect: () => Promise<KubeClient>;
  /** How nodes are reached; asked for where one is looked at. */
  nodeFlags: () => Promise<NodeFlags>;
}

const OTHER = '';

export const pathProblem = (answer: string) =>
  answer.startsWith('/') ? undefined : 'Write an absolute path, such as /dev/disk/by-id/…';

const groupProblem = (answer: string) =>
  isLvmName(answer) ? undefined : `A volume group has ${LVM_NAME}`;

/** Asks for a disk or partition: of one node, it is shown which it has, and what is on them. */
export async function askDevice(nodes: readonly string[], asking: Asking): Promise<string> {
  const { prompts } = asking;
  const [node] = nodes;
  if (node !== undefined && nodes.length === 1) {
    const devices = await look(
      node,
      async (ask) => readOffered(await ask(offeredProbes())),
      asking,
    );
    if (devices !== undefined && devices.length > 0) {
      const owners = await ownersOn(node, asking);
      const owner = ({ path, links }: OfferedDevice) =>
        [path, ...links].map((name) => owners.get(name)).find((name) => name !== undefined);
      const choices = aligned(devices.map((device) => deviceChoice(device, owner(device))));
      const answer = await prompts.select(`Device of ${node}:`, [
        ...choices.filter(({ disabled }) => disabled === undefined),
        { name: 'another one, by its path', value: OTHER },
        ...choices.filter(({ disabled }) => disabled !== undefined),
      ]);
      if (answer !== OTHER) return answer;
    }
  }
  return prompts.input('Path of the device on the node:', pathProblem);
}

/** Asks for a volume group: of one node, it is shown which it has, and how much room is in them. */
export async function askGroup(nodes: readonly string[], asking: Asking): Promise<string> {
  const { prompts } = asking;
  const [node] = nodes;
  if (node !== undefined && nodes.length === 1) {
    const groups = await look(
      node,
      async (ask) => {
        const view = readView(await ask(viewProbes()));
        return readAllGroups(await ask(groupProbes(view)), view);
      },
      asking,
    );
    if (groups !== undefined && groups.length > 0) {
      const answer = await prompts.select(`Volume group of ${node}:`, [
        ...groups.map(
          ({ name, extentBytes, freeExtents, readOnly, exported, partial }): Choice => ({
            name: `${name}  ${roundedSize(Number(extentBytes * freeExtents))} free`,
            value: name,
            ...((readOnly || exported || partial) && {
              disabled: readOnly ? 'read-only' : exported ? 'exported' : 'a disk of it is missing',
            }),
          }),
        ),
        { name: 'another one', value: OTHER },
      ]);
      if (answer !== OTHER) return answer;
    }
  }
  return prompts.input('Volume group on the node:', groupProblem);
}

function deviceChoice(
  device: OfferedDevice,
  owner: string | undefined,
): { cells: string[]; choice: Omit<Choice, 'name'> } {
  const { path, links, model = '', sizeBytes, carries, usedFor } = device;
  const use = owner === undefined ? usedFor : `Volume ${owner}'s`;
  return {
    cells: [
      path,
      roundedSize(Number(sizeBytes)),
      model,
      carries ?? (use === undefined ? 'no signature seen' : ''),
    ],
    choice: { value: links[0] ?? path, ...(use !== undefined && { disabled: use }) },
  };
}

/** Names in columns. */
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

/** The Volumes that name devices of a node, by these. */
async function ownersOn(node: string, { connect, io }: Asking): Promise<Map<string, string>> {
  const read = await reading(listAll<Volume>(await connect(), VOLUMES, { signal: io.signal }));
  return new Map(
    (foundIn(read)?.items ?? [])
      .filter((volume) => nodeOf(volume) === node)
      .flatMap(({ metadata, spec }) =>
        spec.rawBlockDevice ? [[spec.rawBlockDevice.devicePath, metadata.name] as const] : [],
      ),
  );
}

/** undefined where the node does not say, which is told: then it is asked for by name. */
export async function look<T>(
  node: string,
  read: (ask: (probes: readonly Probe[]) => Promise<(probe: string) => ProbeResult>) => Promise<T>,
  { io, connect, nodeFlags }: Asking,
): Promise<T | undefined> {
  io.stderr.write(`Looking at ${node} …\n`);
  try {
    const flags = await nodeFlags();
    return await withNodes([node], flags, io, await connect(), (executor) =>
      read(async (probes) => answersOf(await executor.observe(node, probes))),
    );
  } catch (error) {
    if (!(error instanceof NodeError) && !(error instanceof ObservationError)) throw error;
    io.stderr.write(printable(`note: not looked at: ${error.message}\n`));
    return undefined;
  }
}
