import type { ReasonEntry } from './types.ts';

/** Devices that are in use, or another Volume's. */
export const DEVICES = {
  DeviceInUse: {
    message: '{device} is in use: {uses}',
    action:
      'It is detached once nothing uses it any more.[ To end that, run on the node: {command}]',
    cause: 'DeviceInUse',
  },
  UseUnknown: {
    message:
      'whether a process has {device} open cannot be seen, for the open files of the node could not be listed within 10 s: one of them may be on a file server that does not answer',
  },
} as const satisfies Record<string, ReasonEntry>;
