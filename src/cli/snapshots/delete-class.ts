import { StowageError } from '../../api/errors.ts';
import {
  VOLUME_SNAPSHOT_CLASSES,
  VOLUME_SNAPSHOT_CONTENTS,
  VOLUME_SNAPSHOTS,
} from '../../api/resources.ts';
import type {
  VolumeSnapshot,
  VolumeSnapshotClass,
  VolumeSnapshotContent,
} from '../../api/snapshot.ts';
import type { KubeClient } from '../../kube/types.ts';
import { commandLine } from '../lib/command-line.ts';
import type { Io } from '../lib/io.ts';
import {
  type ClassKind,
  type DeleteClassFlags,
  deleteClasses,
  listNeeding,
} from '../lib/objects/delete-classes.ts';
import { missingKind } from '../lib/objects/missing-snapshots.ts';
import { contentsOf, isDefault, isOwn, type SnapshotUses, waitingFor } from './class-uses.ts';

/** Runs `stowage delete snapshotclass`. Throws a StowageError. */
export const deleteSnapshotClasses = (
  names: readonly string[],
  flags: DeleteClassFlags,
  io: Io,
  connect: () => Promise<KubeClient>,
): Promise<void> => deleteClasses(SNAPSHOT_CLASS, names, flags, io, connect);

const SNAPSHOT_CLASS: ClassKind<VolumeSnapshotClass, SnapshotUses> = {
  resource: VOLUME_SNAPSHOT_CLASSES,
  words: { noun: 'snapshotclass', all: 'snapshot classes', example: 'fast' },
  plural: 'snapshot classes of Stowage',
  async readUses(client, io) {
    const snapshots = await listNeeding<VolumeSnapshot>(
      client,
      VOLUME_SNAPSHOTS,
      VOLUME_SNAPSHOT_CLASSES.kind,
      io,
    );
    const contents = await listNeeding<VolumeSnapshotContent>(
      client,
      VOLUME_SNAPSHOT_CONTENTS,
      VOLUME_SNAPSHOT_CLASSES.kind,
      io,
    );
    return { snapshots, contents };
  },
  isServed: isOwn,
  refuseIfNeeded,
  lostDefault: (found) =>
    isDefault(found) ? 'it is the default, which snapshots without a class get' : undefined,
  lost: () => 'new snapshots that name it wait until it is created again',
  // A content has its own copy of the policy, and the daemon needs no class to delete it.
  kept(found, uses) {
    const count = contentsOf(found, uses);
    if (count === 0) return undefined;
    const they = count === 1 ? '1 snapshot stays, with its' : `${count} snapshots stay, with their`;
    return `VolumeSnapshotClass ${found.metadata.name}: ${they} deletion policy`;
  },
  failed: missingKind,
};

/** Throws a StowageError `conflict` if a snapshot that is not taken yet needs the class. */
function refuseIfNeeded(found: VolumeSnapshotClass, uses: SnapshotUses): void {
  const needing = waitingFor(found, uses);
  const [first] = needing;
  if (first === undefined) return;
  const [who, until] =
    needing.length === 1
      ? [`VolumeSnapshot ${first} is not taken yet and needs it`, 'it is']
      : [
          `VolumeSnapshots ${first} and ${needing.length - 1} more are not taken yet and need it`,
          'they are',
        ];
  const why = commandLine('stowage', 'why', 'snapshot', first);
  throw new StowageError(
    'conflict',
    `VolumeSnapshotClass ${found.metadata.name} cannot be deleted: ${who}`,
    { hint: `Wait until ${until} ready, or see why ${first} is not: ${why}` },
  );
}
