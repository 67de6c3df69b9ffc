import { describe, expect, test } from '@jest/globals';
import { explain } from '../../../src/api/reasons.ts';
import type { PopulatorSource, Volume, VolumeStatus } from '../../../src/api/volume.ts';
import { decide } from '../../../src/controllers/volume/decide.ts';
import { fillOf } from '../../../src/controllers/volume/fill-source.ts';
import { cancelPath } from '../../../src/storage/records.ts';
import {
  creationFailed,
  outcome,
  pending,
  preparing,
  type Row,
  step,
  waitingForSource,
} from '../../support/decisions.ts';
import { freshNode, input, NOW, UID, volume } from '../../support/volume-input.ts';

const populator: PopulatorSource = {
  ...{ builtin: 'Image', namespace: 'prod', name: 'debian' },
  options: { source: 'https://a/b', format: 'raw', compression: 'none' },
};
const filled = (status?: VolumeStatus, metadata: Partial<Volume['metadata']> = {}): Volume => {
  const plain = volume(status, metadata);
  return { ...plain, spec: { ...plain.spec, source: { populator, uid: 'u' } } };
};
const source = {
  fill: { builtin: 'Image', what: 'Image prod/debian', options: populator.options },
} as const;
const first = filled(pending('PrepareVolume/1'));
const printing = (output: string) =>
  ({ known: { state: 'running', step: { name: 'fill it', command: '' }, output } }) as const;
const failed = (exit: number) =>
  ({ known: { state: 'failed', step, exit, output: 'why' } }) as const;

describe('a Volume that is being filled', () => {
  const rows: Row[] = [
    [
      'waits for a Secret that cannot be read',
      {
        volume: first,
        job: { known: { state: 'not-found' } },
        observation: { known: freshNode },
        source: { problem: 'no secret' },
      },
      waitingForSource(1, /no secret/),
    ],
    [
      'reports its progress',
      {
        volume: first,
        source,
        job: printing('stowage-progress 1048576 4194304\n'),
      },
      preparing(1, 'fill it: 25% (1 of 4 MiB)'),
    ],
    [
      'reports what it waits for',
      {
        volume: first,
        source,
        job: printing('stowage-waiting node\n'),
      },
      preparing(1, 'fill it: waiting for one of the 16 slots on the node, which are all taken'),
    ],
    [
      'fails at once after a permanent error',
      { volume: first, source, job: failed(3) },
      creationFailed(1, /why.*create it again/),
    ],
    [
      'is retried after a transient error, which is reported',
      { volume: first, source, job: failed(1) },
      waitingForSource(2, /attempt 1 ended early/),
    ],
    [
      'fails after the last attempt',
      { volume: filled(pending('PrepareVolume/8')), source, job: failed(1) },
      creationFailed(8, /failed after 8 attempts/),
    ],
  ];
  test.each(rows)('%s', (...[, parts, expected, now]) => {
    expect(outcome(parts, now)).toEqual(expected);
  });

  test('is requeued while it is filled, as progress causes no event', () => {
    const running = {
      known: { state: 'running', step: { name: 'fill it', command: '' } },
    } as const;
    const told = filled(pending('PrepareVolume/1'));
    const status = told.status as VolumeStatus;
    status.conditions = [
      {
        ...(status.conditions?.[0] as never as object),
        ...explain('JobStepRuns', { step: 'fill it' }),
      } as never,
    ];
    expect(decide(input({ volume: told, source, job: running }), NOW)).toEqual({
      watch: true,
      requeueAfter: 10_000,
    });
  });

  test.each([[1], [3]])('reports failures to its claim without the command (status %i)', (exit) => {
    const { action } = decide(input({ volume: first, source, job: failed(exit) }), NOW);
    const [ready, told] = action?.do === 'set-status' ? (action.status.conditions ?? []) : [];
    expect(ready?.message).toContain(step.command);
    expect(told).toMatchObject({ type: 'Provisioned', message: expect.stringContaining(': why') });
    expect(told?.message).not.toContain(step.command);
  });

  const deleted = filled(pending('PrepareVolume/1'), { deletionTimestamp: '2026-01-02T03:04:00Z' });
  const running = { known: { state: 'running' } } as const;
  test('cancels its job when it is deleted', () => {
    expect(decide(input({ volume: deleted, job: running }), NOW)).toEqual({
      action: {
        do: 'cancel',
        steps: [
          expect.objectContaining({
            argv: ['rm', '-f', '--', expect.stringMatching(/\.partial$/)],
          }),
        ],
      },
    });
    expect(
      decide(input({ volume: deleted, job: running, cancelled: true }), NOW).action?.do,
    ).not.toBe('cancel');
    const plain = volume(deleted.status, { deletionTimestamp: '2026-01-02T03:04:00Z' });
    expect(decide(input({ volume: plain, job: running }), NOW).action?.do).not.toBe('cancel');
  });

  test('cancels a job that writes zeros to a Block volume, too', () => {
    const { sparseLoopDevice: _, source: __, ...spec } = deleted.spec;
    const template = {
      metadata: { annotations: { 'pv.kubernetes.io/provisioned-by': 'volume.stowage.dev' } },
    };
    const block = (mode: 'Block' | 'Filesystem') => ({
      ...deleted,
      metadata: { ...deleted.metadata, name: `pvc-${UID}` },
      spec: { ...spec, mode, template, lvmLogicalVolume: { vgName: 'vg0', size: '1Gi' } },
    });
    expect(decide(input({ volume: block('Block'), job: running }), NOW).action).toMatchObject({
      do: 'cancel',
      steps: [{ argv: expect.arrayContaining([cancelPath(UID)]) }],
    });
    expect(decide(input({ volume: block('Filesystem'), job: running }), NOW).action?.do).not.toBe(
      'cancel',
    );
  });
});

describe('the secret of a source', () => {
  const withSecret = {
    ...populator,
    options: { ...populator.options, authorizationSecret: 'creds', authorizationKey: 'token' },
  };
  test('is read in the namespace of the source, and its name is not passed on', async () => {
    const asked: string[][] = [];
    const found = await fillOf(withSecret, async (...words) => {
      asked.push(words);
      return { value: 'Bearer x\n' };
    });
    expect(asked).toEqual([['prod', 'creds', 'token', 'https://a/b']]);
    expect(found).toEqual({ fill: { ...source.fill, authorization: 'Bearer x' } });
  });

  test.each([
    [{ value: 'a\r\nX-Other: b' }, 'which is not a single line'],
    [{ value: '' }, 'which is not a single line'],
    [{ problem: 'a Secret that is not there' }, 'needs a Secret that is not there'],
  ])('is not used if it is %j', async (secret, problem) => {
    expect(await fillOf(withSecret, async () => secret)).toEqual({
      problem: expect.stringContaining(problem),
    });
  });
});
