import { basename, dirname } from 'node:path';
import type { DesiredSparse } from '../types.ts';

const FOLDER = 'snapshots';

/** The folder of copies, beside the files of volumes: on the same file system, so that both can share blocks. */
export const snapshotFolder = ({ file }: Pick<DesiredSparse, 'file'>): string =>
  `${dirname(file)}/${FOLDER}`;

/** Whether a path is where copies are. */
export const isInSnapshots = (file: string): boolean => basename(dirname(file)) === FOLDER;

/** The absolute path of the copy that a snapshot is, by the UID of its content. */
export const snapshotFile = (volume: Pick<DesiredSparse, 'file'>, uid: string): string =>
  `${snapshotFolder(volume)}/${uid}`;

/** What scripts/freeze.sh keeps of a freeze while a copy is made, on a file system that no reboot survives. */
export const freezeRecord = (uid: string): string => `/run/stowage/freezes/${uid}.partial/state`;
