import { describe, expect, test } from '@jest/globals';
import { reason } from '../../../../src/api/reasons.ts';
import type { Attachment } from '../../../../src/api/volume.ts';
import {
  at,
  available,
  away,
  deleted,
  deleting,
  given,
  outcome,
  pending,
  prepared,
  type Row,
  removing,
  status,
  step,
  stepRuns,
  terminating,
} from '../../../support/decisions.ts';
import {
  freshNode,
  madeNode,
  NOW,
  pv,
  readyNode,
  UID,
  unmounted,
} from '../../../support/volume-input.ts';

const attachment = (node: string, message?: string): Attachment => ({
  node,
  state: 'Detaching',
  safeToMount: false,
  safeToDetach: false,
  pods: [],
  since: at,
  ...(message === undefined ? {} : { message }),
});

type Parts = Parameters<typeof deleting>[1];

/** Volumes that were deleted while Available, and Volumes whose removal reached that attempt. */
const marked = (parts?: Parts) => deleting(available(), parts);
const reclaiming = (attempt: number | 'DONE', parts?: Parts) =>
  deleting(terminating(`UnprepareVolume/${attempt}`), parts);
/** Returns a Volume that failed before it had a job. */
const failedAs = (reason: string, parts?: Parts) =>
  deleting(status('Failed', undefined, ['False', reason]), parts);
const withoutPlace = { sparseLoopDevice: undefined as never };

