import type { Command } from 'commander';
import { isFsType } from '../../../api/file-systems.ts';
import { VOLUMES } from '../../../api/resources.ts';
import { roundedSize } from '../../../api/rounded-size.ts';
import { isUid } from '../../../api/uid.ts';
import type { Volume } from '../../../api/volume.ts';
import { snapshotUids } from '../../../controllers/volume/adoption.ts';
import { readContents } from '../../../controllers/volume/claimants.ts';
import { listAll } from '../../../kube/client.ts';
import { nodeOf } from '../../../model/volume-nodes.ts';
import type { Probe } from '../../../nodes/job.ts';
import { SPARSE_DIRECTORY } from '../../../storage/loopfile/file.ts';
import { isSnapshotName, uidsIn } from '../../../storage/lvm/names.ts';
import { readGroup } from '../../../storage/lvm/read-group.ts';
import { offeredProbes, readOffered } from '../../../storage/offered-devices.ts';
import { succeeded } from '../../../storage/probe-results.ts';
import { isInSnapshots } from '../../../storage/snapshot/snapshot-path.ts';
import type { GlobalFlags } from '../../lib/globals.ts';
import type { Choice } from '../../lib/prompts/prompts.ts';
import { foundIn, reading } from '../../lib/read-result.ts';
import { complete as completeBy, orOther, type Question } from '../../lib/wizard/ask.ts';
import { type ClusterAccess, deviceOf, groupOf, tryObserve } from '../../lib/wizard/storage.ts';
import { NODE } from '../ask-nodes.ts';
import { askingOf, NAME, STORAGE_CLASS } from '../wizard.ts';
import { type AdoptFlags, type StorageType, typeOf } from './flags.ts';

/** Flags and arguments of the command line, and the type of the storage that they name. */
export type Given = AdoptFlags & GlobalFlags & { name?: string | undefined; type?: StorageType };

const nodesOf = ({ node }: Given) => (node === undefined ? [] : [node]);

const QUESTIONS: readonly Question<Given, ClusterAccess>[] = [
  NAME,
  { ...NODE, typed: NODE.message },
  {
    of: 'type',
    message: 'Storage to adopt:',
    needed: '--device or --file or --vg and --lv',
    names: {
      raw: 'a disk or partition',
      sparse: 'a file in a directory',
      lvm: 'a logical volume of LVM',
    },
  },
  { ...deviceOf(nodesOf, deviceChoices), when: ({ type }) => type === 'raw' },
  {
    of: 'file',
    message: ({ node, directory = SPARSE_DIRECTORY }) => `File in ${directory} of ${node}:`,
    when: ({ type }) => type === 'sparse',
    needed: true,
    choices: fileChoices,
    typed: 'Name of the file:',
    problem: (text) => (isUid(text) ? undefined : 'The file of a Volume is named after its UID'),
  },
  { ...groupOf(nodesOf), when: ({ type }) => type === 'lvm' },
  {
    of: 'lv',
    message: ({ vg }) => `Logical volume of ${vg}:`,
    when: ({ type }) => type === 'lvm',
    needed: true,
    choices: logicalVolumeChoices,
    typed: 'Name of the logical volume:',
  },
  STORAGE_CLASS,
];

/**
 * Prompts for missing values on a terminal, for which it observes nodes. Elsewhere throws a
 * StowageError `usage` that names them.
 */
export function complete(given: Given, command: Command, access: ClusterAccess) {
  const type = typeOf(given);
  return completeBy<Given, 'name', ClusterAccess>(
    QUESTIONS,
    { ...given, ...(type && { type }) },
    askingOf(command, access),
  );
}

/**
 * Returns the devices with content that Stowage makes: a file system with a UID, or a partition
 * table. Excludes snapshots.
 */
async function deviceChoices(node: string, access: ClusterAccess): Promise<readonly Choice[]> {
  const devices =
    (await tryObserve(node, async (ask) => readOffered(await ask(offeredProbes())), access)) ?? [];
  const owners = await ownersOf(access);
  const choices = devices.flatMap(
    ({ path, links, model = '', sizeBytes, carries = '' }): Choice[] => {
      const [type = '', uid] = carries.split(':');
      if (type !== 'gpt' && !(isFsType(type) && isUid(uid))) return [];
      if (owners.isSnapshot(uid)) return [];
      const columns = [path, roundedSize(Number(sizeBytes)), model, carries, owners.volume(uid)];
      return [{ name: columns.filter((each) => each !== '').join('  '), value: links[0] ?? path }];
    },
  );
  return orOther(choices);
}

/** Returns the files in the directory that are named by a UID. */
async function fileChoices(
  { node = '', directory = SPARSE_DIRECTORY }: Given,
  access: ClusterAccess,
): Promise<readonly Choice[]> {
  const probe: Probe = {
    name: 'files',
    argv: [
      ...['find', `${directory}/`, '-ignore_readdir_race'],
      ...['-maxdepth', '1', '-type', 'f', '-printf', '%b|%f\\n'],
    ],
  };
  const files = await tryObserve(
    node,
    async (ask) => succeeded('the files', (await ask([probe]))('files')).split('\n'),
    access,
  );
  const owners = await ownersOf(access);
  const choices = (files ?? []).flatMap((line): Choice[] => {
    const [, uid = ''] = line.split('|');
    if (!isUid(uid) || owners.isSnapshot(uid) || isInSnapshots(`${directory}/${uid}`)) return [];
    return [{ name: [uid, owners.volume(uid)].join('  ').trimEnd(), value: uid }];
  });
  return orOther(choices);
}

/** Returns the logical volumes that have Stowage's tag. */
async function logicalVolumeChoices(
  { node = '', vg = '' }: Given,
  access: ClusterAccess,
): Promise<readonly Choice[]> {
  const volumes = (await tryObserve(node, (ask) => readGroup(ask, vg), access)) ?? [];
  const owners = await ownersOf(access);
  const choices = volumes.flatMap(({ name, sizeBytes, tags }): Choice[] => {
    const [uid] = uidsIn(tags);
    if (uid === undefined || owners.isSnapshot(uid) || isSnapshotName(name)) return [];
    const columns = [name, roundedSize(Number(sizeBytes)), owners.volume(uid)];
    return [{ name: columns.join('  ').trimEnd(), value: name }];
  });
  return orOther(choices);
}

interface Owners {
  /** Returns the Volume whose UID names the storage; an empty text if no such Volume is known. */
  volume(uid: string | undefined): string;
  isSnapshot(uid: string | undefined): boolean;
}

async function ownersOf({ connect, io }: ClusterAccess): Promise<Owners> {
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
