import type { ReasonEntry } from './types.ts';

/** Volume groups and logical volumes. */
export const LVM = {
  FreeExtentsCarryData: {
    message:
      'the free extents of {group} that the logical volume would take carry {content} (on {places})[. The consent that was given is for {consent}, which is not what is there][. {annotation}]',
    action: 'If all of that may be destroyed, set spec.overwrite to {overwrite}.',
    shows: 'FreeExtentsCarryData',
    cause: 'SignatureFound',
  },
  AnnotationIsNoConsent: {
    message: 'The annotation force-lvcreate does not say what may be destroyed',
  },
  FreeExtentsAmbivalent: {
    message:
      'the free extents of {group} that the logical volume would take carry more than one signature, and blkid does not tell which',
    action:
      'If whatever removed volumes left there may be destroyed, set spec.overwrite to {overwrite}. Else make a logical volume of them on a terminal, where LVM names each and asks: lvcreate --config allocation/use_blkid_wiping=1 --wipesignatures y --zero y --name {temporary} --extents {extents} {group} {ranges}; then remove it: lvremove {group}/{temporary}.',
    shows: 'FreeExtentsCarryData',
    cause: 'SignatureFound',
  },
} as const satisfies Record<string, ReasonEntry>;
