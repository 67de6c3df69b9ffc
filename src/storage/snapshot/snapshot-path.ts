import { basename, dirname } from 'node:path';
import type { DesiredSparse } from '../types.ts';

const FOLDER = 'snapshots';

/**
 * Returns the directory of copies, beside the volumes' files: both share blocks in one file system.
 */
export const snapshotFolder = ({ file }: Pick<DesiredSparse, 'file'>): string =>
  `${dirname(file)}/${FOLDER}`;

/** Reports whether a file is in a directory of copies. */
export const isInSnapshots = (file: string): boolean => basename(dirname(file)) === FOLDER;

/** Returns the absolute path of a snapshot's copy, by the UID of its content. */
export const snapshotFile = (volume: Pick<DesiredSparse, 'file'>, uid: string): string =>
  `${snapshotFolder(volume)}/${uid}`;

/** Returns the path of scripts/freeze.sh's record, on a file system that a reboot empties. */
export const freezeRecord = (uid: string): string => `/run/stowage/freezes/${uid}.partial/state`;
