import { dirname } from 'node:path';
import type { KubeNode } from '../../../api/core.ts';
import { directoryWanted } from '../../../api/directory.ts';
import type { Leftover } from '../../../api/leftover.ts';
import type { Volume } from '../../../api/volume.ts';
import { statusProblem } from '../../../model/status-problem.ts';
import { nodeOf } from '../../../model/volume-nodes.ts';
import type { ObservedDirectory } from '../../../storage/directory/types.ts';
import { earlierLink, linkOf } from '../../../storage/links.ts';
import type { VolumeGroup } from '../../../storage/lvm/facts.ts';
import type { NamedFile } from '../../../storage/node-check/files.ts';
import type { System } from '../../../storage/node-check/system.ts';
import type { DeviceUsage, Intent } from '../../../storage/types.ts';

/** Observation, or the reason why it failed although the node answers. */
export type Observation<T> =
  | { known: T }
  | { problem: string; hint: string | undefined; isRefused?: boolean };

export interface NodeFacts {
  /** State of udev; a problem if the account may not run programs as root. */
  udev: Observation<boolean>;
  /** A problem if the account's permitted commands are not those of this version. */
  commands: Observation<unknown>;
  system: Observation<System>;
  content: Observation<NodeContent>;
  /** Subjects of jobs. */
  subjects: Observation<readonly string[]>;
}

/** Directory that could not be read, with the reason. */
export interface Closed {
  folder: string;
  problem: string;
  hint: string | undefined;
  /** The account lacks the permission, whether or not the directory exists. */
  isRefused?: boolean;
}

/** Content of a node that is named after Volumes. */
export interface NodeContent {
  users: DeviceUsage;
  records: readonly NamedFile[];
  /** Directories of backing files. */
  folders: readonly string[];
  /** Files in those directories. */
  files: readonly NamedFile[];
  /** Directories that could not be read. */
  closed: readonly Closed[];
  /** Intents of UIDs that no object has. */
  intents: ReadonlyMap<string, Intent>;
  /** Persistent names that exist, of those checked. */
  links: ReadonlySet<string>;
  /** Volume groups of the node's Volumes, by name; several if names are not unique. */
  groups: ReadonlyMap<string, readonly VolumeGroup[]>;
  /** The node has Volumes on LVM, and no programs of LVM: `groups` is empty. */
  lacksLvm: boolean;
  /** Free bytes in the directories of backing files, by directory. */
  free: ReadonlyMap<string, bigint>;
  /** Directories whose file system is on record. */
  directories: readonly ObservedDirectory[];
  /** Directories on record that do not exist, and that no object names. */
  unused: readonly string[];
}

export interface ClusterFacts {
  volumes: readonly Volume[];
  leftovers: readonly Leftover[];
  /** Directories of StorageClasses for sparse files; undefined if the classes cannot be read. */
  classDirectories: readonly string[] | undefined;
  /** By name. */
  nodes: ReadonlyMap<string, KubeNode>;
}

/** Returns the UIDs whose storage belongs to an object. */
export const ownedUids = ({
  volumes,
  leftovers,
}: Pick<ClusterFacts, 'volumes' | 'leftovers'>): Set<string> =>
  new Set([
    ...volumes.map(({ metadata }) => metadata.uid ?? ''),
    ...leftovers.flatMap(({ metadata, spec }) => [metadata.name, spec.uid]),
  ]);

/**
 * Returns the directories of a node's backing files, as far as something names them.
 * @param others directories of classes, and those that the node has on record
 */
export function directoriesOf(
  node: string,
  volumes: readonly Volume[],
  intents: Iterable<Intent>,
  others: readonly string[] = [],
): string[] {
  const directories = volumes.flatMap((volume) => {
    if (nodeOf(volume) !== node || volume.spec.sparseLoopDevice == null) return [];
    const [made] =
      statusProblem(volume) === undefined ? (volume.status?.prepared?.paths ?? []) : [];
    return [volume.spec.sparseLoopDevice.directory, made && dirname(made)];
  });
  const recorded = [...intents].map(({ file }) => file && dirname(file));
  const all = [...directories, ...recorded, ...others].filter(
    (directory) => directory !== undefined,
  );
  return [...new Set(all)].filter((directory) => directoryWanted(directory) === undefined);
}

/** Returns the volume groups of a node's Volumes. */
export const groupsOf = (node: string, volumes: readonly Volume[]): string[] => [
  ...new Set(
    volumes.flatMap((volume) => {
      const vgName = nodeOf(volume) === node ? volume.spec.lvmLogicalVolume?.vgName : undefined;
      return vgName === undefined ? [] : [vgName];
    }),
  ),
];

/** Returns the Volumes that were provisioned on a node and whose storage must exist there. */
export const madeOn = (node: string, volumes: readonly Volume[]): Volume[] =>
  volumes.filter(
    (volume) =>
      nodeOf(volume) === node &&
      volume.status?.prepared !== undefined &&
      statusProblem(volume) === undefined,
  );

/** Returns the persistent name of a provisioned Volume. */
export function linkOfVolume({ metadata, spec, status }: Volume): string {
  const named = { uid: metadata.uid ?? '', mode: spec.mode ?? 'Filesystem' };
  return linkOf({ ...named, ...earlierLink(status?.devicePath, named) });
}
