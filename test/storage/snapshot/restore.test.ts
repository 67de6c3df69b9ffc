import { describe, expect, test } from '@jest/globals';
import { plan } from '../../../src/storage/plan.ts';
import type {
  DesiredSparse,
  ObservedSparse,
  Source,
  SourceFacts,
} from '../../../src/storage/types.ts';
import { COPY, COPY_UID, RESTORED_UID, restored } from '../../support/snapshot-copy.ts';
import { FILE, freshNode, loop, loopRow, UID } from '../../support/volume-input.ts';

const facts: SourceFacts = {
  realPath: COPY,
  file: { type: 'file', sizeBytes: 1n << 30n, inode: '9' },
  signature: { found: 'one', type: 'ext4', uuid: COPY_UID },
  state: '1073741824|9|1.5',
  mayClone: true,
};
const fresh: ObservedSparse = { ...freshNode, realPath: restored.file, source: facts };
const gpt: Partial<SourceFacts> = {
  file: { type: 'file', sizeBytes: (1n << 30n) + (2n << 20n), inode: '9' },
  signature: { found: 'one', type: 'gpt', uuid: COPY_UID },
};

function prepare(
  desired: Partial<DesiredSparse>,
  source: Partial<SourceFacts>,
  observed: Partial<ObservedSparse> = {},
) {
  return plan(
    'provision',
    { ...restored, onDemand: true, ...desired },
    { ...fresh, ...observed, source: { ...facts, ...source } },
    5,
  );
}
const stepsOf = (made: ReturnType<typeof prepare>) => {
  if ('refusal' in made) throw new Error(made.refusal);
  return made.steps;
};
const from = (parts: Partial<Source>): Partial<DesiredSparse> => ({
  source: { ...(restored.source as Source), ...parts },
});

test.each<[string, Partial<DesiredSparse>, Partial<SourceFacts>, string, string]>([
  ['a file system', {}, {}, 'stowage-ext4-uuid', 'ext4'],
  [
    'a file system of another type than the class has',
    {},
    { signature: { found: 'one', type: 'xfs', uuid: COPY_UID } },
    'stowage-xfs-uuid',
    'xfs',
  ],
  [
    'a partition table',
    { mode: 'Block', fs: undefined, ...from({ mode: 'Block' }) },
    gpt,
    'sgdisk',
    '',
  ],
])(
  'a restore of %s copies the source and expands the copy to the requested size',
  (_, desired, source, identity, fsType) => {
    const steps = stepsOf(prepare(desired, source));
    const ran = steps.map(({ argv }) => (argv[0] === 'sh' ? argv[3] : argv[0]));
    expect(ran).toEqual([
      ...[
        'mkdir',
        'install',
        'dd',
        'mv',
        'sync',
        'rm',
        'cp',
        'truncate',
        identity,
        'sync',
        'mv',
        'sync',
      ],
      ...['dd', 'mv', 'sync'],
    ]);
    const intent = JSON.parse(steps.find(({ stdin }) => stdin?.startsWith('{'))?.stdin ?? '');
    expect(intent).toMatchObject({ sizeBytes: String(2n << 30n), fsType, uid: RESTORED_UID });
    expect(steps.at(-3)?.stdin).toBe(`${2n << 30n}\n`);
  },
);

test('a restore is retried while the source is missing', () => {
  const missing = { file: { type: 'missing' }, signature: { found: 'none' } } as const;
  expect(prepare({}, missing)).toMatchObject({ retryable: true });
});

