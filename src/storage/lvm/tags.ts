import type { Probe, ProbeResult } from '../../nodes/job.ts';
import { succeeded } from '../probe-results.ts';
import { anyUidsIn } from './names.ts';

/** Returns the probe of a logical volume's tags, by its unique device number (`major:minor`). */
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

/**
 * Returns the UIDs in the tags, ignoring messages of LVM; none if the tags were not probed.
 * @throws ObservationError if LVM fails
 */
export function readTags(results: ReadonlyMap<string, ProbeResult>): string[] {
  const tags = results.get('tags');
  return tags === undefined ? [] : anyUidsIn(succeeded('the tags', tags).split(/[\s,]+/));
}
