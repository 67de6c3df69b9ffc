import { snapshotFile } from '../../src/storage/snapshot/snapshot-path.ts';
import type { DesiredSnapshot, ObservedSnapshot } from '../../src/storage/snapshot/types.ts';
import type { DesiredSparse } from '../../src/storage/types.ts';
import { FILE, madeNode, sparseDesired, UID } from './volume-input.ts';

/** Parts of inputs to plans of snapshots of one sparse volume. */

export const COPY_UID = '6b3f0a52-1111-4c7e-8a53-9a1d8f0b7e22';

export const snapshotted: DesiredSparse = { ...sparseDesired, recorded: true };

export const wantedCopy: DesiredSnapshot = {
  uid: COPY_UID,
  volume: snapshotted,
  freeze: { seconds: 60, copy: false },
};

export const COPY = snapshotFile(snapshotted, COPY_UID);

/** A node on which the volume is made and not attached, and no copy of it is. */
export const uncopied: ObservedSnapshot = {
  volume: madeNode,
  source: {
    realPath: FILE,
    file: madeNode.file,
    signature: madeNode.signature,
    state: '1073741824|42|1.5',
    mayClone: true,
  },
  copy: { type: 'missing' },
  signature: { found: 'none' },
  partial: { type: 'missing' },
  partialBytes: 0n,
  partialPath: `${COPY}.partial`,
  freezeIsLeft: false,
};

/** What a volume is that starts from that copy. */
export const RESTORED_UID = '6c3f0a52-2222-4c7e-8a53-9a1d8f0b7e33';
export const restored: DesiredSparse = {
  ...snapshotted,
  uid: RESTORED_UID,
  name: 'data2',
  file: FILE.replace(UID, RESTORED_UID),
  sizeBytes: 2n << 30n,
  recorded: false,
  source: { what: 'snapshot', file: COPY, mode: 'Filesystem' },
};