test.each<[string, Partial<DesiredSparse>, Partial<SourceFacts>, RegExp]>([
  [
    'is missing',
    {},
    { file: { type: 'missing' }, signature: { found: 'none' } },
    /the source snapshot of data2, .*, is missing/,
  ],
  [
    'is no plain file',
    {},
    { file: { type: 'other' }, signature: { found: 'none' } },
    /but nothing was found/,
  ],
  ['holds nothing', {}, { signature: { found: 'none' } }, /but nothing was found/],
  [
    'has another UUID',
    {},
    { signature: { found: 'one', type: 'ext4', uuid: UID } },
    new RegExp(`but ext4 ${UID} was found`),
  ],
  [
    'has a file system that Stowage does not create',
    {},
    { signature: { found: 'one', type: 'btrfs', uuid: COPY_UID } },
    /but btrfs/,
  ],
  [
    'is of mode Block without a partition table',
    from({ mode: 'Block' }),
    {},
    /should contain a GPT/,
  ],
  [
    'has another mode',
    { mode: 'Block', fs: undefined },
    {},
    /requests mode Block, but the source snapshot .* has Filesystem/,
  ],
  ['is larger', { sizeBytes: 1n << 29n }, {}, /requests 536870912 bytes, but .* has 1073741824/],
])('a restore is refused if the source %s', (_, desired, source, why) => {
  const made = prepare(desired, source);
  expect('refusal' in made ? made.refusal : made.steps).toMatch(why);
});

test('a restore expands only a larger volume, and a partition only from a known start', () => {
  const words = stepsOf(prepare({ sizeBytes: 1n << 30n }, {})).map(({ argv }) => argv.join(' '));
  expect(words.filter((each) => /truncate|grow$/.test(each))).toEqual([]);
  const block = { mode: 'Block', fs: undefined, ...from({ mode: 'Block' }) } as const;
  const guids = `--partition-guid=1:${RESTORED_UID} --disk-guid=${RESTORED_UID} --change-name=1:data2 ${restored.file}.partial`;
  const same = stepsOf(prepare({ ...block, sizeBytes: 1n << 30n }, gpt)).find(
    ({ argv }) => argv[0] === 'sgdisk',
  );
  expect(same?.argv.join(' ')).toBe(`sgdisk ${guids}`);
  const larger = stepsOf(prepare(block, gpt)).find(({ argv }) => argv[0] === 'sgdisk');
  expect(larger?.argv.join(' ')).toBe(
    `sgdisk --move-second-header --delete=1 --new=1:2048:4196351 ${guids}`,
  );
  expect(larger?.preconditions.map(({ expect: { stdout } }) => stdout)).toContainEqual({
    has: 'First sector: 2048 (',
    lacks: 'does not exist',
  });
});

test('a restore verifies the source before the copy, and again before the rename', () => {
  const steps = stepsOf(prepare({}, {}));
  const preconditionsOf = (program: string) =>
    steps
      .findLast(({ argv }) => argv[0] === program && argv.includes(`${restored.file}.partial`))
      ?.preconditions.map(({ argv, expect: { stdout } }) => [argv.join(' '), stdout]);
  const state = [`stat -c %s|%i|%z -- ${COPY}`, { is: facts.state }];
  expect(preconditionsOf('cp')).toEqual(
    expect.arrayContaining([
      state,
      [`blkid -p -n ext4,xfs -o value -s UUID ${COPY}`, { is: COPY_UID }],
    ]),
  );
  expect(preconditionsOf('mv')).toEqual(
    expect.arrayContaining([
      state,
      [`blkid -p -n ext4,xfs -o value -s UUID ${restored.file}.partial`, { is: RESTORED_UID }],
    ]),
  );
});

test('a restore throws if the source was not observed', () => {
  const { source: _, ...unlooked } = fresh;
  expect(() => plan('provision', restored, unlooked, 5)).toThrow(`${COPY} was not observed`);
});

