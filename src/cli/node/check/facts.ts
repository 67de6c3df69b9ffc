import { dirname } from 'node:path';
import type { KubeNode } from '../../../api/core.ts';
import { directoryWanted } from '../../../api/directory.ts';
import type { Leftover } from '../../../api/leftover.ts';
import type { Volume } from '../../../api/volume.ts';
import { nodeOf } from '../../../model/desired-volume.ts';
import { statusProblem } from '../../../model/status-problem.ts';
import type { ObservedDirectory } from '../../../storage/directory/types.ts';
import { earlierLink, linkOf } from '../../../storage/links.ts';
import type { VolumeGroup } from '../../../storage/lvm/facts.ts';
import type { NamedFile } from '../../../storage/node-check/files.ts';
import type { System } from '../../../storage/node-check/system.ts';
import type { DeviceUsage, Intent } from '../../../storage/types.ts';

/** What was looked at; or why it could not be, although the node answers. */
export type Look<T> =
  | { known: T }
  | { problem: string; hint: string | undefined; isRefused?: boolean };

export interface NodeFacts {
  /** Whether udev runs; a problem where nothing may be run as root. */
  udev: Look<boolean>;
  /** A problem where what the account may run are not the commands of this version. */
  commands: Look<unknown>;
  system: Look<System>;
  content: Look<NodeContent>;
  /** The subjects of jobs. */
  subjects: Look<readonly string[]>;
}

/** Why a folder was not looked into. */
export interface Closed {
  folder: string;
  problem: string;
  hint: string | undefined;
  /** The account may not, whatever is there. */
  isRefused?: boolean;
}

/** What is on a node that is named after Volumes. */
export interface NodeContent {
  users: DeviceUsage;
  records: readonly NamedFile[];
  /** Those of backing files. */
  folders: readonly string[];
  /** In those folders. */
  files: readonly NamedFile[];
  /** Folders that the account may not look into. */
  closed: readonly Closed[];
  /** Of Volumes that are not in the cluster. */
  intents: ReadonlyMap<string, Intent>;
  /** Persistent names that are there, of those that were asked for. */
  links: ReadonlySet<string>;
  /** Volume groups that Volumes of the node are in, by name; several of one name where it has them. */
  groups: ReadonlyMap<string, readonly VolumeGroup[]>;
  /** Bytes that are free for files in the folders of backing files, by folder. */
  free: ReadonlyMap<string, bigint>;
  /** Directories whose file system is on record. */
  directories: readonly ObservedDirectory[];
}

/** What the cluster has. */
export interface ClusterFacts {
  volumes: readonly Volume[];
  leftovers: readonly Leftover[];
  /** Of StorageClasses for sparse files. */
  classDirectories: readonly string[];
  /** By name. */
  nodes: ReadonlyMap<string, KubeNode>;
}

/** The UIDs whose storage belongs to an object. */
export const ownedUids = ({
  volumes,
  leftovers,
}: Pick<ClusterFacts, 'volumes' | 'leftovers'>): Set<string> =>
  new Set([
    ...volumes.map(({ metadata }) => metadata.uid ?? ''),
    ...leftovers.flatMap(({ metadata, spec }) => [metadata.name, spec.uid]),
  ]);

/**
 * Returns the directories of backing files of a node that something names.
 * @param others directories of classes, and those that the node has on record
 */
export function foldersOf(
  node: string,
  volumes: readonly Volume[],
  intents: Iterable<Intent>,
  others: readonly string[],
): string[] {
  const folders = volumes.flatMap((volume) => {
    if (nodeOf(volume) !== node || volume.spec.sparseLoopDevice == null) return [];
    const [made] =
      statusProblem(volume) === undefined ? (volume.status?.prepared?.paths ?? []) : [];
    return [volume.spec.sparseLoopDevice.directory, made && dirname(made)];
  });
  const recorded = [...intents].map(({ file }) => file && dirname(file));
  const all = [...folders, ...recorded, ...others].filter((folder) => folder !== undefined);
  return [...new Set(all)].filter((folder) => directoryWanted(folder) === undefined);
}

/** The volume groups that Volumes of a node are made in. */
export const groupsOf = (node: string, volumes: readonly Volume[]): string[] => [
  ...new Set(
    volumes.flatMap((volume) => {
      const vgName = nodeOf(volume) === node ? volume.spec.lvmLogicalVolume?.vgName : undefined;
      return vgName === undefined ? [] : [vgName];
    }),
  ),
];

/** Volumes that were made on a node, and whose storage is to be there. */
export const madeOn = (node: string, volumes: readonly Volume[]): Volume[] =>
  volumes.filter(
    (volume) =>
      nodeOf(volume) === node &&
      volume.status?.prepared !== undefined &&
      statusProblem(volume) === undefined,
  );

/** The persistent name of a Volume that was made. */
export function linkOfVolume({ metadata, spec, status }: Volume): string {
  const named = { uid: metadata.uid ?? '', mode: spec.mode ?? 'Filesystem' };
  return linkOf({ ...named, ...earlierLink(status?.devicePath, named) });
}
