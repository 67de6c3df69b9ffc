import { describe, expect, test } from '@jest/globals';
import { reason } from '../../../src/api/reasons.ts';
import type { Attachment, VolumeStatus } from '../../../src/api/volume.ts';
import { decide } from '../../../src/controllers/volume/decide.ts';
import {
  at,
  available,
  away,
  deleted,
  given,
  isAvailable,
  notAttached,
  outcome,
  pathAstray,
  pending,
  prepared,
  type Row,
  status,
  step,
  unavailable,
} from '../../support/decisions.ts';
import { BY_UUID, LINK } from '../../support/link-words.ts';
import {
  freshNode,
  input,
  loop,
  loopRow,
  madeNode,
  NOW,
  pv,
  readyNode,
  unmounted,
  volume,
} from '../../support/volume-input.ts';

const NOT_ATTACHED = 'the device is not attached on node n1; attaching';

const later = new Date(NOW + 1000).toISOString();
const earlier = new Date(NOW - 1000).toISOString();

const unrecorded = { ...readyNode, directory: { ...readyNode.directory, recorded: undefined } };
const earlierAvailable: VolumeStatus = { ...available(), devicePath: BY_UUID };
const earlierPv = { ...pv('Bound'), spec: { ...pv('Bound').spec, local: { path: BY_UUID } } };

/** Status of a Volume that is Available, with a condition that it is paused. */
const paused: VolumeStatus = {
  ...available(),
  conditions: [
    ...(available().conditions ?? []),
    {
      ...{ type: 'Paused', status: 'True', reason: 'Paused' },
      message: 'Volume data1 is paused. To resume it: stowage resume volume data1',
    },
  ],
};

/** A node on which the path leads to another device. */
const strayed = {
  ...readyNode,
  devices: [...readyNode.devices, { ...loopRow, name: 'sdz', device: '65:16', type: 'disk' }],
  link: '65:16',
};
const STRAYED =
  "leads to /dev/sdz, not to the volume's device /dev/loop3; a pod that starts now may get that device. Attaching the volume again corrects it";
const toldAstray = status(
  'Failed',
  'PrepareVolume/DONE',
  [
    'False',
    'PathAstray',
    `${LINK} ${STRAYED}`,
    reason('PathAstray', { path: LINK, found: '/dev/sdz', device: '/dev/loop3' }),
  ],
  {
    prepared,
    deviceName: 'loop3',
    devicePath: LINK,
    capacity: '1Gi',
  },
);

/** Returns the status of a Volume that waits to be attached. */
const attaching = (reason = 'Attaching', job = 'PrepareVolume/DONE') =>
  status('Available', job, ['Unknown', reason, NOT_ATTACHED], { prepared });

const reportedAt = (at: number): VolumeStatus => {
  const { conditions = [], ...rest } = attaching();
  const lastUpdateTime = new Date(at).toISOString();
  return { ...rest, conditions: conditions.map((each) => ({ ...each, lastUpdateTime })) };
};

const entry = (node: string, more: Partial<Attachment> = {}): Attachment => ({
  node,
  state: 'Attached',
  safeToMount: true,
  safeToDetach: false,
  pods: ['apps/db-0'],
  since: at,
  ...more,
});

type Parts = Parameters<typeof given>[1];
const bound = (parts?: Parts) => given(available(), { pv: pv('Bound'), ...parts });
const waiting = (parts?: Parts) => given(attaching(), { pv: pv('Bound'), ...parts });
const attachingByJob = (parts?: Parts) =>
  given(attaching('Attaching', 'AttachVolume/3'), { pv: pv('Bound'), ...parts });

/** Returns a Volume whose fifth attempt to expand to 2Gi is due in 8 s. */
const growing = (parts?: Parts) =>
  given(
    status('Available', 'GrowVolume/5', ['True', 'Available', 'expanding to 2Gi'], { prepared }),
    {
      spec: { sparseLoopDevice: { size: '2Gi' } },
      pv: pv('Bound'),
      ...parts,
    },
  );

