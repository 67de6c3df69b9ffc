import type { KubeClient } from '../../kube/types.ts';
import type { Io } from '../io.ts';
import { followsLinks, leadersIn, readLeases } from '../leaders.ts';
import { foundIn } from '../volume/read-result.ts';

/** Whether the daemon makes volumes from VolumeSnapshotLinks; true where none says so. Throws a StowageError. */
export async function fillsLinks(
  client: Pick<KubeClient, 'list'>,
  { signal, clock }: Pick<Io, 'signal' | 'clock'>,
): Promise<boolean> {
  const leases = foundIn(await readLeases(client, signal)) ?? [];
  return followsLinks(leadersIn(leases, clock.now())) ?? true;
}
