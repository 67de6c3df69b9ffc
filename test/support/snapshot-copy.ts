import { snapshotFile } from '../../src/storage/snapshot/snapshot-path.ts';
import type { DesiredSnapshot, ObservedSnapshot } from '../../src/storage/snapshot/types.ts';
import type { DesiredSparse } from '../../src/storage/types.ts';
import { FILE, madeNode, sparseDesired, UID } from './volume-input.ts';

/** Parts of inputs for plans of snapshots of a sparse volume. */

export const COPY_UID = '6b3f0a52-1111-4c7e-8a53-9a1d8f0b7e22';

export const snapshotted: DesiredSparse = { ...sparseDesired, recorded: true };

export const wantedCopy: DesiredSnapshot = {
  uid: COPY_UID,
  volume: snapshotted,
  freeze: { seconds: 60, copy: false },
};

export const COPY = snapshotFile(snapshotted, COPY_UID);

/** Node with the provisioned, detached volume, and without a copy of it. */
export const uncopied: ObservedSnapshot = {
  volume: madeNode,
  source: {
    realPath: FILE,
    file: madeNode.file,
    signature: madeNode.signature,
    state: '1073741824|42|2026-07-01 10:00:00.500000000 +0000',
    mayClone: true,
  },
  copy: { type: 'missing' },
  signature: { found: 'none' },
  partial: { type: 'missing' },
  partialBytes: 0n,
  partialPath: `${COPY}.partial`,
  freezeIsLeft: false,
};

/** Volume that is restored from that copy. */
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
