import type { Step } from '../../src/nodes/job.ts';
import { plan } from '../../src/storage/plan.ts';
import { planSnapshot } from '../../src/storage/snapshot/plan.ts';
import type { DesiredSnapshot, ObservedSnapshot } from '../../src/storage/snapshot/types.ts';
import type { ObservedSparse, Plan, Signature } from '../../src/storage/types.ts';
import { COPY, COPY_UID, restored, snapshotted, uncopied, wantedCopy } from './snapshot-copy.ts';
import { freshNode, loopRow, loop as made, UID } from './volume-input.ts';

const stepsOf = (planned: Plan): readonly Step[] => {
  if ('refusal' in planned) throw new Error(planned.refusal);
  return planned.steps;
};

/**
 * Returns all kinds of steps of snapshots and restores: of each content, mounted or not, after a
 * crash, and for deletion.
 * @param number number of the loop device
 */
export function everyStep(number: number): Step[] {
  const loop = { ...made, name: `loop${number}`, number };
  const devices = [{ ...loopRow, name: loop.name }];
  const point = '/var/lib/kubelet/plugins/kubernetes.io/local-volume/mounts/data1';
  const stale = { ...loop, device: '7:9', backingFile: `${COPY}.partial` };
  const left: Partial<ObservedSparse> = {
    loops: [stale],
    devices,
    mounts: new Map([['7:9', [`/run/stowage/mounts/${COPY_UID}`]]]),
  };
  const file = { type: 'file', sizeBytes: 1n << 30n, inode: '9' } as const;
  const steps: Step[] = [];
  for (const type of ['ext4', 'xfs', 'gpt']) {
    const mode = type === 'gpt' ? 'Block' : 'Filesystem';
    const content = (uuid: string): Signature => ({ found: 'one', type, uuid });
    const desired: DesiredSnapshot = { ...wantedCopy, volume: { ...snapshotted, mode } };
    const observed = (
      parts: Partial<ObservedSparse>,
      more: Partial<ObservedSnapshot> = {},
    ): ObservedSnapshot => ({
      ...uncopied,
      ...more,
      volume: { ...uncopied.volume, signature: content(UID), ...parts },
      source: { ...uncopied.source, signature: content(UID) },
    });
    const attached = { loops: [loop], devices };
    const mounted = { ...attached, mounts: new Map([['7:3', [point]]]) };
    const source = { ...uncopied.source, file, realPath: COPY, signature: content(COPY_UID) };
    const wanted = {
      ...restored,
      mode,
      onDemand: true,
      fs: undefined,
      source: { what: 'snapshot', file: COPY, mode },
    } as const;
    steps.push(
      ...stepsOf(planSnapshot('take', desired, observed({}))),
      ...stepsOf(planSnapshot('take', desired, observed(attached))),
      ...stepsOf(
        planSnapshot('take', desired, observed(left, { partial: file, freezeIsLeft: true })),
      ),
      ...stepsOf(planSnapshot('delete', desired, observed(left, { partial: file, copy: file }))),
      ...stepsOf(
        plan('provision', wanted, { ...freshNode, realPath: restored.file, source }, number),
      ),
    );
    if (type === 'gpt') continue;
    for (const copy of [true, false]) {
      const freeze = { seconds: 60, copy };
      const clone = {
        ...wanted,
        source: { what: 'volume', file: snapshotted.file, mode, freeze },
      } as const;
      const original = { ...uncopied.source, signature: content(UID) };
      steps.push(
        ...stepsOf(planSnapshot('take', { ...desired, freeze }, observed(mounted))),
        ...stepsOf(
          plan(
            'provision',
            clone,
            { ...freshNode, realPath: restored.file, ...mounted, source: original },
            number,
          ),
        ),
      );
    }
  }
  return steps;
}