const clone = from({ what: 'volume', file: FILE });
const used = {
  realPath: FILE,
  signature: { found: 'one', type: 'ext4', uuid: UID } as const,
  file: { type: 'file', sizeBytes: 1n << 30n, inode: '42' } as const,
};
const mounted = { loops: [loop], devices: [loopRow], mounts: new Map([['7:3', ['/mnt']]]) };
test('a clone follows the same rules, and freezes a mounted source only if allowed', () => {
  expect(stepsOf(prepare(clone, used)).some(({ argv }) => argv[0] === 'cp')).toBe(true);
  const frozen = stepsOf(prepare(clone, used, mounted)).find(
    ({ argv }) => argv[3] === 'stowage-freeze',
  );
  expect(frozen?.argv.slice(5)).toEqual(['/mnt', '10', FILE, `${restored.file}.partial`, 'clone']);
  const refused = prepare(clone, { ...used, mayClone: false }, mounted);
  expect('refusal' in refused && refused.refusal).toMatch(/mounted at \/mnt.*cannot clone/);
  const allowed = from({ what: 'volume', file: FILE, freeze: { seconds: 30, copy: true } });
  const copied = stepsOf(prepare(allowed, { ...used, mayClone: false }, mounted)).find(
    ({ argv }) => argv[3] === 'stowage-freeze',
  );
  expect(copied?.argv.slice(6)).toEqual(['30', FILE, `${restored.file}.partial`, 'copy']);
});

describe('cloning a volume during its expansion', () => {
  const size = 2n << 30n;
  const grown = { ...used, file: { ...used.file, sizeBytes: size } };
  const madeFor = (madeBytes: bigint | undefined) => ({ ...grown, madeBytes });
  const growing = /\/6e1c2b1f-.* is larger than its content: it is being expanded/;

  test.each<[string, bigint]>([
    ['as large as its file', size],
    ['larger', 4n << 30n],
    ['between its old and new size', 3n << 29n],
  ])('is retried if the clone is to be %s', (_, sizeBytes) => {
    expect(prepare({ ...clone, sizeBytes }, madeFor(1n << 30n), mounted)).toEqual({
      refusal: expect.stringMatching(growing),
      hint: 'It is copied once it is expanded.',
      reason: expect.objectContaining({ code: 'CopiedFileGrowing' }),
      retryable: true,
    });
  });

  test('succeeds once the expansion is complete', () => {
    const words = stepsOf(prepare({ ...clone, sizeBytes: size }, madeFor(size))).map(
      ({ argv }) => argv,
    );
    expect(words.some(([program]) => program === 'cp')).toBe(true);
    // The copy needs no expansion.
    expect(words.filter((argv) => argv.includes('truncate') || argv.includes('grow'))).toEqual([]);
    const less = prepare({ ...clone, sizeBytes: size - 4096n }, madeFor(size));
    expect('refusal' in less && less).toMatchObject({
      refusal: expect.stringMatching(/has 2147483648/),
    });
    expect(less).not.toHaveProperty('retryable');
  });

  test.each(['ext4', 'xfs'])(
    'expands the %s of the clone if the source has no recorded size',
    (type) => {
      const source = {
        ...madeFor(undefined),
        signature: { found: 'one', type, uuid: UID } as const,
      };
      const steps = stepsOf(prepare({ ...clone, sizeBytes: size }, source));
      expect(steps.find(({ argv }) => argv[3] === `stowage-${type}-uuid`)?.argv.at(-1)).toBe(
        'grow',
      );
    },
  );

  const block = {
    ...from({ what: 'volume', file: FILE, mode: 'Block' }),
    mode: 'Block',
    fs: undefined,
  } as const;
  test('detects an expansion of a partition table by the record, not by free space', () => {
    const ofTable = (madeBytes: bigint | undefined) => ({
      ...gpt,
      realPath: FILE,
      signature: { found: 'one', type: 'gpt', uuid: UID } as const,
      madeBytes,
    });
    const wanted = { ...block, sizeBytes: 1n << 30n };
    expect(prepare(wanted, ofTable(1n << 29n))).toMatchObject({ retryable: true });
    for (const made of [1n << 30n, undefined]) {
      const table = stepsOf(prepare(wanted, ofTable(made))).find(
        ({ argv }) => argv[0] === 'sgdisk',
      );
      expect(table?.argv).not.toContain('--delete=1');
    }
  });

  test('does not affect a restore from a snapshot, which no longer grows', () => {
    const made = { file: { ...used.file, sizeBytes: size }, madeBytes: 1n << 30n };
    expect(prepare({}, made)).toHaveProperty('steps');
  });
});
