import type { KubeClient } from '../../kube/types.ts';
import type { Io } from '../lib/io.ts';
import { followsLinks, leadersIn, readLeases } from '../lib/leaders.ts';
import { printable } from '../lib/output/printable.ts';
import { foundIn } from '../lib/read-result.ts';

/**
 * Reports whether the daemon provisions volumes from VolumeSnapshotLinks. Returns true if no Lease
 * states it, or if Leases may not be read; prints a note then. Throws a StowageError.
 */
export async function fillsLinks(
  client: Pick<KubeClient, 'list'>,
  { signal, clock, stderr }: Pick<Io, 'signal' | 'clock' | 'stderr'>,
): Promise<boolean> {
  const read = await readLeases(client, signal);
  if ('forbidden' in read) stderr.write(printable(`note: not checked: ${read.forbidden}\n`));
  return followsLinks(leadersIn(foundIn(read) ?? [], clock.timeOfDay())) ?? true;
}
