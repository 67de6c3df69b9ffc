import { describe, expect, test } from '@jest/globals';
import { decide } from '../../src/volumes/decide.ts';
import {
  available,
  away,
  deleted,
  outcome,
  pending,
  prepared,
  type Row,
  status,
} from '../support/decisions.ts';
import { freshNode, input, loop, madeNode, NOW, pv, readyNode, volume } from '../support/volume-input.ts';

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
      'the device went away: names a job',
      { volume: volume(available()), pv: pv('Bound'), observation: { known: madeNode } },
      ['Available', 'AttachVolume/1', 'Unknown', 'Attaching', ''],
    ],
    [
      'and submits it',
      {
        volume: volume(status('Available', 'AttachVolume/1', ['Unknown', 'Attaching'], { prepared })),
        pv: pv('Bound'),
        job: { known: { state: 'not-found' } },
        observation: { known: madeNode },
      },
      ['submit', 2, 0],
    ],
    [
      'attached under another number: deviceName follows',
      {
        volume: volume(status('Available', 'AttachVolume/1', ['Unknown', 'Attaching'], { prepared })),
        pv: pv('Bound'),
        job: { known: { state: 'succeeded' } },
        observation: {
          known: { ...madeNode, loops: [{ ...loop, name: 'loop9', number: 9, device: '7:9' }], link: '7:9' },
        },
        forgotten: true,
      },
      ['Available', 'AttachVolume/DONE', 'True', 'Available', ''],
    ],
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
        'could not grow, and the device went away: is attached first',
        { observation: { known: madeNode } },
        ['Available', 'AttachVolume/1', 'Unknown', 'Attaching', ''],
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
        volume: { ...volume(available()), spec: { ...volume().spec, attachPolicy: 'OnDemand' } },
        pv: pv('Bound'),
        observation: { known: readyNode },
      },
      [
        'Available',
        'PrepareVolume/DONE',
        'True',
        'Available',
        expect.stringMatching(/^not done: spec.attachPolicy OnDemand is not supported/),
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
        volume: volume(status('Failed', 'AttachVolume/1', ['Unknown', 'Attaching'], { prepared })),
        pv: pv('Bound'),
      },
      'poll',
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
