import type { Probe, ProbeResult } from '../../nodes/job.ts';
import { succeeded } from '../probe-results.ts';
import { anyUidsIn } from './names.ts';

/** Of the logical volume that has a device (`major:minor`), by which no two are confused. */
export function tagsProbe(device: string): Probe {
  const [major, minor] = device.split(':');
  return {
    name: 'tags',
    argv: [
      ...['lvs', '--noheadings', '-o', 'lv_tags'],
      ...['--select', `lv_kernel_major=${major}&&lv_kernel_minor=${minor}`],
    ],
  };
}

/** UIDs of Volumes, whatever LVM says beside its tags; none where it was not looked at. @throws ObservationError */
export function readTags(results: ReadonlyMap<string, ProbeResult>): string[] {
  const tags = results.get('tags');
  return tags === undefined ? [] : anyUidsIn(succeeded('the tags', tags).split(/[\s,]+/));
}
