import { mkdir, writeFile } from 'node:fs/promises';
import { execa } from 'execa';

/**
 * Occupies the slots for filling and packing volumes on this node, by default all, for a namespace.
 * @returns functions that release one slot, and all
 */
export async function holdPlaces(
  count = 16,
  namespace = '',
): Promise<{ giveOne(): void; giveAll(): Promise<void> }> {
  await mkdir('/run/stowage/fills', { recursive: true });
  const places = Array.from({ length: count }, (_, index) => `/run/stowage/fills/${index + 1}`);
  for (const place of places) await writeFile(place, `${namespace}\n`);
  const hold = ['sh', '-c', 'echo held; exec sleep 60'];
  const holders = places.map((place) =>
    execa('flock', ['--no-fork', place, ...hold], { reject: false }),
  );
  await Promise.all(holders.map(({ stdout }) => new Promise((held) => stdout?.once('data', held))));
  return {
    giveOne: () => void holders[7]?.kill('SIGKILL'),
    async giveAll() {
      for (const holder of holders) holder.kill('SIGKILL');
      await Promise.all(holders);
    },
  };
}
