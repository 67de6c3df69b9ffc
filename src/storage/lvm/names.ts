import type { DesiredLvm } from '../types.ts';
import type { LogicalVolume } from './facts.ts';

type Named = Pick<DesiredLvm, 'vgName' | 'name'>;

/** Returns LVM's name of a logical volume, GROUP/NAME. */
export const lvName = ({ vgName }: Pick<Named, 'vgName'>, name: string): string =>
  `${vgName}/${name}`;

/** Reports whether a name is that of a snapshot, as snapshot handles have it. */
export const isSnapshotName = (name: string): boolean =>
  /^snap-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(name);

/** Returns the device path of a Volume's logical volume. */
export const lvPath = ({ vgName, name }: Named): string => `/dev/${vgName}/${name}`;

/** Returns device-mapper's name of a logical volume, which is unique while the volume is active. */
export const dmNameOf = ({ vgName, name }: Named): string =>
  [vgName, name].map((part) => part.replaceAll('-', '--')).join('-');

/** Returns the path under /dev of the group or thin pool that a logical volume takes space from. */
export const poolPath = ({
  vgName,
  thinPool,
}: {
  vgName: string;
  thinPool?: string | undefined;
}): string => `/dev/${vgName}${thinPool == null ? '' : `/${thinPool}`}`;

/**
 * Returns the tag that names the owner of a logical volume. lvcreate sets this tag or
 * `unfinishedTag`.
 */
export const tagOf = (uid: string): string => `stowage.dev/uid=${uid}`;

const TAG = /^stowage\.dev\/uid=(.+)$/;

/** Returns the owner UIDs in tags of finished logical volumes. */
export const uidsIn = (tags: readonly string[]): string[] =>
  tags.flatMap((tag) => TAG.exec(tag)?.[1] ?? []);

const ANY_TAG = /^stowage\.dev\/(?:uid|unfinished)=(.+)$/;

/** Returns the owner UIDs in tags, including those of unfinished logical volumes. */
export const anyUidsIn = (tags: readonly string[]): string[] =>
  tags.flatMap((tag) => ANY_TAG.exec(tag)?.[1] ?? []);

export const isTagged = ({ tags }: LogicalVolume, uid: string): boolean =>
  tags.includes(tagOf(uid));

/**
 * Returns the tag of an unfinished logical volume, in place of `tagOf`. The volume is being filled,
 * or is a copy without its own identity. Its content is expendable.
 */
export const unfinishedTag = (uid: string): string => `stowage.dev/unfinished=${uid}`;

export const isUnfinished = ({ tags }: LogicalVolume, uid: string): boolean =>
  tags.includes(unfinishedTag(uid));

/** Returns device-mapper's UUID of a logical volume: LVM's two UUIDs without hyphens. */
export const dmUuidOf = (vgUuid: string, lvUuid: string): string =>
  `LVM-${vgUuid.replaceAll('-', '')}${lvUuid.replaceAll('-', '')}`;
