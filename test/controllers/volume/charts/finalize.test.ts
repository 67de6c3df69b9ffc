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
      'nothing of ours holds it: nothing to do',
      given(undefined, { metadata: { ...deleted, finalizers: [] } }),
      {},
    ],
    [
      'never had a job, by its status, which may be older than the storage: looks at the node',
      failedAs('CreationError'),
      removing(1),
    ],
    [
      'made, and its spec asks for what is not supported by now: looks at the node',
      failedAs('InternalError', { spec: { source: {}, overwrite: 'x' } }),
      removing(1),
    ],
    [
      'names no place, and there is a PersistentVolume of it: looks at the node',
      failedAs('InternalError', { spec: withoutPlace, pv: pv('Available', deleted) }),
      removing(1),
    ],
    ['an empty status may have been lost: looks at the node', deleting(undefined), removing(1)],
    [
      'the finalizer was taken off a Volume that has storage: put back while it lives',
      given(available(), { metadata: { finalizers: [] }, pv: pv('Bound') }),
      'add-finalizer',
    ],
    [
      'another job of it still runs on the node: waits and says so',
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
      'validity never blocks deletion: what never was valid is released',
      failedAs('InternalError', {
        spec: { ...withoutPlace, nodeName: '$(reboot)', storageClassName: '' },
      }),
      'release-volume',
    ],
    [
      'FinalizeVolume: Volume is Pending? YES → asks for its job',
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
      'FinalizeVolume: PersistentVolume is unused? NO → reschedule in 10s, and says why',
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
      'FinalizeVolume: PersistentVolume is unused? NO, a foreign finalizer holds it → says whose',
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
      "someone else's PersistentVolume of the name: is left alone",
      marked({ pv: pv('Bound', { ownerReferences: [] }) }),
      removing(1),
    ],
    [
      'a PersistentVolume that turns up late is waited for, too',
      reclaiming(1, { pv: pv('Bound', deleted) }),
      removing(1, /still in use/),
    ],
    [
      'validity never blocks deletion: a spec that became invalid while it was made leaks nothing',
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
      'mounted: refused, and tried again',
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
      'its directory is not mounted: waits, and tells so',
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
      'ReclaimStorage: "DONE" → then on the Volume, whatever else holds the PersistentVolume by then',
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
      'is still attached: waits, and says where and why',
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
      'is still attached, and told so: looks again later',
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
      'is still attached, and nothing detaches: says so',
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
      'is still attached, and its PersistentVolume is there: that goes first',
      deleting({ ...available(), attachments: [attachment('n1')] }, { pv: pv('Available') }),
      'delete-pv',
    ],
    [
      'was attached: is removed',
      deleting({ ...available(), attachments: [] }, { attachmentEnabled: false }),
      removing(1),
    ],
    [
      'is still attached on a node that is forgotten: is let go of',
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
      'is gone from its nodes and still told to be attached: is let go of',
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
      'ReclaimStorage: Job ID, job still in progress, and told so → waits for its end',
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
      { follow: true },
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
      'a failed Unprepare is retried with backoff: and submitted after it',
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
