import { describe, expect, test } from '@jest/globals';
import type { Attachment, Volume, VolumeStatus } from '../../src/api/volume.ts';
import { decide } from '../../src/volumes/decide.ts';
import {
  at,
  available,
  away,
  deleted,
  outcome,
  pending,
  prepared,
  type Row,
  status,
  step,
} from '../support/decisions.ts';
import { freshNode, input, loop, madeNode, NOW, pv, readyNode, volume } from '../support/volume-input.ts';

const NOT_ATTACHED = 'the device is not attached on n1; it is being attached';

const later = new Date(NOW + 1000).toISOString();

/** Waits to be attached, and says so. */
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

/** A Volume whose fifth try to grow to 2Gi is 8 s away. */
const growing = (rows: readonly Row[]): Row[] =>
  rows.map(([name, parts, expected, now]) => {
    const grows = volume(
      status('Available', 'GrowVolume/5', ['True', 'Available', 'growing to 2Gi'], { prepared }),
    );
    const larger = { ...grows, spec: { ...grows.spec, sparseLoopDevice: { size: '2Gi' } } };
    const row: Row = [name, { volume: larger, pv: pv('Bound'), ...parts }, expected];
    return now === undefined ? row : [name, row[1], expected, now];
  });

describe('Steady state', () => {
  const rows: Row[] = [
    ['not looked at yet: looks', { volume: volume(available()), pv: pv('Available') }, 'observe'],
    [
      'just being attached: looks, for it should always be',
      { volume: volume(available()), pv: pv('Available'), isMoving: true },
      'observe',
    ],
    [
      'looked at lately: waits',
      { volume: volume(available()), pv: pv('Available'), lookedAt: NOW - 10_000 },
      { requeueAfter: 20_000 },
    ],
    [
      'present: Available',
      {
        volume: volume(pending('PrepareVolume/DONE', { prepared })),
        pv: pv('Available'),
        observation: { known: readyNode },
      },
      ['Available', 'PrepareVolume/DONE', 'True', 'Available', ''],
    ],
    [
      'present, and told so: nothing is written',
      { volume: volume(available()), pv: pv('Available'), observation: { known: readyNode } },
      { requeueAfter: 30_000 },
    ],
    [
      'the device went away: waits to be attached',
      { volume: volume(available()), pv: pv('Bound'), observation: { known: madeNode } },
      ['Available', 'PrepareVolume/DONE', 'Unknown', 'Attaching', NOT_ATTACHED],
    ],
    [
      'waits to be attached, and told so: looks again later, and writes nothing',
      { volume: volume(attaching()), pv: pv('Bound'), observation: { known: madeNode } },
      { requeueAfter: 30_000 },
    ],
    [
      'was attached while it waited for that, and is gone again: says so, that it is heard once more',
      {
        volume: volume({ ...attaching(), attachments: [entry('n1', { since: later })] }),
        pv: pv('Bound'),
        observation: { known: madeNode },
      },
      [
        'Available',
        'PrepareVolume/DONE',
        'Unknown',
        'Attaching',
        `the device is not attached on n1, where it was at ${later}; it is being attached`,
      ],
    ],
    [
      'waits to be attached: looks again as often as it is called, for it may be there by now',
      { volume: volume(attaching()), pv: pv('Bound'), lookedAt: NOW - 1000 },
      'observe',
    ],
    [
      'what holds up the attaching is told, of this node alone',
      {
        volume: volume({
          ...available(),
          attachments: [
            entry('n2', { message: 'of another node' }),
            entry('n1', { state: 'Uncertain', message: 'losetup failed' }),
          ],
        }),
        pv: pv('Bound'),
        observation: { known: madeNode },
      },
      [
        'Available',
        'PrepareVolume/DONE',
        'Unknown',
        'Attaching',
        'the device is not attached on n1; it is being attached: losetup failed',
      ],
    ],
    [
      'nothing attaches: says so',
      {
        volume: volume(available()),
        pv: pv('Bound'),
        observation: { known: madeNode },
        attachmentEnabled: false,
      },
      [
        'Available',
        'PrepareVolume/DONE',
        'Unknown',
        'AttachmentDisabled',
        'the device is not attached on n1, and the controller attachment is switched off: start stowage watch with it',
      ],
    ],
    [
      'nothing attaches, and it is there: Available',
      {
        volume: volume(available()),
        pv: pv('Bound'),
        observation: { known: readyNode },
        attachmentEnabled: false,
      },
      { requeueAfter: 30_000 },
    ],
    [
      'waited while nothing attaches: looks again as often as it is called',
      {
        volume: volume(attaching('AttachmentDisabled')),
        pv: pv('Bound'),
        lookedAt: NOW - 1000,
        attachmentEnabled: false,
      },
      'observe',
    ],
    [
      'the link is away: waits to be attached',
      {
        volume: volume(available()),
        pv: pv('Bound'),
        observation: { known: { ...readyNode, link: undefined } },
      },
      ['Available', 'PrepareVolume/DONE', 'Unknown', 'Attaching', NOT_ATTACHED],
    ],
    [
      'a job of before attaches: its end is asked for',
      { volume: volume(attaching('Attaching', 'AttachVolume/3')), pv: pv('Bound') },
      'poll',
    ],
    [
      'a job of before attaches still: waits for its end',
      {
        volume: volume(attaching('Attaching', 'AttachVolume/3')),
        pv: pv('Bound'),
        job: { known: { state: 'running' } },
      },
      ['Available', 'AttachVolume/3', 'Unknown', 'Attaching', 'waits for the end of AttachVolume/3'],
    ],
    [
      'a job of before attaches, and its node is away: unknown',
      { volume: volume(attaching('Attaching', 'AttachVolume/3')), pv: pv('Bound'), job: away },
      ['Available', 'AttachVolume/3', 'Unknown', 'NodeUnreachable', away.unknown],
    ],
    ...(['not-found', 'succeeded', 'failed', 'died'] as const).flatMap((state): Row[] => {
      const parts = {
        volume: volume(attaching('Attaching', 'AttachVolume/3')),
        pv: pv('Bound'),
        job: { known: state === 'failed' ? { state, step, exit: 1, output: '' } : { state } },
      } as const;
      return [
        [`a job of before that attached is ${state}: is cleaned up`, parts, 'forget-jobs'],
        [
          `a job of before that attached is ${state}: counts as none`,
          { ...parts, forgotten: true },
          ['Available', 'AttachVolume/DONE', 'Unknown', 'Attaching', ''],
        ],
      ];
    }),
    ...growing([
      [
        'could not grow: until the next try it is looked after as ever',
        { lookedAt: NOW - 30_000 },
        'observe',
      ],
      [
        'could not grow: the next try is not put off by it',
        { lookedAt: NOW - 10_000 },
        { requeueAfter: 8000 },
      ],
      ['could not grow yet: waits', { observation: { known: readyNode } }, { requeueAfter: 8000 }],
      ['could not grow: tried again when it is time', {}, 'poll', NOW + 8000],
      [
        'could not grow, and the device went away: waits to be attached first',
        { observation: { known: madeNode } },
        ['Available', 'GrowVolume/5', 'Unknown', 'Attaching', NOT_ATTACHED],
      ],
      [
        'could not grow, and the device is away when it is time: nothing is submitted',
        { job: { known: { state: 'not-found' } }, observation: { known: madeNode } },
        'forget-jobs',
        NOW + 8000,
      ],
      [
        'could not grow, and the device is away when it is time: is attached first',
        {
          job: { known: { state: 'not-found' } },
          observation: { known: madeNode },
          forgotten: true,
        },
        ['Available', 'GrowVolume/DONE', 'Unknown', 'Attaching', NOT_ATTACHED],
        NOW + 8000,
      ],
      [
        'grew, and the device went away at once: is attached first',
        {
          job: { known: { state: 'succeeded' } },
          observation: { known: madeNode },
          forgotten: true,
        },
        ['Available', 'GrowVolume/DONE', 'Unknown', 'Attaching', NOT_ATTACHED],
        NOW + 8000,
      ],
      [
        'could not grow, and what attaches it is away when it is time, too: gives that up first',
        { job: { known: { state: 'not-found' } }, observation: { known: { ...madeNode, udev: false } } },
        'forget-jobs',
        NOW + 8000,
      ],
      [
        'grows when it is time',
        { job: { known: { state: 'not-found' } }, observation: { known: readyNode } },
        ['submit', expect.any(Number), 0],
        NOW + 8000,
      ],
      [
        'could not grow, and the file is gone: Ready=False',
        { observation: { known: freshNode } },
        ['Failed', 'GrowVolume/5', 'False', 'UnavailableError', expect.stringContaining('is missing')],
      ],
    ]),
    [
      'asks for what is not supported since it was made: said, and else as ever',
      {
        volume: { ...volume(available()), spec: { ...volume().spec, source: { other: 'x' } as never } },
        pv: pv('Bound'),
        observation: { known: readyNode },
      },
      [
        'Available',
        'PrepareVolume/DONE',
        'True',
        'Available',
        expect.stringMatching(/^not done: spec.source.other is not supported/),
      ],
    ],
    [
      'the file is gone: Ready=False, nothing is made',
      { volume: volume(available()), pv: pv('Bound'), observation: { known: { ...freshNode } } },
      ['Failed', 'PrepareVolume/DONE', 'False', 'UnavailableError', expect.stringContaining('is missing')],
    ],
    [
      'what was unavailable is back, and must be attached: goes on though its phase is Failed',
      {
        volume: volume(status('Failed', 'PrepareVolume/DONE', ['Unknown', 'Attaching'], { prepared })),
        pv: pv('Bound'),
      },
      'observe',
    ],
    [
      'what was unavailable, and its node went away: is looked at again',
      {
        volume: volume(
          status('Failed', 'PrepareVolume/DONE', ['Unknown', 'NodeUnreachable', 'away'], { prepared }),
        ),
        pv: pv('Bound'),
      },
      'observe',
    ],
    [
      'what was unavailable is back',
      {
        volume: volume(
          status('Failed', 'PrepareVolume/DONE', ['False', 'UnavailableError', 'gone'], {
            prepared,
          }),
        ),
        pv: pv('Bound'),
        observation: { known: readyNode },
      },
      ['Available', 'PrepareVolume/DONE', 'True', 'Available', ''],
    ],
    [
      'node away: the phase stays',
      { volume: volume(available()), pv: pv('Bound'), observation: away },
      ['Available', 'PrepareVolume/DONE', 'Unknown', 'NodeUnreachable', away.unknown],
    ],
    [
      'the PersistentVolume is unhealthy',
      { volume: volume(available()), pv: pv('Failed') },
      ['Failed', 'PrepareVolume/DONE', 'False', 'UnavailableError', expect.stringContaining('Failed')],
    ],
    [
      'the PersistentVolume alone is deleted: is said',
      { volume: volume(available()), pv: pv('Available', deleted), observation: { known: readyNode } },
      [
        'Available',
        'PrepareVolume/DONE',
        'True',
        'Available',
        expect.stringContaining('marked for deletion'),
      ],
    ],
    [
      'the PersistentVolume alone is deleted: stays Available',
      { volume: volume(available()), pv: pv('Available', deleted), lookedAt: NOW },
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
    input({
      volume: volume(available()),
      pv: pv('Bound'),
      observation: { known: { ...readyNode, loops: [loop9], link: '7:9' } },
    }),
    NOW,
  );
  expect(action).toMatchObject({ do: 'set-status', status: { phase: 'Available', deviceName: 'loop9' } });
});

describe('a Volume that is attached where a pod needs it', () => {
  const onDemand = (made: VolumeStatus, size = '1Gi', metadata = {}): Volume => {
    const whole = volume(made, metadata);
    return { ...whole, spec: { ...whole.spec, attachPolicy: 'OnDemand', sparseLoopDevice: { size } } };
  };
  const { deviceName: _, ...away_ } = available();
  const attached = { ...available(), attachments: [entry('n1')] };
  const bound = pv('Bound');
  const fine = ['Available', 'PrepareVolume/DONE', 'True', 'Available', ''];

  test.each<Row>([
    [
      'without its device is Available',
      {
        volume: onDemand(status('Pending', 'PrepareVolume/DONE', undefined, { prepared })),
        pv: bound,
        observation: { known: madeNode },
      },
      fine,
    ],
    [
      'without its device, and told so: nothing is written',
      { volume: onDemand(away_), pv: bound, observation: { known: madeNode } },
      { requeueAfter: 30_000 },
    ],
    [
      'needs nobody who attaches to be Available, and says who is missing',
      {
        volume: onDemand(status('Pending', 'PrepareVolume/DONE', undefined, { prepared })),
        pv: bound,
        observation: { known: madeNode },
        attachmentEnabled: false,
      },
      [
        ...fine.slice(0, 4),
        'it is neither attached nor detached where pods need it: the controller attachment is switched off. Start stowage watch with it',
      ],
    ],
    [
      'and was looked at lately rests',
      { volume: onDemand(away_), pv: bound, lookedAt: NOW - 10_000 },
      { requeueAfter: 20_000 },
    ],
    [
      'was attached since the last look: is looked at',
      { volume: onDemand({ ...away_, attachments: [entry('n1')] }), pv: bound, lookedAt: NOW - 10_000 },
      'observe',
    ],
    [
      'is attached, and told so: rests',
      { volume: onDemand(attached), pv: bound, lookedAt: NOW - 10_000 },
      { requeueAfter: 20_000 },
    ],
    [
      'is attached, and smaller than it is to be: is looked at',
      { volume: onDemand(attached, '2Gi'), pv: bound, lookedAt: NOW - 10_000 },
      'observe',
    ],
    [
      'is attached, and tried to grow again later: rests until then',
      {
        volume: onDemand({ ...attached, job: 'GrowVolume/5', attempt: 5 }, '2Gi'),
        pv: bound,
        lookedAt: NOW - 10_000,
      },
      { requeueAfter: 8000 },
    ],
    [
      'is on its way: rests, until it is there',
      {
        volume: onDemand({ ...away_, attachments: [entry('n1', { state: 'Attaching' })] }),
        pv: bound,
        lookedAt: NOW - 10_000,
      },
      { requeueAfter: 20_000 },
    ],
    [
      'was detached since the last look: is looked at',
      { volume: onDemand(available()), pv: bound, lookedAt: NOW - 10_000 },
      'observe',
    ],
    [
      'and whose file is gone is not Available',
      { volume: onDemand(away_), pv: bound, observation: { known: freshNode } },
      ['Failed', 'PrepareVolume/DONE', 'False', 'UnavailableError', expect.stringContaining('is missing')],
    ],
    [
      'and whose file has become another is not Available',
      {
        volume: onDemand(away_),
        pv: bound,
        observation: {
          known: { ...madeNode, done: undefined, intent: undefined, signature: { found: 'none' } },
        },
      },
      ['Failed', 'PrepareVolume/DONE', 'False', 'UnavailableError', expect.anything()],
    ],
    [
      'and cannot be attached for now is Available, and says why',
      { volume: onDemand(away_), pv: bound, observation: { known: { ...madeNode, udev: false } } },
      ['Available', 'PrepareVolume/DONE', 'True', 'Available', expect.stringContaining('no udev runs')],
    ],
    [
      'that is just being attached or detached is not looked at',
      { volume: onDemand(attached), pv: bound, isMoving: true },
      { requeueAfter: 30_000 },
    ],
    [
      'and whose device went while it was looked at, which is not written yet: nothing is written',
      { volume: onDemand(attached), pv: bound, isMoving: true, observation: { known: madeNode } },
      { requeueAfter: 30_000 },
    ],
    [
      'and whose device went, and nobody detached it: says so',
      { volume: onDemand(attached), pv: bound, observation: { known: madeNode } },
      ['Available', 'PrepareVolume/DONE', 'True', 'Available', ''],
    ],
    [
      'is to grow: does so once it is attached, and says so',
      { volume: onDemand(away_, '2Gi'), pv: bound, observation: { known: madeNode } },
      ['Available', 'PrepareVolume/DONE', 'True', 'Available', 'growing to 2Gi when it is attached'],
    ],
    [
      'is to grow, and attached: grows',
      { volume: onDemand(attached, '2Gi'), pv: bound, observation: { known: readyNode } },
      ['Available', 'GrowVolume/1', 'True', 'Available', 'growing to 2Gi'],
    ],
    [
      'could not grow before it was detached: gives that up, and cleans up first',
      {
        volume: onDemand({ ...away_, job: 'GrowVolume/5', attempt: 5 }, '2Gi'),
        pv: bound,
        observation: { known: madeNode },
      },
      'forget-jobs',
    ],
    [
      'could not grow before it was detached: gives that up',
      {
        volume: onDemand({ ...away_, job: 'GrowVolume/5', attempt: 5 }, '2Gi'),
        pv: bound,
        observation: { known: madeNode },
        forgotten: true,
      },
      ['Available', 'GrowVolume/DONE', 'True', 'Available', ''],
    ],
  ])('%s', (...[, parts, expected, now]) => {
    expect(outcome(parts, now)).toEqual(expected);
  });

  const statusOf = (made: VolumeStatus, observed: typeof madeNode) => {
    const { action } = decide(
      input({ volume: onDemand(made), pv: bound, observation: { known: observed } }),
      NOW,
    );
    if (action?.do !== 'set-status') throw new Error(`not a status: ${JSON.stringify(action)}`);
    return action.status;
  };

  test('deviceName comes with the device, and goes with it, and nothing else does', () => {
    const there = statusOf({ ...away_, attachments: [entry('n1')] }, readyNode);
    expect(there).toEqual(available());
    const gone = statusOf(available(), madeNode);
    expect(gone).toEqual(away_);
  });
});

test('deviceName is taken away with the device: it may be another’s by now', () => {
  const { action } = decide(
    input({ volume: volume(available()), pv: pv('Bound'), observation: { known: madeNode } }),
    NOW,
  );
  expect(action).toMatchObject({ do: 'set-status', status: { capacity: '1Gi' } });
  expect(action?.do === 'set-status' && action.status).not.toHaveProperty('deviceName');
});
