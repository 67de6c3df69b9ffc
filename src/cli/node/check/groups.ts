import { roundedSize } from '../../../api/rounded-size.ts';
import type { VolumeGroup } from '../../../storage/lvm/facts.ts';
import { refuseChange, twoGroups } from '../../../storage/lvm/group.ts';
import { LVM_PACKAGE } from '../../../storage/lvm/view.ts';
import type { Check } from '../../lib/checks/report.ts';

/** Reports a node with Volumes on LVM and without its programs. Pure. */
export const lvmChecks = (lacksLvm: boolean): Check[] =>
  lacksLvm
    ? [
        {
          check: 'lvm',
          ok: false,
          message: 'missing, for LVM volumes',
          hint: `Install ${LVM_PACKAGE} on the node.`,
        },
      ]
    : [];

/** Checks the volume groups of Volumes. Pure. */
export const groupChecks = (groups: ReadonlyMap<string, readonly VolumeGroup[]>): Check[] =>
  [...groups].map(([name, all]) => {
    const [group] = all;
    const check = `volume group ${name}`;
    if (group === undefined) {
      return {
        check,
        ok: false,
        message: 'is missing, and Volumes are in it',
        hint: 'Restore its disks: pvs and vgs list what LVM finds.',
      };
    }
    if (all.length > 1) {
      const { refusal, hint } = twoGroups(name, all);
      return { check, ok: false, message: refusal, hint };
    }
    const refused = refuseChange(group);
    return refused === undefined
      ? {
          check,
          ok: true,
          message: `${roundedSize(Number(group.freeExtents * group.extentBytes))} free`,
        }
      : { check, ok: false, message: refused.refusal, hint: refused.hint };
  });
