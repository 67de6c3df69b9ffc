import { describe, expect, test } from '@jest/globals';
import type { ReasonCode } from '../../../src/api/reasons.ts';
import type { DesiredLvm, ObservedLvm } from '../../../src/storage/types.ts';
import { BY_UUID, byMapper, dropLink, triggerUdev } from '../../support/link-words.ts';
import {
  begun,
  dm,
  ext4,
  GIB,
  group,
  intent,
  lv,
  lvmDesired,
  lvmMade,
  lvmNode,
  MIB,
  madeAs,
  madeIn,
  pool,
  thinLv,
} from '../../support/lvm-input.ts';
import { plan } from '../../support/lvm-words.ts';
import { writesTo } from '../../support/plans.ts';
import { UID } from '../../support/volume-input.ts';
import {
  away,
  blockOf,
  copy,
  deleting,
  foreign,
  inactive,
  keeping,
  others,
  outcome,
  UNMARKED,
  untagged,
  wiping,
} from './delete-outcome.ts';

const DEACTIVATE = 'lvchange --activate n vg0/data1';
const SELECT = `--yes --select lv_uuid=${lv.uuid}&&lv_tags={stowage.dev/uid=${UID}}&&lv_attr=~^[-VrRmMC]...-`;
const REMOVE = `lvremove ${SELECT} vg0/data1`;
const CLEAR = 'wipefs --all --force /dev/dm-3';
const ACTIVATE = 'lvchange --activate y --ignoreactivationskip vg0/data1';
const GONE = [DEACTIVATE, REMOVE, 'forget'];
const UNTAG = `lvchange --deltag stowage.dev/uid=${UID} vg0/data1`;

/** Commands that remove the rule for the persistent path, and udev's links. */
const DROP = dropLink('dm-3').filter((command) => command.startsWith('rm '));

describe('deletion with onDelete Retain', () => {
  test.each<[string, ObservedLvm, string[], DesiredLvm?]>([
    ['a provisioned volume', lvmMade(), [...DROP, UNTAG, 'forget'], keeping],
    ['provisioned by the node’s record only', lvmMade(), [...DROP, UNTAG, 'forget']],
    [
      'a volume in use',
      lvmMade(ext4, { mounts: new Map([['253:3', ['/a']]]) }),
      [...DROP, UNTAG, 'forget'],
      keeping,
    ],
    ['without its tag', madeAs({ tags: [] }), [...DROP, 'intent', 'forget'], keeping],
    [
      'the group is gone',
      lvmNode({ groups: [], recordFiles: true }),
      ['intent', 'forget'],
      keeping,
    ],
    [
      'a disk of the group is missing',
      madeIn({ partial: true }),
      [...DROP, 'intent', 'forget'],
      keeping,
    ],
    [
      'two logical volumes with its tag',
      lvmMade(ext4, { volumes: [copy, lv] }),
      [...DROP, 'intent', 'forget'],
    ],
    [
      'left mounted by an expansion',
      lvmMade(ext4, { mounts: new Map([['253:3', [`/run/stowage/mounts/${UID}`]]]) }),
      [
        `umount -- /run/stowage/mounts/${UID}`,
        `rmdir -- /run/stowage/mounts/${UID}`,
        ...DROP,
        UNTAG,
        'forget',
      ],
      keeping,
    ],
    ['from an earlier version', lvmMade(), [UNTAG, 'forget'], { ...keeping, earlierLink: BY_UUID }],
    [
      'from an earlier version, Block',
      lvmMade(foreign),
      [UNTAG, 'forget'],
      { ...blockOf(keeping), earlierLink: byMapper(dm.dmUuid) },
    ],
    ['Block', lvmMade(foreign), [...DROP, UNTAG, 'forget'], blockOf(keeping)],
    ['its path is missing', lvmMade(ext4, { link: undefined }), [UNTAG, 'forget'], keeping],
    ['the logical volume is gone', lvmMade(ext4, { volumes: [] }), ['forget'], keeping],
    ['never provisioned', lvmNode(), []],
    ['population canceled before it began', lvmNode({ recordFiles: true }), ['forget']],
    ['partly provisioned: removed despite Retain', begun(), GONE],
    ['partly provisioned, inactive', begun(dm, away), [REMOVE, 'forget']],
    ['partly provisioned, with foreign content in its extents', begun(foreign), GONE],
    [
      'another logical volume has its name',
      begun(dm, { volumes: [{ ...lv, tags: [] }] }),
      ['forget'],
    ],
    [
      'recorded for another Volume meanwhile',
      lvmMade(foreign, { ...UNMARKED, volumes: [untagged], others }),
      DROP,
      keeping,
    ],
    ['only its tag is left', lvmMade(ext4, UNMARKED), [UNTAG]],
    [
      'only its tag is left, on two logical volumes',
      lvmMade(ext4, { ...UNMARKED, volumes: [copy, lv] }),
      [],
    ],
    [
      'only its tag is left, in a group that lacks a disk',
      lvmMade(ext4, { ...UNMARKED, groups: [{ ...group, partial: true }] }),
      [],
    ],
    [
      'only the done record is left',
      lvmMade(ext4, { intent: undefined }),
      [...DROP, UNTAG, 'forget'],
    ],
  ])('plans only the needed commands: %s', (_, observed, commands, wanted = lvmDesired) => {
    expect(outcome(wanted, observed)).toEqual(commands);
    const made = plan('delete', wanted, observed, 0);
    expect('steps' in made && writesTo(made.steps)).toEqual([]);
  });
});

