import { VOLUMES } from '../../api/resources.ts';
import { isUid } from '../../api/uid.ts';
import type { Volume } from '../../api/volume.ts';
import { snapshotUids } from '../../controllers/volume/adoption.ts';
import { readContents } from '../../controllers/volume/claimants.ts';
import { nodeOf } from '../../controllers/volume/desired-volume.ts';
import { listAll } from '../../kube/client.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { Probe } from '../../nodes/job.ts';
import { SPARSE_FOLDER } from '../../storage/loopfile/file.ts';
import { isSnapshotName, uidsIn } from '../../storage/lvm/names.ts';
import { readGroup } from '../../storage/lvm/read-group.ts';
import { offeredProbes, readOffered } from '../../storage/offered-devices.ts';
import { succeeded } from '../../storage/probe-results.ts';
import { isInSnapshots } from '../../storage/snapshot/snapshot-path.ts';
import type { Io } from '../io.ts';
import { roundedSize } from '../output/size.ts';
import type { Choice } from '../prompts/prompts.ts';
import { foundIn, reading } from '../volume/read-result.ts';
import { classesThere } from '../volume/static-classes.ts';
import { askClass } from '../volume/wizard.ts';
import { nameProblem, toAsk } from '../wizard/missing.ts';
import { askNodes } from '../wizard/nodes.ts';
import { type Asking, askGroup, look, pathProblem } from '../wizard/storage.ts';
import { type AdoptFlags, missing, typeOf } from './flags.ts';

/**
 * Asks for what is missing, where somebody can be asked; for that it looks at nodes. Throws a StowageError `usage` that names it
 * where not.
 */
export async function complete<F extends AdoptFlags>(
  name: string | undefined,
  given: F,
  io: Io,
  connect: () => Promise<KubeClient>,
): Promise<{ name: string; flags: F }> {
  const lacking = missing(name, given);
  if (name !== undefined && lacking.length === 0) return { name, flags: given };
  toAsk(
    lacking,
    io,
    lacking.includes('--storage-class') ? await classesThere(io, connect) : undefined,
  );
  const prompts = await io.prompts();
  const asking: Asking = { prompts, io, connect, nodeFlags: () => Promise.resolve(given) };
  const flags = { ...given };
  const chosen = name ?? (await prompts.input('Name of the Volume:', nameProblem));
  flags.node ??= (await askNodes(prompts, given, io, connect)).names[0] ?? '';
  const type = typeOf(flags) ?? (await prompts.select('What it adopts:', TYPES));
  if (type === 'raw') flags.device ??= await askDevice(flags.node, asking);
  if (type === 'sparse') flags.file ??= await askFile(flags.node, flags, asking);
  if (type === 'lvm') {
    flags.vg ??= await askGroup([flags.node], asking);
    flags.lv ??= await askLogicalVolume(flags.node, flags.vg, asking);
  }
  flags.storageClass ??= await askClass(asking);
  return { name: chosen, flags };
}

const TYPES = [
  { name: 'a disk or partition', value: 'raw' },
  { name: 'a file in a directory', value: 'sparse' },
  { name: 'a logical volume of LVM', value: 'lvm' },
];

const OTHER = '';

/** Returns the devices that carry what Stowage makes: a file system with a UID, or a table. Snapshots are not among them. */
async function askDevice(node: string, asking: Asking): Promise<string> {
  const devices =
    (await look(node, async (ask) => readOffered(await ask(offeredProbes())), asking)) ?? [];
  const owners = await ownersOf(asking);
  const choices = devices.flatMap(
    ({ path, links, model = '', sizeBytes, carries = '' }): Choice[] => {
      const [type = '', uid] = carries.split(':');
      if (type !== 'gpt' && !(['ext4', 'xfs'].includes(type) && isUid(uid))) return [];
      if (owners.isSnapshot(uid)) return [];
      const told = [path, roundedSize(Number(sizeBytes)), model, carries, owners.volume(uid)];
      return [{ name: told.filter((each) => each !== '').join('  '), value: links[0] ?? path }];
    },
  );
  return choose(
    `Device of ${node}:`,
    choices,
    'Path of the device on the node:',
    asking,
    pathProblem,
  );
}

/** Returns the files in the directory that are named by a UID. */
async function askFile(
  node: string,
  { directory = SPARSE_FOLDER }: AdoptFlags,
  asking: Asking,
): Promise<string> {
  const probe: Probe = {
    name: 'files',
    argv: [
      ...['find', `${directory}/`, '-ignore_readdir_race'],
      ...['-maxdepth', '1', '-type', 'f', '-printf', '%b|%f\\n'],
    ],
  };
  const files = await look(
    node,
    async (ask) => succeeded('the files', (await ask([probe]))('files')).split('\n'),
    asking,
  );
  const owners = await ownersOf(asking);
  const choices = (files ?? []).flatMap((line): Choice[] => {
    const [, uid = ''] = line.split('|');
    if (!isUid(uid) || owners.isSnapshot(uid) || isInSnapshots(`${directory}/${uid}`)) return [];
    return [{ name: [uid, owners.volume(uid)].join('  ').trimEnd(), value: uid }];
  });
  const problem = (answer: string) =>
    isUid(answer) ? undefined : 'The file of a Volume is named by its UID';
  return choose(`File in ${directory} of ${node}:`, choices, 'Name of the file:', asking, problem);
}

/** Returns the logical volumes that have Stowage's tag. */
async function askLogicalVolume(node: string, vg: string, asking: Asking): Promise<string> {
  const volumes = (await look(node, (ask) => readGroup(ask, vg), asking)) ?? [];
  const owners = await ownersOf(asking);
  const choices = volumes.flatMap(({ name, sizeBytes, tags }): Choice[] => {
    const [uid] = uidsIn(tags);
    if (uid === undefined || owners.isSnapshot(uid) || isSnapshotName(name)) return [];
    const told = [name, roundedSize(Number(sizeBytes)), owners.volume(uid)];
    return [{ name: told.join('  ').trimEnd(), value: name }];
  });
  const problem = (answer: string) => (answer === '' ? 'It has a name' : undefined);
  return choose(
    `Logical volume of ${vg}:`,
    choices,
    'Name of the logical volume:',
    asking,
    problem,
  );
}

interface Owners {
  /** Tells whose storage it is, by the UID that it is named by; nothing where no Volume is known that has it. */
  volume(uid: string | undefined): string;
  isSnapshot(uid: string | undefined): boolean;
}

async function ownersOf({ connect, io }: Asking): Promise<Owners> {
  const client = await connect();
  const { signal } = io;
  const volumes = foundIn(await reading(listAll<Volume>(client, VOLUMES, { signal })))?.items ?? [];
  const contents = foundIn(await reading(readContents(client, { signal }))) ?? [];
  const snapshots = new Set<string | undefined>(contents.flatMap(snapshotUids));
  return {
    volume(uid) {
      const owner = volumes.find(({ metadata }) => metadata.uid === uid);
      return owner === undefined ? '' : `Volume ${owner.metadata.name} on ${nodeOf(owner)}`;
    },
    isSnapshot: (uid) => snapshots.has(uid),
  };
}

async function choose(
  question: string,
  choices: readonly Choice[],
  otherQuestion: string,
  { prompts }: Asking,
  problem: (answer: string) => string | undefined,
): Promise<string> {
  if (choices.length > 0) {
    const answer = await prompts.select(question, [
      ...choices,
      { name: 'another one', value: OTHER },
    ]);
    if (answer !== OTHER) return answer;
  }
  return prompts.input(otherQuestion, problem);
}
