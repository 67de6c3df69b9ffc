import { expect, test } from '@jest/globals';
import { planSnapshot } from '../../../src/storage/snapshot/plan.ts';
import type { DesiredSnapshot, ObservedSnapshot } from '../../../src/storage/snapshot/types.ts';
import type { BlockDevice, DesiredSparse, Plan } from '../../../src/storage/types.ts';
import { FakeNode } from '../../support/fake-node.ts';
import { COPY, COPY_UID, snapshotted, uncopied, wantedCopy } from '../../support/snapshot-copy.ts';
import { FILE, loop, loopRow, UID, unmounted } from '../../support/volume-input.ts';

const POINT = '/var/lib/kubelet/plugins/kubernetes.io/local-volume/mounts/data1';
type Parts = Partial<ObservedSnapshot['volume']>;
const withVolume = (parts: Parts, more: Partial<ObservedSnapshot> = {}): ObservedSnapshot => ({
  ...uncopied,
  ...more,
  volume: { ...uncopied.volume, ...parts },
});
const attached = { loops: [loop] };
const mounted = { ...attached, mounts: new Map([['7:3', [POINT]]]) };
const source = (parts: Partial<ObservedSnapshot['source']>) => ({
  source: { ...uncopied.source, ...parts },
});
const cannot = source({ mayClone: false });
const gpt = { found: 'one', type: 'gpt', uuid: UID } as const;
const block = withVolume({ signature: gpt }, source({ signature: gpt }));
const part: BlockDevice = {
  ...loopRow,
  name: 'loop3p1',
  device: '259:1',
  parent: 'loop3',
  type: 'part',
};

const steps = (made: Plan) => {
  if ('refusal' in made) throw new Error(made.refusal);
  return made.steps;
};
const take = (observed: ObservedSnapshot, more: Partial<DesiredSnapshot> = {}) =>
  planSnapshot('take', { ...wantedCopy, ...more }, observed);
const programs = (made: Plan) =>
  steps(made).map(({ argv }) => (argv[0] === 'sh' ? argv[3] : argv[0]));

test.each<[string, ObservedSnapshot, Partial<DesiredSnapshot>, string[]]>([
  ['detached', uncopied, {}, ['cp', 'stowage-ext4-uuid']],
  ['attached and not in use', withVolume(attached), {}, ['cp', 'stowage-ext4-uuid']],
  ['mounted', withVolume(mounted), {}, ['stowage-freeze', 'stowage-ext4-uuid']],
  ['in mode Block', block, { volume: { ...snapshotted, mode: 'Block' } }, ['cp', 'sgdisk']],
  [
    'an xfs',
    withVolume({}, source({ signature: { found: 'one', type: 'xfs', uuid: UID } })),
    {},
    ['cp', 'stowage-xfs-uuid'],
  ],
])(
  'a volume that is %s is copied to a partial file, which is renamed last',
  (_, observed, more, how) => {
    expect(programs(take(observed, more))).toEqual([
      'mkdir',
      'sync',
      'rm',
      ...how,
      'sync',
      'mv',
      'sync',
    ]);
  },
);

test.each<[string, ObservedSnapshot, DesiredSnapshot['freeze'], string]>([
  [
    'for a clone',
    withVolume(mounted),
    { seconds: 60, copy: false },
    `10 ${FILE} ${COPY}.partial clone`,
  ],
  [
    'for a shorter time',
    withVolume(mounted),
    { seconds: 3, copy: false },
    `3 ${FILE} ${COPY}.partial clone`,
  ],
  [
    'for a copy',
    withVolume(mounted, cannot),
    { seconds: 60, copy: true },
    `60 ${FILE} ${COPY}.partial copy`,
  ],
])(
  'a mounted volume is frozen %s, and paths are passed only as arguments',
  (_, observed, freeze, words) => {
    const step = steps(take(observed, { freeze })).find(({ argv }) => argv[3] === 'stowage-freeze');
    expect(step?.argv.slice(5).join(' ')).toBe(`${POINT} ${words}`);
    expect(`${step?.argv[2]}${step?.argv[4]}`).not.toContain(FILE);
  },
);

test('the GUIDs of a copied table and of its partition are verified before the rename', () => {
  const rename = steps(take(block, { volume: { ...snapshotted, mode: 'Block' } })).find(
    ({ argv }) => argv[0] === 'mv',
  );
  const read = rename?.preconditions.map(({ argv, expect: { stdout } }) => [
    argv.join(' '),
    stdout,
  ]);
  expect(read).toEqual(
    expect.arrayContaining([
      [`blkid -p -n ext4,xfs -o value -s PTUUID ${COPY}.partial`, { is: COPY_UID }],
      [
        `sgdisk --info=1 ${COPY}.partial`,
        { has: `unique GUID: ${COPY_UID.toUpperCase()}`, lacks: 'does not exist' },
      ],
    ]),
  );
});