test.each<[string, ObservedLvm, string[]]>([
  ['to the logical volume', lvmMade(), dropLink('dm-3')],
  [
    'to another device',
    lvmMade(ext4, { devices: [{ ...dm, name: 'loop0', device: '7:0' }], link: '7:0' }),
    dropLink('loop0'),
  ],
  [
    'to a device that lsblk does not list',
    lvmMade(ext4, { link: '9:9' }),
    dropLink('x').filter((command) => command !== triggerUdev('x')),
  ],
])(
  'deletion with onDelete Retain removes the path that leads %s before the records',
  (_, observed, commands) => {
    const made = plan('delete', keeping, observed, 0);
    const all = 'steps' in made ? made.steps.map(({ argv }) => argv.join(' ')) : [];
    expect(all.slice(0, commands.length)).toEqual(commands);
  },
);

describe('deletion with onDelete Delete', () => {
  test.each<[string, ObservedLvm, string[], DesiredLvm?]>([
    ['a file system', lvmMade(), [CLEAR, ...GONE]],
    ['Block, with any content', lvmMade(foreign), [CLEAR, ...GONE], blockOf(deleting)],
    ['Block, without content', lvmMade(dm), GONE, blockOf(deleting)],
    ['the signature is already wiped', lvmMade(dm), GONE],
    ['thin: needs no wipe', lvmMade(ext4, { volumes: [thinLv] }), GONE],
    [
      'thin, inactive',
      lvmMade(ext4, { ...away, volumes: [{ ...inactive, kind: 'V', pool: 'pool' }] }),
      [ACTIVATE],
    ],
    [
      'thin, inactive, Block',
      lvmMade(dm, { ...away, volumes: [{ ...inactive, kind: 'V', pool: 'pool' }] }),
      [REMOVE, 'forget'],
      blockOf(deleting),
    ],
    ['a copy has its tag', lvmMade(ext4, { volumes: [copy, lv] }), [CLEAR, ...GONE]],
    ['inactive: activated to read its signature', lvmMade(ext4, away), [ACTIVATE]],
    ['gone', lvmMade(ext4, { volumes: [], target: { is: 'missing' } }), ['forget']],
    [
      'made by MetalK8s',
      madeAs({ tags: [] }),
      [`lvchange --addtag stowage.dev/uid=${UID} vg0/data1`, CLEAR, ...GONE],
    ],
    [
      'made by MetalK8s, without records: found by its file system',
      lvmMade(ext4, { ...UNMARKED, volumes: [{ ...lv, name: 'old', tags: [] }] }),
      [
        `lvchange --addtag stowage.dev/uid=${UID} vg0/old`,
        CLEAR,
        'lvchange --activate n vg0/old',
        `lvremove ${SELECT} vg0/old`,
      ],
    ],
    [
      'made by MetalK8s, Block, without records: found by its name',
      lvmMade(dm, { ...UNMARKED, volumes: [{ ...lv, tags: [] }] }),
      [`lvchange --addtag stowage.dev/uid=${UID} vg0/data1`, DEACTIVATE, REMOVE],
      blockOf(deleting),
    ],
    [
      'without its name or records: found by its tag',
      lvmMade(dm, { ...UNMARKED, volumes: [{ ...lv, name: 'old' }] }),
      ['lvchange --activate n vg0/old', `lvremove ${SELECT} vg0/old`],
      blockOf(deleting),
    ],
    [
      'partly provisioned, interrupted in mkfs',
      begun(ext4),
      [CLEAR, ...GONE],
      { ...lvmDesired, onDelete: 'Delete' },
    ],
    [
      'partly provisioned, thin',
      begun(ext4, { volumes: [thinLv, pool] }),
      GONE,
      { ...lvmDesired, onDelete: 'Delete' },
    ],
    ['already deleted', lvmNode(), []],
    [
      'renamed',
      madeAs({ name: 'old' }),
      [CLEAR, 'lvchange --activate n vg0/old', `lvremove ${SELECT} vg0/old`, 'forget'],
    ],
    ['converted to RAID', madeAs({ kind: 'r' }), [CLEAR, ...GONE]],
  ])('plans only the needed commands: %s', (_, observed, commands, wanted = deleting) => {
    expect(outcome(wanted, observed)).toEqual(commands);
  });

  test('verifies the logical volume before each step, and that nothing uses it', () => {
    const made = plan('delete', deleting, lvmMade(), 0);
    const steps = 'steps' in made ? made.steps : [];
    for (const program of ['lvchange', 'lvremove']) {
      const step = steps.find(({ argv }) => argv[0] === program);
      expect(step?.preconditions[0]).toMatchObject({
        argv: ['lvs', '--noheadings', '-o', 'lv_uuid', 'vg0/data1'],
        expect: { stdout: { has: `  ${lv.uuid}` } },
      });
    }
    expect(steps.find(({ argv }) => argv[0] === 'rm')?.preconditions).toMatchObject([
      { argv: ['lvs', '--noheadings', '-o', 'lv_uuid', '--select', `lv_uuid=${lv.uuid}`, 'vg0'] },
    ]);
    const looks = steps.flatMap(({ preconditions }) =>
      preconditions.map(({ argv }) => argv.join(' ')),
    );
    expect(looks).toContain('losetup -j /dev/dm-3');
    expect(looks).toContain('find /sys/class/block/dm-3/holders/ -mindepth 1');
    expect(
      steps.find(({ name }) => name === 'check that /dev/dm-3 is not open')?.preconditions,
    ).toHaveLength(1);
  });
});

