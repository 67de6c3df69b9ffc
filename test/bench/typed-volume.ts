import type { Step } from '../../src/nodes/job.ts';
import { quote, quoteAll } from '../../src/nodes/quote.ts';
import { plan } from '../../src/storage/plan.ts';
import type { DesiredSparse } from '../../src/storage/types.ts';
import { SPARSE_FOLDER } from '../../src/volumes/desired.ts';
import { FakeNode } from '../support/fake-node.ts';
import { SIZE } from './fill-cluster.ts';

/**
 * Lines of sh that make a volume as Stowage would, step by step and with nothing looked at, and remove it.
 * @param loop the path of a loop device that is free
 */
export function typedVolume(uid: string, loop: string): { make: string; remove: string } {
  const file = `${SPARSE_FOLDER}/${uid}`;
  const desired: DesiredSparse = {
    type: 'sparse',
    uid,
    name: 'bench',
    mode: 'Filesystem',
    fs: { type: 'ext4', options: [] },
    recorded: false,
    onDelete: 'Delete',
    onDemand: false,
    readOnly: false,
    shared: false,
    kubeletRoot: '/var/lib/kubelet',
    file,
    sizeBytes: SIZE,
  };
  const planned = plan(
    'prepare',
    desired,
    new FakeNode().observe(desired),
    Number(loop.slice('/dev/loop'.length)),
  );
  if ('refusal' in planned) throw new Error(planned.refusal);
  const lines = planned.steps.map(lineOf);
  return {
    make: lines.join(' && '),
    remove: `losetup -d ${quote(loop)}; rm -f ${quote(file)} /var/lib/stowage/volumes/${uid}.*`,
  };
}

const lineOf = ({ argv, stdin }: Step): string =>
  stdin === undefined ? quoteAll(argv) : `printf %s ${quote(stdin)} | ${quoteAll(argv)}`;