const odd = (parts: Partial<typeof loop>) => withVolume({ loops: [{ ...loop, ...parts }] });
test.each<[string, ObservedSnapshot, Partial<DesiredSparse>, RegExp]>([
  [
    'mounted, and its directory cannot clone',
    withVolume(mounted, cannot),
    {},
    new RegExp(`^/dev/loop3 is mounted at ${POINT}.*cannot clone`),
  ],
  [
    'missing',
    withVolume({ file: { type: 'missing' } }, source({ file: { type: 'missing' } })),
    {},
    /data1.*is missing/,
  ],
  [
    'overwritten',
    withVolume({ signature: { found: 'none' } }),
    {},
    /should contain a file system .* but nothing was found/,
  ],
  ['shared by nodes', uncopied, { shared: true }, /several nodes share/],
  ['being expanded', withVolume({ done: { sizeBytes: 1n << 20n } }), {}, /is being expanded/],
  [
    'attached twice',
    withVolume({ loops: [loop, { ...loop, name: 'loop4' }] }),
    {},
    /attached more than once/,
  ],
  ['replaced under its device', odd({ backingInode: '7' }), {}, /earlier file/],
  ['about to be detached', odd({ autoclear: true }), {}, /was detached while in use/],
  [
    'held by a stacked loop',
    withVolume({ loops: [loop, { ...loop, name: 'loop4', backingFile: '/dev/loop3' }] }),
    {},
    /held by \/dev\/loop4/,
  ],
  ['swap', withVolume({ ...attached, swaps: ['/dev/loop3'] }), {}, /it is swap/],
  [
    'in a pod elsewhere',
    withVolume({ kubeletFolders: ['/k/pods/1/volumes/x/data1'] }),
    {},
    /the kubelet has/,
  ],
  [
    'mounted where sudo cannot follow',
    withVolume({ ...attached, mounts: new Map([['7:3', ['/a\\040b']]]) }),
    {},
    /mounted at/,
  ],
  [
    'in mode Block, and in use',
    {
      ...block,
      volume: {
        ...block.volume,
        ...attached,
        devices: [loopRow, part],
        mounts: new Map([['259:1', ['/m']]]),
      },
    },
    { mode: 'Block' },
    /loop3p1 is in use: mounted at \/m/,
  ],
])('a copy of a volume that is %s is refused', (_, observed, more, why) => {
  const made = take(observed, { volume: { ...snapshotted, ...more } });
  expect('refusal' in made ? made.refusal : made.steps).toMatch(why);
});

const file = { type: 'file', sizeBytes: 1n << 30n, inode: '9' } as const;
test('an existing copy is complete, even if its volume is gone', () => {
  const own = { found: 'one', type: 'ext4', uuid: COPY_UID } as const;
  const there = withVolume({ file: { type: 'missing' } }, { copy: file, signature: own });
  expect(take(there)).toEqual({ steps: [] });
  expect(programs(take({ ...there, partial: file }))).toEqual(['rm']);
});

test.each<['take' | 'delete', ObservedSnapshot]>([
  ['take', { ...withVolume(mounted), freezeIsLeft: true }],
  [
    'take',
    {
      ...uncopied,
      copy: file,
      signature: { ...gpt, type: 'ext4', uuid: COPY_UID },
      freezeIsLeft: true,
    },
  ],
  ['delete', { ...uncopied, copy: file, freezeIsLeft: true }],
  ['delete', { ...uncopied, freezeIsLeft: true }],
])('a volume that was left frozen is thawed first, on %s', (operation, observed) => {
  const [first, ...rest] = steps(planSnapshot(operation, wantedCopy, observed));
  expect(first?.argv.slice(3).with(1, '')).toEqual([
    'stowage-freeze',
    '',
    'thaw',
    `${COPY}.partial`,
  ]);
  const without = planSnapshot(operation, wantedCopy, { ...observed, freezeIsLeft: false });
  expect(rest).toEqual(steps(without));
});

test('a volume that was left frozen is thawed even if the copy is refused', () => {
  const observed = { ...withVolume(mounted, cannot), freezeIsLeft: true };
  expect(programs(take(observed))).toEqual(['stowage-freeze']);
});

test.each<[string, Partial<ObservedSnapshot>]>([
  ['something else', { copy: file, signature: { found: 'one', type: 'ext4', uuid: UID } }],
  ['nothing', { copy: file }],
  ['no plain file', { copy: { type: 'other' } }],
])('%s in place of a complete copy is refused', (_, parts) => {
  const made = take({ ...uncopied, ...parts });
  expect('refusal' in made && made.refusal).toMatch(/should contain the copy/);
});