describe('deletion with onDelete Wipe', () => {
  const parts = (wanted: DesiredLvm, observed: ObservedLvm) => {
    const found = outcome(wanted, observed);
    if (typeof found === 'string') return found;
    const zeros = found.filter((command) => command.startsWith('dd if=/dev/zero'));
    return [
      zeros.length,
      /seek=\d+/.exec(zeros[0] ?? '')?.[0],
      found.filter((command) => command.startsWith('blkdiscard')).length,
      ...found.slice(-3),
    ];
  };
  test.each<[string, ObservedLvm, unknown[], DesiredLvm?]>([
    ['from the first byte', lvmMade(), [16, 'seek=0', 0, ...GONE]],
    ['Block', lvmMade(foreign), [16, 'seek=0', 0, ...GONE], blockOf(wiping)],
    ['after the wiped part', lvmMade(dm, { wiped: 512n * MIB }), [8, 'seek=536870912', 0, ...GONE]],
    ['all parts are wiped', lvmMade(dm, { wiped: GIB }), [0, undefined, 0, ...GONE]],
    [
      'thin: each part is discarded',
      lvmMade(ext4, { volumes: [thinLv, pool] }),
      [16, 'seek=0', 16, ...GONE],
    ],
  ])('plans the remaining parts: %s', (_, observed, expected, wanted = wiping) => {
    expect(parts(wanted, observed)).toEqual(expected);
  });

  test.each<[string, object, RegExp, ReasonCode]>([
    [
      'without room for a part',
      { dataPercent: 97 },
      /^retryable: .*bytes left of .*needs 67108864 at a time$/,
      'ThinPoolFullToWipe',
    ],
    [
      'that is full',
      { health: 'D' },
      /^retryable: the thin pool vg0\/pool is out of space$/,
      'ThinPoolOutOfSpace',
    ],
    [
      'whose metadata are full',
      { metadataPercent: 95 },
      /^retryable: the metadata of the thin pool/,
      'ThinPoolMetadataFull',
    ],
  ])(
    'is refused in a thin pool %s, whose volumes would all lose writes',
    (_, more, refusal, code) => {
      const observed = lvmMade(ext4, { volumes: [thinLv, { ...pool, ...more }] });
      expect(outcome(wiping, observed)).toMatch(refusal);
      expect(plan('delete', wiping, observed, 0)).toMatchObject({ reason: { code } });
    },
  );

  test('verifies that the thin pool has space before each part', () => {
    const made = plan('delete', wiping, lvmMade(ext4, { volumes: [thinLv, pool] }), 0);
    const writes =
      'steps' in made ? made.steps.filter(({ argv }) => argv[1] === 'if=/dev/zero') : [];
    expect(writes).toHaveLength(16);
    for (const { preconditions } of writes)
      expect(preconditions[0]?.argv.join(' ')).toMatch(/data_percent<96\.88&&/);
  });

  test('removes an unfinished thin volume only if it cannot be activated', () => {
    const observed = begun(dm, {
      ...away,
      volumes: [{ ...thinLv, active: false, device: undefined }],
    });
    const made = plan('delete', { ...wiping, recorded: false }, observed, 0);
    const last = 'steps' in made ? made.steps.at(-1) : undefined;
    expect(last?.argv.join(' ')).toBe(REMOVE);
    expect(last?.preconditions.at(-1)).toMatchObject({
      argv: ACTIVATE.split(' '),
      expect: { exit: 5 },
    });
    expect(
      outcome(
        { ...wiping, recorded: false },
        begun(dm, { ...observed, intent: { ...intent, filling: true } }),
      ),
    ).toEqual([ACTIVATE]);
  });

  test('removes an inactive volume that is fully wiped', () => {
    expect(outcome(wiping, lvmMade(dm, { ...away, wiped: GIB }))).toEqual([REMOVE, 'forget']);
  });
});
