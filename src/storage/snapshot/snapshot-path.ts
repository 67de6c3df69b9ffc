import { basename, dirname } from 'node:path';
import type { DesiredSparse } from '../types.ts';

const DIRECTORY = 'snapshots';

/**
 * Returns the directory of copies, beside the volumes' files: both share blocks in one file system.
 */
export const snapshotDirectory = ({ file }: Pick<DesiredSparse, 'file'>): string =>
  `${dirname(file)}/${DIRECTORY}`;

/** Reports whether a file is in a directory of copies. */
export const isInSnapshots = (file: string): boolean => basename(dirname(file)) === DIRECTORY;

/** Returns the absolute path of a snapshot's copy, by the UID of its content. */
export const snapshotFile = (volume: Pick<DesiredSparse, 'file'>, uid: string): string =>
  `${snapshotDirectory(volume)}/${uid}`;

/** Returns the path of scripts/freeze.sh's record, on a file system that a reboot empties. */
export const freezeRecord = (uid: string): string => `/run/stowage/freezes/${uid}.partial/state`;