describe('Steady state', () => {
  const rows: Row[] = [
    ['not observed yet: observes', given(available(), { pv: pv('Available') }), 'observe'],
    [
      'being attached with policy Always: observes',
      given(available(), { pv: pv('Available'), isMoving: true }),
      'observe',
    ],
    [
      'observed lately: waits',
      given(available(), { pv: pv('Available'), observedAt: NOW - 10_000 }),
      { requeueAfter: 20_000 },
    ],
    [
      'present: Available',
      given(pending('PrepareVolume/DONE', { prepared }), { pv: pv('Available'), node: readyNode }),
      isAvailable(),
    ],
    [
      'present, as reported: nothing is written',
      given(available(), { pv: pv('Available'), node: readyNode }),
      { requeueAfter: 30_000 },
    ],
    [
      'the device went away: waits to be attached',
      bound({ node: madeNode }),
      notAttached(NOT_ATTACHED),
    ],
    [
      'waits to be attached, as reported: observes again later, and writes nothing',
      waiting({ node: madeNode }),
      { requeueAfter: 30_000 },
    ],
    [
      'attached and gone again since the report: reports it again',
      given(
        { ...attaching(), attachments: [entry('n1', { since: later })] },
        { pv: pv('Bound'), node: madeNode },
      ),
      notAttached(
        `the device is not attached on node n1, where it was attached at ${later}; attaching`,
      ),
    ],
    [
      'attached again after a report whose clock was set back since: reports it again',
      given(
        { ...reportedAt(NOW + 7_200_000), attachments: [entry('n1', { since: later })] },
        { pv: pv('Bound'), node: madeNode },
      ),
      notAttached(
        `the device is not attached on node n1, where it was attached at ${later}; attaching`,
      ),
    ],
    [
      'attached before the report: reports nothing again',
      given(
        { ...reportedAt(NOW), attachments: [entry('n1', { since: earlier })] },
        { pv: pv('Bound'), node: madeNode },
      ),
      { requeueAfter: 30_000 },
    ],
    [
      'waits to be attached: observes at each reconcile',
      waiting({ observedAt: NOW - 1000 }),
      'observe',
    ],
    [
      'the attachment has a message: reports only that of its own node',
      given(
        {
          ...available(),
          attachments: [
            entry('n2', { message: 'of another node' }),
            entry('n1', { state: 'Uncertain', message: 'losetup failed' }),
          ],
        },
        { pv: pv('Bound'), node: madeNode },
      ),
      notAttached('the device is not attached on node n1; attaching: losetup failed'),
    ],
    [
      'attachment is disabled: reports it',
      bound({ node: madeNode, attachmentEnabled: false }),
      [
        'Available',
        'PrepareVolume/DONE',
        'Unknown',
        'AttachmentDisabled',
        "the device is not attached on node n1, and the controller attachment is disabled: enable it with stowage watch --controllers '*'",
      ],
    ],
    [
      'attachment is disabled, and the device is present: Available',
      bound({ node: readyNode, attachmentEnabled: false }),
      { requeueAfter: 30_000 },
    ],
    [
      'waited while attachment is disabled: observes at each reconcile',
      given(attaching('AttachmentDisabled'), {
        pv: pv('Bound'),
        observedAt: NOW - 1000,
        attachmentEnabled: false,
      }),
      'observe',
    ],
    [
      'the link is missing: waits to be attached',
      bound({ node: { ...readyNode, link: undefined } }),
      notAttached(NOT_ATTACHED),
    ],
    [
      'the link leads to another device: Ready=False, and names it',
      bound({ node: strayed }),
      pathAstray(`${LINK} ${STRAYED}`),
    ],
    [
      'the link leads to another device, as reported: observes again later, and writes nothing',
      given(toldAstray, { pv: pv('Bound'), node: strayed }),
      { requeueAfter: 30_000 },
    ],
    [
      'the link of an earlier version leads to another device: Ready=False',
      given({ ...available(), devicePath: BY_UUID }, { pv: pv('Bound'), node: strayed }),
      pathAstray(`${BY_UUID} ${STRAYED}`),
    ],
    [
      'the link leads to another device, and the volume has none: Ready=False',
      bound({ node: { ...strayed, loops: [] } }),
      pathAstray(
        `${LINK} leads to /dev/sdz, and the volume has no device; a pod that starts now may get that device. Attaching the volume again corrects it`,
      ),
    ],
    [
      'the link leads to another device during a pause: Ready=False',
      given(paused, { pv: pv('Bound'), node: strayed, paused: { kind: 'Volume', name: 'data1' } }),
      pathAstray(`${LINK} ${STRAYED}`),
    ],
    [
      'the link led to another device: observes at each reconcile',
      given(toldAstray, { pv: pv('Bound'), observedAt: NOW - 1000 }),
      'observe',
    ],
    [
      'the link led to another device, and is correct: Available',
      given(toldAstray, { pv: pv('Bound'), node: readyNode }),
      isAvailable(),
    ],
    [
      'the link led to another device, and is missing: waits to be attached',
      given(toldAstray, { pv: pv('Bound'), node: { ...readyNode, link: undefined } }),
      ['Failed', 'PrepareVolume/DONE', 'Unknown', 'Attaching', NOT_ATTACHED],
    ],
    ['an AttachVolume job: is polled', attachingByJob(), 'poll'],
    [
      'an AttachVolume job still runs: waits for its end',
      attachingByJob({ job: 'running' }),
      [
        'Available',
        'AttachVolume/3',
        'Unknown',
        'Attaching',
        'waiting for the job AttachVolume/3 to end',
      ],
    ],
    [
      'an AttachVolume job, and its node is away: unknown',
      attachingByJob({ job: away }),
      ['Available', 'AttachVolume/3', 'Unknown', 'NodeUnreachable', away.unknown],
    ],
    ...(['not-found', 'succeeded', 'failed', 'died'] as const).flatMap((state): Row[] => {
      const parts = attachingByJob({
        job: state === 'failed' ? { state, step, exit: 1, output: '' } : { state },
      });
      return [
        [`an AttachVolume job is ${state}: is cleaned up`, parts, 'forget-jobs'],
        [
          `an AttachVolume job is ${state}: counts as none`,
          { ...parts, forgotten: true },
          ['Available', 'AttachVolume/DONE', 'Unknown', 'Attaching', ''],
        ],
      ];
    }),
    [
      'failed to expand: observes as usual before the next attempt',
      growing({ observedAt: NOW - 30_000 }),
      'observe',
    ],
    [
      'failed to expand: an observation does not delay the next attempt',
      growing({ observedAt: NOW - 10_000 }),
      { requeueAfter: 8000 },
    ],
    ['failed to expand: waits', growing({ node: readyNode }), { requeueAfter: 8000 }],
    ['failed to expand: retries after the delay', growing(), 'poll', NOW + 8000],
    [
      'failed to expand, and the device is gone: waits to be attached first',
      growing({ node: madeNode }),
      ['Available', 'GrowVolume/5', 'Unknown', 'Attaching', NOT_ATTACHED],
    ],
    [
      'failed to expand, and the device is gone at the next attempt: nothing is submitted',
      growing({ job: 'not-found', node: madeNode }),
      'forget-jobs',
      NOW + 8000,
    ],
    [
      'failed to expand, and the device is gone at the next attempt: is attached first',
      growing({ job: 'not-found', node: madeNode, forgotten: true }),
      ['Available', 'GrowVolume/DONE', 'Unknown', 'Attaching', NOT_ATTACHED],
      NOW + 8000,
    ],
    [
      'expanded, and the device is gone: is attached first',
      growing({ job: 'succeeded', node: madeNode, forgotten: true }),
      ['Available', 'GrowVolume/DONE', 'Unknown', 'Attaching', NOT_ATTACHED],
      NOW + 8000,
    ],
    [
      'failed to expand, and udev is gone at the next attempt: cleans up first',
      growing({ job: 'not-found', node: { ...madeNode, udev: false } }),
      'forget-jobs',
      NOW + 8000,
    ],
    [
      'expands after the delay',
      growing({ job: 'not-found', node: readyNode }),
      ['submit', expect.any(Number), 0],
      NOW + 8000,
    ],
    [
      'failed to expand, and the file is gone: Ready=False',
      growing({ node: freshNode }),
      [
        'Failed',
        'GrowVolume/5',
        'False',
        'UnavailableError',
        expect.stringContaining('is missing'),
      ],
    ],
    [
      'its spec has an unsupported field by now: reports it, otherwise as usual',
      {
        volume: {
          ...volume(available()),
          spec: { ...volume().spec, source: { other: 'x' } as never },
        },
        pv: pv('Bound'),
        observation: { known: readyNode },
      },
      isAvailable(/^not applied: spec.source.other is not supported/),
    ],
    [
      'the file is gone: Ready=False, nothing is created',
      bound({ node: { ...freshNode } }),
      unavailable(/is missing/),
    ],
    [
      'its directory is not mounted: Ready=False, with the reason',
      bound({ node: { ...freshNode, directory: unmounted } }),
      [
        ...['Failed', 'PrepareVolume/DONE', 'False', 'DirectoryNotMounted'],
        expect.stringContaining('is not mounted'),
      ],
    ],
    [
      'its directory was not mounted: observes again',
      given(
        status('Failed', 'PrepareVolume/DONE', ['False', 'DirectoryNotMounted', 'x'], { prepared }),
        {
          pv: pv('Bound'),
        },
      ),
      'observe',
    ],
    [
      'its directory has no record: creates one after the status is written',
      given(available(), { pv: pv('Available'), node: unrecorded }),
      'record-directory',
    ],
    [
      'its directory has no record after an attempt: observes again later',
      given(available(), { pv: pv('Available'), node: unrecorded, directoryRecorded: true }),
      { requeueAfter: 30_000 },
    ],
    [
      'its directory has no record during a pause: writes nothing',
      given(paused, {
        pv: pv('Available'),
        node: unrecorded,
        paused: { kind: 'Volume', name: 'data1' },
      }),
      { requeueAfter: 30_000 },
    ],
    [
      'its path is of an earlier version: udev is to prefer its device, once per boot of the node',
      given(earlierAvailable, { pv: earlierPv, node: readyNode }),
      'prefer-path',
    ],
    [
      'its path is of an earlier version, and preferred: observes again later',
      given(earlierAvailable, { pv: earlierPv, node: readyNode, pathPreferred: true }),
      { requeueAfter: 30_000 },
    ],
    [
      'its directory has no record, and its file is missing: creates none',
      bound({ node: { ...freshNode, directory: unrecorded.directory } }),
      unavailable(/is missing/),
    ],
    [
      'unavailable storage is back, and must be attached: continues in phase Failed',
      given(status('Failed', 'PrepareVolume/DONE', ['Unknown', 'Attaching'], { prepared }), {
        pv: pv('Bound'),
      }),
      'observe',
    ],
    [
      'unavailable storage, and its node is away: observes again',
      given(
        status('Failed', 'PrepareVolume/DONE', ['Unknown', 'NodeUnreachable', 'away'], {
          prepared,
        }),
        {
          pv: pv('Bound'),
        },
      ),
      'observe',
    ],
    [
      'node away: the phase stays',
      bound({ node: away }),
      ['Available', 'PrepareVolume/DONE', 'Unknown', 'NodeUnreachable', away.unknown],
    ],
    [
      'the PersistentVolume alone is deleted: reports it',
      given(available(), { pv: pv('Available', deleted), node: readyNode }),
      isAvailable(/marked for deletion/),
    ],
    [
      'the PersistentVolume alone is deleted: stays Available',
      given(available(), { pv: pv('Available', deleted), observedAt: NOW }),
      { requeueAfter: 30_000 },
    ],
  ];
  test.each(rows)('%s', (...[, parts, expected, now]) => {
    expect(outcome(parts, now)).toEqual(expected);
  });
});

