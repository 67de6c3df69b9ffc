import { refuse } from '../../api/reasons.ts';
import type { Step } from '../../nodes/job.ts';
import type { DesiredLvm, ObservedLvm } from '../types.ts';
import { activate } from './activate.ts';
import { notDone } from './create.ts';
import type { LogicalVolume } from './facts.ts';
import { isTagged, lvName, tagOf } from './names.ts';
import { lvremove } from './remove.ts';

/**
 * Returns the step that removes an unfinished thin volume without content, unless it can be
 * activated; undefined for any other logical volume, such as one whose adoption began. A killed
 * lvcreate may leave a volume in LVM's metadata that the pool does not have. LVM never activates
 * such a volume. If the activation succeeds, the volume stays, and is active.
 */
export function removeUnusable(
  desired: DesiredLvm,
  { intent, done }: Pick<ObservedLvm, 'intent' | 'done'>,
  own: LogicalVolume,
): Step | undefined {
  const isUnfinished = intent !== undefined && done === undefined && !desired.recorded;
  const isEmpty =
    own.pool !== undefined &&
    own.origin === undefined &&
    intent?.adopt === undefined &&
    intent?.filling !== true;
  if (!isUnfinished || !isEmpty || !isTagged(own, desired.uid)) return undefined;
  const step = lvremove(desired, own, tagOf(desired.uid));
  const preconditions = [
    ...step.preconditions,
    notDone(desired),
    {
      argv: activate(desired, own).argv,
      expect: { exit: 5 },
      ...refuse('ThinVolumeActivated', { volume: lvName(desired, own.name) }),
    },
  ];
  return { ...step, preconditions };
}
