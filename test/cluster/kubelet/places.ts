import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeDisk } from '../../support/disks.ts';
import type { Backing } from '../../support/kinds.ts';
import { leftovers } from '../../support/leftovers.ts';
import { removeTraces } from '../../support/remove-traces.ts';
import type { Scene, ThisMachine } from './scene.ts';
import type { Places } from './volumes.ts';

const MIB = 1n << 20n;

/** Provides storage on this machine: backing files, and disks that are loop devices. */
export function placesHere({ client, machine: { folder } }: Scene<ThisMachine>): Places<Backing> {
  const ends: (() => Promise<void>)[] = [];
  /** Directory of the Volumes' backing files, and of nothing else. */
  const directory = join(folder, 'sparse');
  const before = leftovers({ directories: [directory] });

  return {
    async storage(backing) {
      // Minimum size of an XFS.
      if (backing === 'sparse file') return { sparseLoopDevice: { size: '304Mi', directory } };
      const [size, table] =
        backing === 'disk' ? ([304n, 'none'] as const) : ([640n, 'gpt'] as const);
      const disk = await makeDisk(folder, randomUUID(), size * MIB, table);
      const reading = keepReading(disk);
      ends.push(async () => {
        await reading.stop();
        await disk.remove();
      });
      return { rawBlockDevice: { devicePath: backing === 'disk' ? disk.path : disk.partition } };
    },

    /** Finds traces on the machine and in the cluster. */
    async traces(uid) {
      const found = await leftovers({ uids: [uid], directories: [directory], client });
      const known = await before;
      return found.filter((fault) => !known.includes(fault));
    },

    async clean(uids) {
      for (const uid of uids) await removeTraces(uid, join(directory, uid));
      for (const end of ends.splice(0)) await end();
    },
  };
}

/**
 * Re-reads the partition table continuously, as a kernel that reads tables itself: partitions
 * always exist after a writer closes the disk.
 */
function keepReading({ reread }: { reread(): Promise<void> }) {
  let reading = true;
  const read = (async () => {
    while (reading) {
      await reread();
      await sleep(20);
    }
  })();
  return {
    async stop() {
      reading = false;
      await read;
    },
  };
}