test('deviceName follows a loop that was re-attached under another number', () => {
  const loop9 = { ...loop, name: 'loop9', number: 9, device: '7:9' };
  const { action } = decide(
    input(bound({ node: { ...readyNode, loops: [loop9], link: '7:9' } })),
    NOW,
  );
  expect(action).toMatchObject({
    do: 'set-status',
    status: { phase: 'Available', deviceName: 'loop9' },
  });
});

describe('an OnDemand Volume', () => {
  const onDemand = (
    made: VolumeStatus,
    { size = '1Gi', ...parts }: Parts & { size?: string } = {},
  ) =>
    given(made, {
      spec: { attachPolicy: 'OnDemand', sparseLoopDevice: { size } },
      pv: pv('Bound'),
      ...parts,
    });
  const { deviceName: _, ...away_ } = available();
  const attached = { ...available(), attachments: [entry('n1')] };
  const fine = isAvailable();

  test.each<Row>([
    [
      'is Available without its device',
      onDemand(status('Pending', 'PrepareVolume/DONE', undefined, { prepared }), {
        node: madeNode,
      }),
      fine,
    ],
    [
      'is not written again without its device',
      onDemand(away_, { node: madeNode }),
      { requeueAfter: 30_000 },
    ],
    [
      'is Available if attachment is disabled, and reports that',
      onDemand(status('Pending', 'PrepareVolume/DONE', undefined, { prepared }), {
        node: madeNode,
        attachmentEnabled: false,
      }),
      [
        ...fine.slice(0, 4),
        "the volume is neither attached nor detached as pods need it: the controller attachment is disabled. Enable it with stowage watch --controllers '*'",
      ],
    ],
    [
      'rests after a recent observation',
      onDemand(away_, { observedAt: NOW - 10_000 }),
      { requeueAfter: 20_000 },
    ],
    [
      'is observed after it was attached',
      onDemand({ ...away_, attachments: [entry('n1')] }, { observedAt: NOW - 10_000 }),
      'observe',
    ],
    [
      'rests while it is attached, as reported',
      onDemand(attached, { observedAt: NOW - 10_000 }),
      { requeueAfter: 20_000 },
    ],
    [
      'is observed if it is attached and smaller than requested',
      onDemand(attached, { size: '2Gi', observedAt: NOW - 10_000 }),
      'observe',
    ],
    [
      'rests until the next attempt to expand',
      onDemand(
        { ...attached, job: 'GrowVolume/5', attempt: 5 },
        { size: '2Gi', observedAt: NOW - 10_000 },
      ),
      { requeueAfter: 8000 },
    ],
    [
      'rests while it is Attaching',
      onDemand(
        { ...away_, attachments: [entry('n1', { state: 'Attaching' })] },
        { observedAt: NOW - 10_000 },
      ),
      { requeueAfter: 20_000 },
    ],
    [
      'is observed after it was detached',
      onDemand(available(), { observedAt: NOW - 10_000 }),
      'observe',
    ],
    [
      'is not Available if its file is gone',
      onDemand(away_, { node: freshNode }),
      unavailable(/is missing/),
    ],
    [
      'is not Available if its file was replaced',
      onDemand(away_, {
        node: { ...madeNode, done: undefined, intent: undefined, signature: { found: 'none' } },
      }),
      unavailable(/./),
    ],
    [
      'is Available if it cannot be attached for now, with the reason',
      onDemand(away_, { node: { ...madeNode, udev: false } }),
      isAvailable(/udev is not running/),
    ],
    [
      'reports a path to another device before a pod needs it',
      onDemand(away_, { node: { ...madeNode, devices: strayed.devices, link: strayed.link } }),
      pathAstray(
        /^\S+ leads to \/dev\/sdz, and the volume has no device; a pod that starts now may get that device/,
      ),
    ],
    ['is Available once such a path is gone', onDemand(toldAstray, { node: madeNode }), fine],
    [
      'is not observed while it is attached or detached',
      onDemand(attached, { isMoving: true }),
      { requeueAfter: 30_000 },
    ],
    [
      'is not written if its device disappears during an operation',
      onDemand(attached, { isMoving: true, node: madeNode }),
      { requeueAfter: 30_000 },
    ],
    [
      'is written if its device disappears without a detach',
      onDemand(attached, { node: madeNode }),
      isAvailable(),
    ],
    [
      'expands once it is attached, and reports that',
      onDemand(away_, { size: '2Gi', node: madeNode }),
      isAvailable('expanding to 2Gi once it is attached'),
    ],
    [
      'expands while it is attached',
      onDemand(attached, { size: '2Gi', node: readyNode }),
      ['Available', 'GrowVolume/1', 'True', 'Available', 'expanding to 2Gi'],
    ],
    [
      'cleans up after a failed expansion once it is detached',
      onDemand({ ...away_, job: 'GrowVolume/5', attempt: 5 }, { size: '2Gi', node: madeNode }),
      'forget-jobs',
    ],
    [
      'cancels a failed expansion once it is detached',
      onDemand(
        { ...away_, job: 'GrowVolume/5', attempt: 5 },
        { size: '2Gi', node: madeNode, forgotten: true },
      ),
      ['Available', 'GrowVolume/DONE', 'True', 'Available', ''],
    ],
  ])('%s', (...[, parts, expected, now]) => {
    expect(outcome(parts, now)).toEqual(expected);
  });

  const statusOf = (made: VolumeStatus, observed: typeof madeNode) => {
    const { action } = decide(input(onDemand(made, { node: observed })), NOW);
    if (action?.do !== 'set-status') throw new Error(`not a status: ${JSON.stringify(action)}`);
    return action.status;
  };

  test('changes only deviceName when its device appears or disappears', () => {
    const there = statusOf({ ...away_, attachments: [entry('n1')] }, readyNode);
    expect(there).toEqual(available());
    const gone = statusOf(available(), madeNode);
    expect(gone).toEqual(away_);
  });
});

