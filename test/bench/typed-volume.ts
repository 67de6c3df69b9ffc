import type { Step } from '../../src/nodes/job.ts';
import { quote, quoteAll } from '../../src/nodes/quote.ts';
import { SPARSE_DIRECTORY } from '../../src/storage/loopfile/file.ts';
import { plan } from '../../src/storage/plan.ts';
import type { DesiredSparse } from '../../src/storage/types.ts';
import { FakeNode } from '../support/fake-node.ts';
import { SIZE } from './fill-cluster.ts';

/**
 * Returns the steps that create a volume of SIZE on an empty node.
 * @param loopNumber number of a free loop device; undefined: the volume is not attached
 * @throws Error if the operation cannot be planned
 */
export function stepsThatMake(uid: string, loopNumber: number | undefined): readonly Step[] {
  const desired: DesiredSparse = {
    type: 'sparse',
    uid,
    name: 'bench',
    mode: 'Filesystem',
    fs: { type: 'ext4', options: [] },
    recorded: false,
    onDelete: 'Delete',
    onDemand: loopNumber === undefined,
    readOnly: false,
    shared: false,
    kubeletRoot: '/var/lib/kubelet',
    file: fileOf(uid),
    sizeBytes: SIZE,
  };
  const planned = plan('provision', desired, new FakeNode().observe(desired), loopNumber ?? 0);
  if ('refusal' in planned) throw new Error(planned.refusal);
  return planned.steps;
}

/**
 * Returns lines of sh that create a volume with Stowage's steps but no observations, and that
 * remove the volume.
 * @param loop path of a free loop device
 */
export function typedVolume(uid: string, loop: string): { make: string; remove: string } {
  const lines = stepsThatMake(uid, Number(loop.slice('/dev/loop'.length))).map(lineOf);
  return {
    make: lines.join(' && '),
    remove: `losetup -d ${quote(loop)}; rm -f ${quote(fileOf(uid))} /var/lib/stowage/volumes/${uid}.*`,
  };
}

const fileOf = (uid: string) => `${SPARSE_DIRECTORY}/${uid}`;

const lineOf = ({ argv, stdin }: Step): string =>
  stdin === undefined ? quoteAll(argv) : `printf %s ${quote(stdin)} | ${quoteAll(argv)}`;
