import type { ProbeResult } from '../../src/nodes/job.ts';
import { directory, FILE, madeNode, UID } from './volume-input.ts';

/** Output of the commands that observe a sparse file. */

export const result = (exit: number, stdout = '', stderr = ''): ProbeResult => ({
  exit,
  stdout,
  stderr,
});
export const missing = result(1, '', "stat: cannot statx 'X': No such file or directory");
const intent = madeNode.intent;
export const PLACE = {
  uid: UID,
  name: 'data1',
  file: FILE,
  mode: 'Filesystem',
  kubeletRoot: '/var/lib/kubelet',
} as const;
export const MOUNTINFO = `24 1 254:0 / / rw,relatime - ext4 /dev/vda rw
36 24 7:3 / /mnt/a\\040b rw shared:1 - ext4 /dev/loop3 rw
37 24 7:3 /sub /mnt/c rw - ext4 /dev/loop3 rw`;

/** Answers of a node with nothing of the file. */
export const FRESH: Record<string, ProbeResult> = {
  path: result(0, FILE),
  file: missing,
  partial: missing,
  free: result(0, '268435456|4096'),
  signature: result(2),
  readable: result(1, '', "dd: failed to open 'X': No such file or directory"),
  intent: missing,
  done: missing,
  wiped: missing,
  swaps: result(0, 'Filename Type Size Used Priority'),
  mappers: result(0),
  records: result(1, '', 'find: X: No such file or directory'),
  loops: result(0),
  devices: result(
    0,
    '{"blockdevices": [{"kname": "loop3", "maj:min": "7:3", "pkname": null, "type": "loop", "size": 1073741824, "ro": false, "serial": null, "wwn": null}]}',
  ),
  mounts: result(0, '24 1 254:0 / / rw - ext4 /dev/vda rw'),
  directory: result(
    0,
    JSON.stringify({ version: 1, directory: directory.directory, ...directory.recorded }),
  ),
  'file systems': result(0, `254:0 ${directory.now.uuid}`),
  capabilities: result(0, 'Name:\tcat\nCapEff:\t000001ffffffffff\n'),
  link: missing,
  'content link': missing,
  udev: result(0),
  kubelet: result(0, '/dev/null'),
};

/** Answers of a node with the provisioned file. */
export const MADE: Record<string, ProbeResult> = {
  ...FRESH,
  file: result(0, 'regular file|1073741824|42|2048|512'),
  signature: result(
    0,
    `DEVNAME=${FILE}\nUUID=${UID}\nBLOCK_SIZE=4096\nTYPE=ext4\nUSAGE=filesystem`,
  ),
  readable: result(0),
  intent: result(0, JSON.stringify(intent)),
  done: result(0, '1073741824'),
  records: result(
    0,
    `/var/lib/stowage/volumes/${UID}.done\n/var/lib/stowage/volumes/${UID}.intent`,
  ),
};