test('a path that is lost with the status is restored from the PersistentVolume', () => {
  const { devicePath: _, ...lost } = available();
  const found = { ...pv('Bound'), spec: { ...pv('Bound').spec, local: { path: BY_UUID } } };
  const pathAfter = (made: VolumeStatus) => {
    const { action } = decide(input(given(made, { pv: found, node: readyNode })), NOW);
    return action?.do === 'set-status' ? action.status.devicePath : action;
  };
  expect(pathAfter(lost)).toBe(BY_UUID);
  expect(pathAfter({ ...available(), devicePath: BY_UUID })).toMatchObject({ do: 'prefer-path' });
  // A PersistentVolume with a path of another writer does not identify the device.
  found.spec.local.path = '/dev/sda';
  expect(pathAfter(lost)).toBe(LINK);
});

test('a lost status gets prepared again, so that the Volume can be attached', () => {
  const { action } = decide(input(given({}, { pv: pv('Bound'), node: madeNode })), NOW);
  expect(action).toMatchObject({
    do: 'set-status',
    status: { prepared: { node: 'n1' }, conditions: [{ reason: 'Attaching' }] },
  });
});

test('deviceName is removed with the device, as another volume may use it', () => {
  const { action } = decide(input(bound({ node: madeNode })), NOW);
  expect(action).toMatchObject({ do: 'set-status', status: { capacity: '1Gi' } });
  expect(action?.do === 'set-status' && action.status).not.toHaveProperty('deviceName');
});
