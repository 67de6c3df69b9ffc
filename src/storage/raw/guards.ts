import type { Guard } from '../../nodes/job.ts';
import { notInUse } from '../in-use.ts';
import { blkid } from '../signature.ts';
import type { DeviceFacts } from '../types.ts';
import { diskseqProbe, identityProbe } from './identity.ts';

const wholeDisk = ({ type, parent, name }: DeviceFacts) =>
  type === 'part' && parent !== undefined ? parent : name;

/** The disk that is locked while a device is written to. */
export const lockOf = (device: DeviceFacts) => `/dev/${wholeDisk(device)}`;

/** It is the device that was looked at, by all that the kernel says of it. */
export function sameDeviceGuards(device: DeviceFacts): Guard[] {
  const { name, printed, presence } = device;
  const refusal = `/dev/${name} is no longer the device that was looked at`;
  const same: Guard = {
    argv: identityProbe(name),
    expect: { exit: 0, stdout: { is: printed.identity } },
    refusal,
  };
  if (presence === undefined) return [same];
  const [, diskseq = ''] = presence.split('/');
  return [
    same,
    { argv: diskseqProbe(wholeDisk(device)), expect: { exit: 0, stdout: { is: diskseq } }, refusal },
  ];
}

/** It carries what it carried, to the letter. */
export function sameContentGuards({ name, printed }: DeviceFacts): Guard[] {
  const refusal = `what is on /dev/${name} changed since it was looked at`;
  return [
    {
      argv: blkid(`/dev/${name}`),
      expect: { exit: printed.blkidExit, stdout: { is: printed.blkid } },
      refusal,
    },
    {
      argv: ['wipefs', '-J', '-n', `/dev/${name}`],
      expect: { exit: 0, stdout: { is: printed.wipefs } },
      refusal,
    },
  ];
}

/** Nothing is on it (any more). */
export function emptyGuards({ name, partition }: DeviceFacts): Guard[] {
  const refusal = `something is on /dev/${name} that was not there when it was looked at`;
  return [
    {
      // A partition always has an entry in its table, which blkid finds: 0. Else it finds nothing: 2.
      argv: ['blkid', '-p', '-o', 'value', '-s', 'TYPE', '-s', 'PTTYPE', `/dev/${name}`],
      expect: { exit: partition === undefined ? 2 : 0, stdout: { is: '' } },
      refusal,
    },
    {
      argv: ['wipefs', '-n', '-i', '-O', 'TYPE', `/dev/${name}`],
      expect: { exit: 0, stdout: { is: '' } },
      refusal,
    },
  ];
}

/** Nobody uses it or a partition of it. */
export function notInUseGuards(device: DeviceFacts): Guard[] {
  return [device, ...device.partitions].flatMap(notInUse);
}
