import { type Explanation, explain } from '../../api/reasons.ts';
import { withHint } from '../../nodes/job-text.ts';
import { adoptsFrom } from '../adoption.ts';
import type { VolumeDriver } from '../driver.ts';
import { isReady, type Presence } from '../presence.ts';
import { readShared, sharedProbes } from '../shared-fs/observe.ts';
import { planShared } from '../shared-fs/plan.ts';
import { inOneJob } from '../steps.ts';
import type { DesiredSparse, ObservedSparse, Plan, Refusal, VolumeOperation } from '../types.ts';
import { planAdopt } from './adopt.ts';
import { attach, planAttach, planDetach, preferLoop } from './attach.ts';
import { planDelete } from './delete.ts';
import { partialOf } from './file.ts';
import { loopsOf, partitionOf, volumeDevice } from './file-loops.ts';
import { madeBytes } from './layout.ts';
import { planMetalk8sRecords } from './metalk8s.ts';
import { readSparse, sparseProbes } from './observe.ts';
import { planProvision } from './provision.ts';
import * as spec from './spec.ts';

/** Driver of sparse files, attached as loop devices. */
export const sparse: VolumeDriver<'sparseLoopDevice', DesiredSparse, ObservedSparse> = {
  ...spec,
  type: 'sparse',
  label: 'sparse file',
  field: 'sparseLoopDevice',
  onDelete: 'Delete',
  overwrites: false,
  sharable: true,
  place: ({ file }) => file,
  probes,
  async observe(runProbes, desired) {
    const found = await runProbes(probes(desired));
    const observed = readSparse(desired, found);
    const shared = readShared(desired, observed.realPath, found);
    return shared === undefined ? observed : { ...observed, shared };
  },
  plan,
  planMetalk8sRecords: planMetalk8sRecords,
  device: (desired, observed) => ({
    device: volumeDevice(desired, observed),
    identity: `${observed.signature.found === 'one' ? observed.signature.type : 'unknown'} ${desired.uid}`,
  }),
  devices: (_desired, observed) =>
    loopsOf(observed).flatMap((loop) => [loop, partitionOf(loop, observed) ?? []].flat()),
  presence,
  prefer: preferLoop,
  withAccess: (desired, { readOnly, owner }) => ({
    ...desired,
    readOnly,
    owner: desired.shared ? owner : undefined,
  }),
  // The program that populates a file ends once that file is removed.
  cancelFill: ({ file }) => [
    {
      name: 'stop populating the volume',
      argv: ['rm', '-f', '--', partialOf(file)],
      preconditions: [],
    },
  ],
  // The file of a Block volume is larger than its partition.
  madeBytes: (desired, observed) =>
    desired.mode === 'Filesystem' && observed.file.type === 'file'
      ? observed.file.sizeBytes
      : (madeBytes(desired, observed) ?? desired.sizeBytes),
};

function probes(desired: DesiredSparse) {
  return [...sparseProbes(desired), ...sharedProbes(desired)];
}

function plan(
  operation: VolumeOperation,
  desired: DesiredSparse,
  observed: ObservedSparse,
  loopNumber: number,
): Plan {
  if (desired.shared) return planShared(operation, desired, observed, loopNumber);
  switch (operation) {
    case 'provision': {
      const from = adoptsFrom(desired, observed);
      const made =
        from === undefined ? planProvision(desired, observed) : planAdopt(desired, from, observed);
      return desired.onDemand ? made : inOneJob(made, () => attach(desired, observed, loopNumber));
    }
    case 'attach':
      return planAttach(desired, observed, loopNumber);
    case 'detach':
      return planDetach(desired, observed);
    case 'delete':
      return planDelete(desired, observed);
  }
}

/**
 * Returns the presence. A file is attached while any loop device has it, even an unusable one, and
 * while a file beside a shared one names the node. No other node gets it before this node releases
 * it.
 */
function presence(desired: DesiredSparse, observed: ObservedSparse): Presence {
  const planned = plan('attach', desired, observed, 0);
  const why = 'refusal' in planned ? explanationOf(planned) : astrayOf(planned);
  const device = volumeDevice(desired, observed)?.name;
  const [loop, ...others] = loopsOf(observed);
  if (loop === undefined) {
    // A leftover record does not keep the file attached.
    const detaching = plan('detach', desired, { ...observed, recordFiles: false }, 0);
    if ('refusal' in detaching)
      return { is: 'unknown', ...explanationOf(detaching), noDevice: true };
    if (detaching.steps.length === 0) return { is: 'detached' };
    return {
      is: 'attached',
      readOnly: desired.readOnly,
      safeToMount: false,
      device,
      ...(why ?? explain('FileHeldWithoutDevice', { file: desired.file })),
    };
  }
  // Neither attached nor detached: the device detaches when its last user closes it.
  if (loop.autoclear)
    return {
      is: 'unknown',
      ...(why ?? explain('LoopDetachPending', { device: `/dev/${loop.name}` })),
    };
  const readOnly = [loop, ...others].every((each) => each.readOnly);
  const { message, detail } = why ?? {};
  return { is: 'attached', readOnly, safeToMount: isReady(planned), device, message, detail };
}

const explanationOf = ({ refusal, hint, reason }: Refusal): Explanation => ({
  message: withHint(refusal, hint),
  detail: reason,
});

const astrayOf = ({ astray, reason }: Exclude<Plan, Refusal>): Explanation | undefined =>
  astray === undefined ? undefined : { message: astray, detail: reason };
