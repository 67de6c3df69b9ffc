import { refuse } from '../../api/reasons.ts';
import type { Probe, ProbeResult } from '../../nodes/job.ts';
import { ObservationError } from '../probe-results.ts';
import type { LogicalVolume } from './facts.ts';
import { knownGroup, twoGroups } from './group.ts';
import { groupProbes, readGroups, readVolumes, volumesProbe } from './report.ts';
import { readView, viewProbes } from './view.ts';

type Ask = (probes: readonly Probe[]) => Promise<(probe: string) => ProbeResult>;

/**
 * Returns the logical volumes of the only group with this name.
 * @throws ObservationError if the node has none, or several
 */
export async function readGroup(ask: Ask, vgName: string): Promise<LogicalVolume[]> {
  const view = readView(await ask(viewProbes()));
  const get = await ask([...groupProbes(view), volumesProbe(view, vgName)]);
  const groups = readGroups(get, view, vgName);
  if (groups.length === 0)
    throw new ObservationError(refuse('VolumeGroupMissing', { group: vgName }));
  const group = knownGroup(groups, undefined);
  if (group !== undefined) return readVolumes(get('logical volumes'), group);
  throw new ObservationError(twoGroups(vgName, groups));
}
