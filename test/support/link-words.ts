import { UID } from './volume-input.ts';

/** Persistent paths of a Volume, and the commands that create one. */

export const LINK = `/dev/disk/by-id/stowage-${UID}`;
/** Paths of earlier versions and MetalK8s, for volumes of mode Filesystem and of mode Block. */
export const BY_UUID = `/dev/disk/by-uuid/${UID}`;
export const BY_PARTUUID = `/dev/disk/by-partuuid/${UID}`;
/** Returns such a path for a logical volume in mode Block, by its device-mapper UUID. */
export const byMapper = (dmUuid: string | undefined): string => `/dev/disk/by-id/dm-uuid-${dmUuid}`;

/**
 * Second line of the rules for volumes of mode Block: for the loop device that a kubelet stacks on
 * such a volume.
 */
export const OF_KUBELET =
  '\\nSUBSYSTEM=="block",KERNEL=="loop*",ATTR{loop/backing_file}=="*/volumeDevices/*",OPTIONS+="link_priority=-100"';

/**
 * Ends of rules: for content that other devices may show too, and for content that only a pod
 * writes.
 */
export const FIRST = ',OPTIONS+="link_priority=100"';
export const LAST = `,OPTIONS+="link_priority=-100"${OF_KUBELET}`;

/** Returns the commands that create a path for a device with these udev keys. */
export const ruleFor = (keys: string, link = LINK, options = ''): string[] => [
  'install -d -m 0755 /run/udev/rules.d',
  `find /dev/null -fprintf /run/udev/rules.d/61-stowage-${UID}.rules SUBSYSTEM=="block",${keys},SYMLINK+="${link.replace('/dev/', '')}"${options}\\n`,
  'flock -x -w 60 /run/udev/. udevadm control --reload',
];

export const triggerUdev = (name: string): string =>
  `udevadm trigger --action=change --name-match=/dev/${name}`;

/** Command that waits until udev is idle. */
export const SETTLE = 'udevadm settle --timeout=10';
/** Returns the command that waits until a path exists. */
export const settle = (link = LINK): string => `${SETTLE} --exit-if-exists=${link}`;

/** Returns the commands that remove a path from an existing device. */
export const dropLink = (name: string): string[] => [
  `rm -f /run/udev/rules.d/61-stowage-${UID}.rules`,
  'flock -x -w 60 /run/udev/. udevadm control --reload',
  triggerUdev(name),
  SETTLE,
  `rm -f -- ${LINK}`,
];
