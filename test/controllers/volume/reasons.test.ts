import { expect, test } from '@jest/globals';
import type { ReasonCode } from '../../../src/api/reasons.ts';
import { decide } from '../../../src/controllers/volume/decide.ts';
import { decideLeftover } from '../../../src/controllers/volume/decide-leftover.ts';
import { leftoverOf, volumeOf } from '../../../src/controllers/volume/leftover.ts';
import type { Decision, Input } from '../../../src/controllers/volume/types.ts';
import { available, deleted, deleting, given, pending, prepared } from '../../support/decisions.ts';
import { freshNode, input, NOW, pv, readyNode, UID, volume } from '../../support/volume-input.ts';

/** Returns the code of the Ready condition's reason. */
function codeOf({ action }: Decision): string | undefined {
  const conditions = action?.do === 'set-status' ? action.status.conditions : undefined;
  return conditions?.find(({ type }) => type === 'Ready')?.detail?.code;
}

const copy = (parts: Parameters<typeof given>[1] = {}) =>
  given(pending('PrepareVolume/1'), { spec: { source: { volumeName: 'x' } }, ...parts });
const made = (parts?: Parameters<typeof given>[1]) =>
  given(pending('PrepareVolume/DONE', { prepared }), parts);

test.each<[ReasonCode, Partial<Input>]>([
  ['SpecInvalid', given(undefined, { spec: { nodeName: '' } })],
  ['StatusInvalid', given({ prepared: { ...prepared, paths: ['/etc/passwd'] } })],
  ['StorageClassMissing', given(undefined, { storageClass: undefined, liveClass: none() })],
  [
    'VolumeSourceUnusable',
    copy({ job: 'not-found', source: { problem: 'none' }, node: freshNode }),
  ],
  ['PersistentVolumeInvalid', made({ pvRefused: { why: 'two sources', retryable: false } })],
  ['PersistentVolumeForbidden', made({ pvRefused: { why: 'quota', retryable: true } })],
  [
    'PersistentVolumeExists',
    made({
      pv: pv('Bound', { ownerReferences: [] }),
      livePv: { found: pv('Bound', { ownerReferences: [] }) },
    }),
  ],
  [
    'FileSystemMissing',
    given(pending('PrepareVolume/DONE', { prepared, devicePath: '/dev/x' }), {
      spec: { source: { volumeName: 'x' } },
      node: { ...readyNode, signature: { found: 'none' } },
    }),
  ],
  ['PersistentVolumeFailed', given(available(), { pv: pv('Failed') })],
  ['PersistentVolumeInUse', deleting(available(), { pv: pv('Bound', deleted) })],
  ['EarlierJobRuns', deleting(pending('PrepareVolume/1'), { job: 'running' })],
  [
    'OtherJobRuns',
    given(pending('PrepareVolume/1'), { job: 'succeeded', node: readyNode, forgotten: false }),
  ],
  [
    'LeftoverRefused',
    given(available(), {
      metadata: { ...deleted, annotations: { 'stowage.dev/forget-node': UID } },
      kept: { problem: 'forbidden' },
    }),
  ],
  [
    'AttemptEnded',
    given(pending('PrepareVolume/1'), { job: { state: 'guarded', ...oldRefusal() } }),
  ],
])('a Volume has reason %s', (code, parts) => {
  expect(codeOf(decide(input(parts), NOW))).toBe(code);
});

test('a source of another type is reported, and no empty volume is created', () => {
  const { volume: of } = copy();
  const { sparseLoopDevice: _, ...spec } = of.spec;
  const logical = { ...spec, lvmLogicalVolume: { vgName: 'vg0', size: '1Gi' } };
  const source = { from: { file: `/s/${UID}`, mode: 'Filesystem', what: 'volume' } } as const;
  const parts = input({
    volume: { ...of, spec: logical },
    job: { known: { state: 'not-found' } },
    source,
  });
  expect(codeOf(decide(parts, NOW))).toBe('SourceOfOtherType' satisfies ReasonCode);
});

test('a Leftover with an invalid spec or an existing Volume is refused with a reason', () => {
  const leftover = leftoverOf(volume(available()));
  const wrong = { ...leftover, spec: { ...leftover.spec, nodeName: '-' } };
  const decided = (of: typeof leftover, owner?: ReturnType<typeof volume>) =>
    codeOf(decideLeftover(of, owner, input({ volume: volumeOf(of) }), NOW));
  const mark = { 'stowage.dev/forget-node': UID };
  const leaving = volume(available(), { ...deleted, annotations: mark });
  expect(decided(wrong)).toBe('LeftoverInvalid' satisfies ReasonCode);
  expect(decided(leftover, leaving)).toBe('LeftoverOwned' satisfies ReasonCode);
});

test('a reason has its attempt as parameter; the condition of a claim has only the code', () => {
  const failed = {
    state: 'failed',
    exit: 1,
    output: '/srv/x: no',
    step: { name: 's', command: "'x'" },
  } as const;
  const parts = copy({ job: failed, source: { from: undefined } as never });
  const { action } = decide(input(parts), NOW);
  const conditions = action?.do === 'set-status' ? (action.status.conditions ?? []) : [];
  expect(conditions.map(({ type, detail }) => [type, detail])).toEqual([
    [
      'Ready',
      { code: 'StepFailed', parameters: expect.objectContaining({ attempt: '1', exit: '1' }) },
    ],
    ['Provisioned', { code: 'StepFailed', parameters: {} }],
  ]);
});

function none() {
  return { found: undefined };
}

/** Returns the refusal of a job that was submitted by a version without reasons. */
function oldRefusal() {
  return { step: { name: 's', command: "'x'" }, refusal: 'no', output: '' };
}