describe('Volume Finalization', () => {
  const rows: Row[] = [
    [
      'no finalizer of Stowage: nothing to do',
      given(undefined, { metadata: { ...deleted, finalizers: [] } }),
      {},
    ],
    [
      'a status without a job may be outdated: begins a removal',
      failedAs('CreationError'),
      removing(1),
    ],
    [
      'an unsupported spec of a provisioned Volume: begins a removal',
      failedAs('InternalError', { spec: { source: {}, overwrite: 'x' } }),
      removing(1),
    ],
    [
      'no volume type in the spec, but a PersistentVolume: begins a removal',
      failedAs('InternalError', { spec: withoutPlace, pv: pv('Available', deleted) }),
      removing(1),
    ],
    ['an empty status may have been lost: begins a removal', deleting(undefined), removing(1)],
    [
      'a missing finalizer of a provisioned Volume: added again',
      given(available(), { metadata: { finalizers: [] }, pv: pv('Bound') }),
      'add-finalizer',
    ],
    [
      'another job of the Volume runs on the node: waits, with a message',
      reclaiming(1, { job: 'succeeded', node: freshNode, forgotten: false }),
      [
        'Terminating',
        'UnprepareVolume/1',
        'Unknown',
        'NodeUnclear',
        expect.stringContaining('another job'),
      ],
    ],
    [
      'validity never blocks deletion: a Volume that was never valid is released',
      failedAs('InternalError', {
        spec: { ...withoutPlace, nodeName: '$(reboot)', storageClassName: '' },
      }),
      'release-volume',
    ],
    [
      'FinalizeVolume: Volume is Pending? YES → polls its job',
      deleting(pending('PrepareVolume/1')),
      'poll',
    ],
    [
      'FinalizeVolume: Volume is Pending? YES → reschedule when the creation has ended',
      deleting(pending('PrepareVolume/1'), { job: 'running' }),
      [
        'Pending',
        'PrepareVolume/1',
        'Unknown',
        'Terminating',
        'waiting for the job PrepareVolume/1 to end',
      ],
    ],
    [
      'a Volume marked for deletion while Pending completes and then ends',
      deleting(pending('PrepareVolume/1'), { job: 'succeeded' }),
      removing(1),
    ],
    [
      'FinalizeVolume: backed by PersistentVolume? YES, Terminating? NO → delete it, reschedule now',
      marked({ pv: pv('Available') }),
      'delete-pv',
    ],
    [
      'FinalizeVolume: PersistentVolume is unused? NO → reschedule in 10s, with the reason',
      marked({
        pv: {
          ...pv('Bound', deleted),
          spec: {
            capacity: { storage: '1Gi' },
            accessModes: [],
            claimRef: { namespace: 'ns', name: 'claim' },
          },
        },
      }),
      [
        'Available',
        'PrepareVolume/DONE',
        'Unknown',
        'Terminating',
        'the PersistentVolume is still in use: it is bound to the claim ns/claim',
      ],
    ],
    [
      'FinalizeVolume: PersistentVolume is unused? NO, a foreign finalizer holds it → names it',
      marked({
        pv: pv('Released', {
          ...deleted,
          finalizers: ['x/y', 'storage.metalk8s.scality.com/volume-protection'],
        }),
      }),
      ['Available', 'PrepareVolume/DONE', 'Unknown', 'Terminating', expect.stringContaining('x/y')],
    ],
    ...(['Available', 'Released', 'Failed'] as const).map(
      (phase): Row => [
        `FinalizeVolume: PersistentVolume is unused? YES (${phase}) → ReclaimStorage`,
        marked({ pv: pv(phase, deleted) }),
        removing(1),
      ],
    ),
    [
      'a foreign PersistentVolume of the name: is left alone',
      marked({ pv: pv('Bound', { ownerReferences: [] }) }),
      removing(1),
    ],
    [
      'a PersistentVolume that appears late is awaited, too',
      reclaiming(1, { pv: pv('Bound', deleted) }),
      removing(1, /still in use/),
    ],
    [
      'validity never blocks deletion: a spec that became invalid meanwhile leaks nothing',
      deleting(pending('PrepareVolume/1'), { spec: { overwrite: 'ext4' }, job: 'died' }),
      removing(1),
    ],
    [
      'a class that is gone does not block deletion',
      marked({ storageClass: undefined }),
      removing(1),
    ],
    [
      'ReclaimStorage: Job ID, job not found → relaunch the job',
      reclaiming(1, { job: 'not-found', node: readyNode }),
      ['submit', 5, 0],
    ],
    [
      'mounted: refused, and retried',
      reclaiming(1, {
        job: 'not-found',
        node: { ...readyNode, mounts: new Map([['7:3', ['/mnt']]]) },
      }),
      removing(
        1,
        '/dev/loop3 is in use: mounted at /mnt. It is detached once nothing uses it. To end this use, run on the node: umount /mnt',
      ),
    ],
    [
      'its directory is not mounted: waits, with a message',
      reclaiming(1, {
        job: 'not-found',
        node: { ...madeNode, file: { type: 'missing' }, directory: unmounted },
      }),
      [
        ...['Terminating', 'UnprepareVolume/1', 'Unknown', 'DirectoryNotMounted'],
        expect.stringContaining('is not mounted'),
      ],
    ],
    [
      'ReclaimStorage: Job ID, job failed → Failed, and another attempt',
      reclaiming(1, { job: { state: 'failed', step, exit: 5, output: 'I/O error' } }),
      [
        'Failed',
        'UnprepareVolume/2',
        'False',
        'DestructionError',
        expect.stringContaining('I/O error'),
      ],
    ],
    [
      'ReclaimStorage: Job ID, job died → another attempt, however often',
      reclaiming(20, { job: 'died' }),
      removing(21, /attempt 20/),
    ],
    [
      'ReclaimStorage: Job ID, job succeed, nothing left → cleans up its jobs',
      reclaiming(1, { job: 'succeeded', node: freshNode }),
      'forget-jobs',
    ],
    [
      'ReclaimStorage: Job ID, job succeed → Job is "DONE", reschedule now',
      reclaiming(1, { job: 'succeeded', node: freshNode, forgotten: true }),
      removing('DONE'),
    ],
    [
      'ReclaimStorage: "DONE" → remove the finalizer on the PersistentVolume',
      reclaiming('DONE', { pv: pv('Released', deleted) }),
      'release-pv',
    ],
    [
      'ReclaimStorage: "DONE" → then remove the finalizer on the Volume',
      reclaiming('DONE', { pv: pv('Released', { ...deleted, finalizers: [] }) }),
      'release-volume',
    ],
    [
      'node away: the phase stays',
      reclaiming(1, { job: away }),
      ['Terminating', 'UnprepareVolume/1', 'Unknown', 'NodeUnreachable', away.unknown],
    ],
    [
      'FinalizeVolume: backed by PersistentVolume? NO → ReclaimStorage: Job, no value → spawn UnprepareVolume, Terminating',
      deleting(status('Failed', undefined, ['False', 'CreationError'], { prepared })),
      removing(1),
    ],
    [
      'still attached: waits, and reports the nodes and their reasons',
      deleting(
        {
          ...available(),
          attachments: [
            attachment('n1', 'a pod uses it'),
            attachment('n2'),
            { ...attachment('n3'), pods: ['a/b', 'a/c'] },
          ],
        },
        { pv: pv('Released', deleted) },
      ),
      [
        'Terminating',
        'PrepareVolume/DONE',
        'Unknown',
        'Terminating',
        'the volume is still attached to n1: a pod uses it; n2; n3: needed there by pods: a/b, a/c',
      ],
    ],
    [
      'still attached, as reported: checks again later',
      deleting({
        ...status('Terminating', 'PrepareVolume/DONE', [
          'Unknown',
          'Terminating',
          'the volume is still attached to n1',
          reason('VolumeStillAttached', { nodes: 'n1' }),
        ]),
        attachments: [attachment('n1')],
      }),
      { requeueAfter: 10_000 },
    ],
    [
      'still attached, with attachment disabled: reports it',
      deleting({ ...available(), attachments: [attachment('n1')] }, { attachmentEnabled: false }),
      [
        'Terminating',
        'PrepareVolume/DONE',
        'Unknown',
        'AttachmentDisabled',
        "the volume is still attached to n1, and the controller attachment is disabled: enable it with stowage watch --controllers '*'",
      ],
    ],
    [
      'still attached, with a PersistentVolume: deletes that first',
      deleting({ ...available(), attachments: [attachment('n1')] }, { pv: pv('Available') }),
      'delete-pv',
    ],
    [
      'no longer attached: begins a removal',
      deleting({ ...available(), attachments: [] }, { attachmentEnabled: false }),
      removing(1),
    ],
    [
      'still attached to a forgotten node: is released',
      given(
        { ...available(), attachments: [attachment('n1')] },
        {
          metadata: { ...deleted, annotations: { 'stowage.dev/forget-node': UID } },
          kept: { as: UID },
        },
      ),
      'release-volume',
    ],
    [
      'removed, but still shown as attached: is released',
      deleting({ ...terminating('UnprepareVolume/DONE'), attachments: [attachment('n1')] }),
      'release-volume',
    ],
    [
      'ReclaimStorage: Job of another kind counts as no value',
      deleting(available('AttachVolume/DONE')),
      removing(1),
    ],
    ['ReclaimStorage: Job ID → poll the status of the job', reclaiming(1), 'poll'],
    [
      'ReclaimStorage: Job ID, job still in progress → reschedule when it has ended',
      reclaiming(1, { job: { state: 'running', step } }),
      removing(1, step.name),
    ],
    [
      'ReclaimStorage: Job ID, job still in progress, as reported → waits for its end',
      deleting(
        status(
          'Terminating',
          'UnprepareVolume/1',
          ['Unknown', 'Terminating', step.name, stepRuns],
          {
            prepared,
          },
        ),
        { job: { state: 'running', step } },
      ),
      { watch: true },
    ],
    ...(
      [
        [2, 1000],
        [3, 2000],
        [20, 300_000],
      ] as const
    ).map(
      ([attempt, wait]): Row => [
        `a failed Unprepare is retried with backoff: attempt ${attempt} waits ${wait} ms`,
        deleting(
          status(
            'Failed',
            `UnprepareVolume/${attempt}`,
            ['False', 'DestructionError', 'I/O error'],
            {
              prepared,
            },
          ),
          { job: 'not-found', node: readyNode },
        ),
        { requeueAfter: wait - 100 },
        NOW + 100,
      ],
    ),
    [
      'a failed Unprepare is retried with backoff: submitted after the delay',
      deleting(
        status('Failed', 'UnprepareVolume/2', ['False', 'DestructionError', 'I/O error'], {
          prepared,
        }),
        { job: 'not-found', node: readyNode },
      ),
      ['submit', 5, 0],
      NOW + 1000,
    ],
  ];
  test.each(rows)('%s', (...[, parts, expected, now]) => {
    expect(outcome(parts, now)).toEqual(expected);
  });
});
