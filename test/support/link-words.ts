import { UID } from './volume-input.ts';

/** The persistent paths of a Volume, and the commands that make one. */

export const LINK = `/dev/disk/by-id/stowage-${UID}`;
/** What earlier versions and MetalK8s gave to volumes of mode Filesystem, and of mode Block. */
export const BY_UUID = `/dev/disk/by-uuid/${UID}`;
export const BY_PARTUUID = `/dev/disk/by-partuuid/${UID}`;
/** The same to a logical volume in mode Block, with the UUID that device-mapper has for it. */
export const byMapper = (dmUuid: string | undefined): string => `/dev/disk/by-id/dm-uuid-${dmUuid}`;

/** The second line of the rules of volumes of mode Block: of the loop device that a kubelet puts on one. */
export const OF_KUBELET =
  '\\nSUBSYSTEM=="block",KERNEL=="loop*",ATTR{loop/backing_file}=="*/volumeDevices/*",OPTIONS+="link_priority=-100"';

/** Ends of rules: for what others may show, too, and for what a pod writes all of. */
export const FIRST = ',OPTIONS+="link_priority=100"';
export const LAST = `,OPTIONS+="link_priority=-100"${OF_KUBELET}`;

/** Has udev make a path for the device with these keys. */
export const ruleFor = (keys: string, link = LINK, options = ''): string[] => [
  'install -d -m 0755 /run/udev/rules.d',
  `find /dev/null -fprintf /run/udev/rules.d/61-stowage-${UID}.rules SUBSYSTEM=="block",${keys},SYMLINK+="${link.replace('/dev/', '')}"${options}\\n`,
  'flock -x -w 60 /run/udev/. udevadm control --reload',
];

export const lookAgain = (name: string): string =>
  `udevadm trigger --action=change --name-match=/dev/${name}`;

/** Waits until udev has nothing to do. */
export const SETTLE = 'udevadm settle --timeout=10';
/** Waits until a path is there. */
export const settle = (link = LINK): string => `${SETTLE} --exit-if-exists=${link}`;

/** Takes a path off a device that stays. */
export const dropLink = (name: string): string[] => [
  `rm -f /run/udev/rules.d/61-stowage-${UID}.rules`,
  'flock -x -w 60 /run/udev/. udevadm control --reload',
  lookAgain(name),
  SETTLE,
  `rm -f -- ${LINK}`,
];
