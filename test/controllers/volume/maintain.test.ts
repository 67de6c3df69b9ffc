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
      message: 'Volume data1 has the annotation stowage.dev/paused, which pauses all work',
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
    ['not looked at yet: looks', given(available(), { pv: pv('Available') }), 'observe'],
    [
      'just being attached: looks, for it should always be',
      given(available(), { pv: pv('Available'), isMoving: true }),
      'observe',
    ],
    [
      'looked at lately: waits',
      given(available(), { pv: pv('Available'), observedAt: NOW - 10_000 }),
      { requeueAfter: 20_000 },
    ],
    [
      'present: Available',
      given(pending('PrepareVolume/DONE', { prepared }), { pv: pv('Available'), node: readyNode }),
      isAvailable(),
    ],
    [
      'present, and told so: nothing is written',
      given(available(), { pv: pv('Available'), node: readyNode }),
      { requeueAfter: 30_000 },
    ],
    [
      'the device went away: waits to be attached',
      bound({ node: madeNode }),
      notAttached(NOT_ATTACHED),
    ],
    [
      'waits to be attached, and told so: looks again later, and writes nothing',
      waiting({ node: madeNode }),
      { requeueAfter: 30_000 },
    ],
    [
      'was attached while it waited for that, and is gone again: says so, that it is heard once more',
      given(
        { ...attaching(), attachments: [entry('n1', { since: later })] },
        { pv: pv('Bound'), node: madeNode },
      ),
      notAttached(
        `the device is not attached on node n1, where it was attached at ${later}; attaching`,
      ),
    ],
    [
      'waits to be attached: looks again as often as it is called, for it may be there by now',
      waiting({ observedAt: NOW - 1000 }),
      'observe',
    ],
    [
      'what holds up the attaching is told, of this node alone',
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
      'nothing attaches: says so',
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
      'nothing attaches, and it is there: Available',
      bound({ node: readyNode, attachmentEnabled: false }),
      { requeueAfter: 30_000 },
    ],
    [
      'waited while nothing attaches: looks again as often as it is called',
      given(attaching('AttachmentDisabled'), {
        pv: pv('Bound'),
        observedAt: NOW - 1000,
        attachmentEnabled: false,
      }),
      'observe',
    ],
    [
      'the link is away: waits to be attached',
      bound({ node: { ...readyNode, link: undefined } }),
      notAttached(NOT_ATTACHED),
    ],
    [
      'the link leads to another device: Ready=False, and tells which',
      bound({ node: strayed }),
      pathAstray(`${LINK} ${STRAYED}`),
    ],
    [
      'the link leads to another device, and told so: looks again later, and writes nothing',
      given(toldAstray, { pv: pv('Bound'), node: strayed }),
      { requeueAfter: 30_000 },
    ],
    [
      'the link leads to another device, of a volume of an earlier version, which others can show',
      given({ ...available(), devicePath: BY_UUID }, { pv: pv('Bound'), node: strayed }),
      pathAstray(`${BY_UUID} ${STRAYED}`),
    ],
    [
      'the link leads to another device while the own one is away: Ready=False, and tells so',
      bound({ node: { ...strayed, loops: [] } }),
      pathAstray(
        `${LINK} leads to /dev/sdz, and the volume has no device; a pod that starts now may get that device. Attaching the volume again corrects it`,
      ),
    ],
    [
      'the link leads to another device, and it is paused: is told as well',
      given(paused, { pv: pv('Bound'), node: strayed, paused: 'Volume data1' }),
      pathAstray(`${LINK} ${STRAYED}`),
    ],
    [
      'the link led to another device: looks as often as it is called, for it may be right by now',
      given(toldAstray, { pv: pv('Bound'), observedAt: NOW - 1000 }),
      'observe',
    ],
    [
      'the link led to another device, and is right: Available',
      given(toldAstray, { pv: pv('Bound'), node: readyNode }),
      isAvailable(),
    ],
    [
      'the link led to another device, and is away: waits to be attached',
      given(toldAstray, { pv: pv('Bound'), node: { ...readyNode, link: undefined } }),
      ['Failed', 'PrepareVolume/DONE', 'Unknown', 'Attaching', NOT_ATTACHED],
    ],
    ['a job of before attaches: its end is asked for', attachingByJob(), 'poll'],
    [
      'a job of before attaches still: waits for its end',
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
      'a job of before attaches, and its node is away: unknown',
      attachingByJob({ job: away }),
      ['Available', 'AttachVolume/3', 'Unknown', 'NodeUnreachable', away.unknown],
    ],
    ...(['not-found', 'succeeded', 'failed', 'died'] as const).flatMap((state): Row[] => {
      const parts = attachingByJob({
        job: state === 'failed' ? { state, step, exit: 1, output: '' } : { state },
      });
      return [
        [`a job of before that attached is ${state}: is cleaned up`, parts, 'forget-jobs'],
        [
          `a job of before that attached is ${state}: counts as none`,
          { ...parts, forgotten: true },
          ['Available', 'AttachVolume/DONE', 'Unknown', 'Attaching', ''],
        ],
      ];
    }),
    [
      'could not grow: until the next try it is looked after as ever',
      growing({ observedAt: NOW - 30_000 }),
      'observe',
    ],
    [
      'could not grow: the next try is not put off by it',
      growing({ observedAt: NOW - 10_000 }),
      { requeueAfter: 8000 },
    ],
    ['could not grow yet: waits', growing({ node: readyNode }), { requeueAfter: 8000 }],
    ['could not grow: tried again when it is time', growing(), 'poll', NOW + 8000],
    [
      'could not grow, and the device went away: waits to be attached first',
      growing({ node: madeNode }),
      ['Available', 'GrowVolume/5', 'Unknown', 'Attaching', NOT_ATTACHED],
    ],
    [
      'could not grow, and the device is away when it is time: nothing is submitted',
      growing({ job: 'not-found', node: madeNode }),
      'forget-jobs',
      NOW + 8000,
    ],
    [
      'could not grow, and the device is away when it is time: is attached first',
      growing({ job: 'not-found', node: madeNode, forgotten: true }),
      ['Available', 'GrowVolume/DONE', 'Unknown', 'Attaching', NOT_ATTACHED],
      NOW + 8000,
    ],
    [
      'grew, and the device went away at once: is attached first',
      growing({ job: 'succeeded', node: madeNode, forgotten: true }),
      ['Available', 'GrowVolume/DONE', 'Unknown', 'Attaching', NOT_ATTACHED],
      NOW + 8000,
    ],
    [
      'could not grow, and what attaches it is away when it is time, too: gives that up first',
      growing({ job: 'not-found', node: { ...madeNode, udev: false } }),
      'forget-jobs',
      NOW + 8000,
    ],
    [
      'grows when it is time',
      growing({ job: 'not-found', node: readyNode }),
      ['submit', expect.any(Number), 0],
      NOW + 8000,
    ],
    [
      'could not grow, and the file is gone: Ready=False',
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
      'asks for what is not supported since it was made: said, and else as ever',
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
      'the file is gone: Ready=False, nothing is made',
      bound({ node: { ...freshNode } }),
      unavailable(/is missing/),
    ],
    [
      'its directory is not mounted: Ready=False, and tells so',
      bound({ node: { ...freshNode, directory: unmounted } }),
      [
        ...['Failed', 'PrepareVolume/DONE', 'False', 'DirectoryNotMounted'],
        expect.stringContaining('is not mounted'),
      ],
    ],
    [
      'its directory was not mounted: looks again',
      given(
        status('Failed', 'PrepareVolume/DONE', ['False', 'DirectoryNotMounted', 'x'], { prepared }),
        {
          pv: pv('Bound'),
        },
      ),
      'observe',
    ],
    [
      'its directory has no record: makes one once all is told',
      given(available(), { pv: pv('Available'), node: unrecorded }),
      'record-directory',
    ],
    [
      'its directory has no record, and that was tried: looks again later',
      given(available(), { pv: pv('Available'), node: unrecorded, directoryRecorded: true }),
      { requeueAfter: 30_000 },
    ],
    [
      'its directory has no record, and it is paused: writes nothing',
      given(paused, { pv: pv('Available'), node: unrecorded, paused: 'Volume data1' }),
      { requeueAfter: 30_000 },
    ],
    [
      'its path is that of an earlier version: has udev prefer its device, once in the life of its node',
      given(earlierAvailable, { pv: earlierPv, node: readyNode }),
      'prefer-path',
    ],
    [
      'its path is that of an earlier version, and its device is preferred: looks again later',
      given(earlierAvailable, { pv: earlierPv, node: readyNode, pathPreferred: true }),
      { requeueAfter: 30_000 },
    ],
    [
      'its directory has no record, and its file is not there: is not recorded by it',
      bound({ node: { ...freshNode, directory: unrecorded.directory } }),
      unavailable(/is missing/),
    ],
    [
      'what was unavailable is back, and must be attached: goes on though its phase is Failed',
      given(status('Failed', 'PrepareVolume/DONE', ['Unknown', 'Attaching'], { prepared }), {
        pv: pv('Bound'),
      }),
      'observe',
    ],
    [
      'what was unavailable, and its node went away: is looked at again',
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
      'the PersistentVolume alone is deleted: is said',
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
      'without its device is Available',
      onDemand(status('Pending', 'PrepareVolume/DONE', undefined, { prepared }), {
        node: madeNode,
      }),
      fine,
    ],
    [
      'without its device, and told so: nothing is written',
      onDemand(away_, { node: madeNode }),
      { requeueAfter: 30_000 },
    ],
    [
      'needs nobody who attaches to be Available, and says who is missing',
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
      'and was looked at lately rests',
      onDemand(away_, { observedAt: NOW - 10_000 }),
      { requeueAfter: 20_000 },
    ],
    [
      'was attached since the last look: is looked at',
      onDemand({ ...away_, attachments: [entry('n1')] }, { observedAt: NOW - 10_000 }),
      'observe',
    ],
    [
      'is attached, and told so: rests',
      onDemand(attached, { observedAt: NOW - 10_000 }),
      { requeueAfter: 20_000 },
    ],
    [
      'is attached, and smaller than it is to be: is looked at',
      onDemand(attached, { size: '2Gi', observedAt: NOW - 10_000 }),
      'observe',
    ],
    [
      'is attached, and tried to grow again later: rests until then',
      onDemand(
        { ...attached, job: 'GrowVolume/5', attempt: 5 },
        { size: '2Gi', observedAt: NOW - 10_000 },
      ),
      { requeueAfter: 8000 },
    ],
    [
      'is on its way: rests, until it is there',
      onDemand(
        { ...away_, attachments: [entry('n1', { state: 'Attaching' })] },
        { observedAt: NOW - 10_000 },
      ),
      { requeueAfter: 20_000 },
    ],
    [
      'was detached since the last look: is looked at',
      onDemand(available(), { observedAt: NOW - 10_000 }),
      'observe',
    ],
    [
      'and whose file is gone is not Available',
      onDemand(away_, { node: freshNode }),
      unavailable(/is missing/),
    ],
    [
      'and whose file has become another is not Available',
      onDemand(away_, {
        node: { ...madeNode, done: undefined, intent: undefined, signature: { found: 'none' } },
      }),
      unavailable(/./),
    ],
    [
      'and cannot be attached for now is Available, and says why',
      onDemand(away_, { node: { ...madeNode, udev: false } }),
      isAvailable(/udev is not running/),
    ],
    [
      'and whose path leads to another device says so before a pod needs it',
      onDemand(away_, { node: { ...madeNode, devices: strayed.devices, link: strayed.link } }),
      pathAstray(
        /^\S+ leads to \/dev\/sdz, and the volume has no device; a pod that starts now may get that device/,
      ),
    ],
    [
      'and whose path led to another device, which is gone, is Available',
      onDemand(toldAstray, { node: madeNode }),
      fine,
    ],
    [
      'that is just being attached or detached is not looked at',
      onDemand(attached, { isMoving: true }),
      { requeueAfter: 30_000 },
    ],
    [
      'and whose device went while it was looked at, which is not written yet: nothing is written',
      onDemand(attached, { isMoving: true, node: madeNode }),
      { requeueAfter: 30_000 },
    ],
    [
      'and whose device went, and nobody detached it: says so',
      onDemand(attached, { node: madeNode }),
      isAvailable(),
    ],
    [
      'is to grow: does so once it is attached, and says so',
      onDemand(away_, { size: '2Gi', node: madeNode }),
      isAvailable('expanding to 2Gi once it is attached'),
    ],
    [
      'is to grow, and attached: grows',
      onDemand(attached, { size: '2Gi', node: readyNode }),
      ['Available', 'GrowVolume/1', 'True', 'Available', 'expanding to 2Gi'],
    ],
    [
      'could not grow before it was detached: gives that up, and cleans up first',
      onDemand({ ...away_, job: 'GrowVolume/5', attempt: 5 }, { size: '2Gi', node: madeNode }),
      'forget-jobs',
    ],
    [
      'could not grow before it was detached: gives that up',
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