test('a copy is deleted by its path without the volume, and only as a plain file', () => {
  const alone = withVolume({ file: { type: 'missing' } }, { copy: file, partial: file });
  expect(
    steps(planSnapshot('delete', wantedCopy, alone)).map(({ argv }) => argv.join(' ')),
  ).toEqual([
    `rm -f -- ${COPY}.partial`,
    `rm -f -- ${COPY}`,
    `sync ${COPY.replace(`/${COPY_UID}`, '')}`,
  ]);
  expect(planSnapshot('delete', wantedCopy, uncopied)).toEqual({ steps: [] });
  expect(
    planSnapshot('delete', wantedCopy, { ...uncopied, copy: { type: 'other' } }),
  ).toHaveProperty('refusal');
});

test('a deletion is retried while the directory is not mounted and the copy not found', () => {
  const away = withVolume({ directory: unmounted });
  expect(planSnapshot('delete', wantedCopy, away)).toMatchObject({
    reason: { code: 'DirectoryNotMounted' },
    retryable: true,
  });
  expect(steps(planSnapshot('delete', wantedCopy, { ...away, copy: file }))).toHaveLength(2);
});

test('a device that a UUID change left attached is detached first, unless it is in use', () => {
  const stale = { ...loop, name: 'loop8', device: '7:8', backingFile: `${COPY}.partial` };
  const place = `/run/stowage/mounts/${COPY_UID}`;
  const left = (mounts: Map<string, string[]>) =>
    withVolume({ loops: [stale], mounts }, { partial: file });
  expect(programs(take(left(new Map([['7:8', [place]]])))).slice(0, 3)).toEqual([
    'umount',
    'rmdir',
    'losetup',
  ]);
  expect(programs(take(left(new Map()))).slice(0, 2)).toEqual(['losetup', 'mkdir']);
  // The device may have been mounted since the observation.
  expect(steps(take(left(new Map())))[0]?.preconditions).toContainEqual(
    expect.objectContaining({ refusal: '/dev/loop8 is in use: it is mounted' }),
  );
  for (const operation of ['take', 'delete'] as const) {
    const made = planSnapshot(operation, wantedCopy, left(new Map([['7:8', ['/mnt']]])));
    expect('refusal' in made && made.refusal).toMatch(/loop8 is in use: mounted at \/mnt/);
  }
});

test.each([
  [
    'is written to',
    (on: FakeNode) => Object.assign(on.files.get(FILE) ?? {}, { changes: 9 }),
    /was written to while it was being copied/,
  ],
  [
    'is exchanged',
    (on: FakeNode) => Object.assign(on.files.get(FILE) ?? {}, { inode: 99 }),
    /was written to while/,
  ],
  [
    'gets another copy',
    (on: FakeNode) => on.files.set(COPY, { uuid: 'x', inode: 8, sizeBytes: 1n }),
    /appeared meanwhile/,
  ],
  [
    'gets a copy without a UUID of its own',
    (on: FakeNode) => Object.assign(on.files.get(`${COPY}.partial`) ?? {}, { uuid: UID }),
    new RegExp(`does not have the UUID ${COPY_UID}`),
  ],
  [
    'gets a copy that is still attached',
    (on: FakeNode) =>
      on.loops.set(5, {
        file: `${COPY}.partial`,
        inode: on.files.get(`${COPY}.partial`)?.inode ?? 0,
      }),
    /is still attached/,
  ],
])('a copy is not renamed if the volume %s meanwhile', (_, meanwhile, why) => {
  const on = new FakeNode();
  on.files.set(FILE, { uuid: UID, inode: 42, sizeBytes: 1n << 30n });
  const planned = steps(take(on.observeSnapshot(wantedCopy)));
  const rename = planned.findIndex(({ argv }) => argv[0] === 'mv');
  on.run(planned.slice(0, rename));
  meanwhile(on);
  expect(() => on.run(planned.slice(rename))).toThrow(why);
});

test('a copy is not begun of a volume that was written to or is in use', () => {
  const on = new FakeNode();
  on.files.set(FILE, { uuid: UID, inode: 42, sizeBytes: 1n << 30n });
  on.loops.set(3, { file: FILE, inode: 42 });
  const planned = steps(take(on.observeSnapshot(wantedCopy)));
  on.mounts.set('/mnt', 3);
  expect(() => on.run(planned)).toThrow('is in use: it is mounted');
  on.mounts.clear();
  Object.assign(on.files.get(FILE) ?? {}, { changes: 9 });
  expect(() => on.run(planned)).toThrow('was written to while it was being copied');
});
