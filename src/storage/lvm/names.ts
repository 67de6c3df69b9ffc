import type { DesiredLvm } from '../types.ts';
import type { LogicalVolume } from './facts.ts';

type Named = Pick<DesiredLvm, 'vgName' | 'name'>;

/** As LVM names a logical volume. */
export const lvName = ({ vgName }: Pick<Named, 'vgName'>, name: string): string =>
  `${vgName}/${name}`;

/** Whether a logical volume of this name is a snapshot, as handles of snapshots name them. */
export const isSnapshotName = (name: string): boolean =>
  /^snap-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(name);

/** The path where the logical volume of a Volume is made. */
export const lvPath = ({ vgName, name }: Named): string => `/dev/${vgName}/${name}`;

/** What device-mapper calls it, which is nobody else's as long as it is active. */
export const dmNameOf = ({ vgName, name }: Named): string =>
  [vgName, name].map((part) => part.replaceAll('-', '--')).join('-');

/** What a logical volume is taken from, as it is named under /dev: the group, or the thin pool. */
export const poolPath = ({
  vgName,
  thinPool,
}: {
  vgName: string;
  thinPool?: string | undefined;
}): string => `/dev/${vgName}${thinPool == null ? '' : `/${thinPool}`}`;

/** Says on the logical volume itself whose it is. It is there from the moment that there is a logical volume. */
export const tagOf = (uid: string): string => `stowage.dev/uid=${uid}`;

const TAG = /^stowage\.dev\/uid=(.+)$/;

/** The UIDs of the Volumes that tags name. */
export const uidsIn = (tags: readonly string[]): string[] =>
  tags.flatMap((tag) => TAG.exec(tag)?.[1] ?? []);

const ANY_TAG = /^stowage\.dev\/(?:uid|unfinished)=(.+)$/;

/** The same, also of Volumes that are being made of it. */
export const anyUidsIn = (tags: readonly string[]): string[] =>
  tags.flatMap((tag) => ANY_TAG.exec(tag)?.[1] ?? []);

export const isTagged = ({ tags }: LogicalVolume, uid: string): boolean =>
  tags.includes(tagOf(uid));

/**
 * Says whose a copy of another logical volume is to be, in place of `tagOf`, while it is not whole or has not the identity of its
 * own. What carries it holds nothing that anybody needs.
 */
export const unfinishedTag = (uid: string): string => `stowage.dev/unfinished=${uid}`;

export const isUnfinished = ({ tags }: LogicalVolume, uid: string): boolean =>
  tags.includes(unfinishedTag(uid));

/** Device-mapper's name for it: LVM's two UUIDs without their hyphens. */
export const dmUuidOf = (vgUuid: string, lvUuid: string): string =>
  `LVM-${vgUuid.replaceAll('-', '')}${lvUuid.replaceAll('-', '')}`;
