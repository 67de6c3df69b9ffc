import { describe, expect, test } from '@jest/globals';
import { type ReasonCode, refuse } from '../../../src/api/reasons.ts';
import type { DesiredLvm, ObservedLvm } from '../../../src/storage/types.ts';
import {
  BY_UUID,
  byMapper,
  FIRST,
  LAST,
  LINK,
  ruleFor,
  SETTLE,
  settle,
  triggerUdev,
} from '../../support/link-words.ts';
import {
  dm,
  ext4,
  GIB,
  group,
  lv,
  lvmBlock,
  lvmDesired,
  lvmMade,
  lvmNode,
  madeAs,
  madeIn,
  pool,
  thin,
  thinLv,
} from '../../support/lvm-input.ts';
import { plan } from '../../support/lvm-words.ts';
import { writesTo } from '../../support/plans.ts';
import { UID } from '../../support/volume-input.ts';
import { outcome, recorded, UNMARKED, xfs } from './attach-outcome.ts';

const ACTIVATE = 'lvchange --activate y --ignoreactivationskip vg0/data1';
const KEY = `ATTR{dm/uuid}=="${dm.dmUuid}"`;
/** Returns the rule's commands without that for the rules' directory, which outcomes omit. */
const ruled = (...args: Parameters<typeof ruleFor>) => ruleFor(...args).slice(1);
const RULE = ruled(KEY);
const LOOK = triggerUdev('dm-3');
const inactive = { ...lv, active: false, device: undefined };

describe('attach of a logical volume', () => {
  test.each<[string, ObservedLvm, unknown, DesiredLvm?]>([
    ['already attached', lvmMade(), []],
    [
      'already attached, without records',
      lvmMade(ext4, { intent: undefined, done: undefined }),
      [],
    ],
    ['already attached, in a group that lacks another disk', madeIn({ partial: true }), []],
    [
      'after a reboot',
      lvmMade(dm, { volumes: [inactive], target: { is: 'missing' }, link: undefined }),
      [...RULE, ACTIVATE, settle()],
    ],
    [
      'after a reboot, Block',
      lvmMade(dm, { volumes: [inactive], target: { is: 'missing' }, link: undefined }),
      [...ruled(KEY, LINK, LAST), ACTIVATE, settle()],
      { ...recorded, mode: 'Block' },
    ],
    [
      'active, but without its link',
      lvmMade(ext4, { link: undefined }),
      ['lvchange --refresh vg0/data1', ...RULE, LOOK, settle()],
    ],
    [
      'in a suspended pool',
      lvmMade(ext4, { volumes: [thinLv, { ...pool, suspended: true }], target: { is: 'missing' } }),
      ['lvchange --refresh vg0/pool'],
    ],
    [
      'suspended',
      lvmMade(ext4, { volumes: [{ ...lv, suspended: true }], target: { is: 'missing' } }),
      ['lvchange --refresh vg0/data1'],
    ],
    [
      'with a device smaller than LVM reports',
      madeAs({ sizeBytes: 2n * GIB }),
      ['lvchange --refresh vg0/data1'],
    ],
    [
      'under another name',
      lvmMade(dm, {
        volumes: [{ ...inactive, name: 'old' }],
        target: { is: 'missing' },
        link: undefined,
      }),
      [...RULE, 'lvchange --activate y --ignoreactivationskip vg0/old', settle()],
    ],
    [
      'created by MetalK8s and recorded: gets its tag',
      lvmMade(ext4, {
        volumes: [{ ...lv, tags: [] }],
        intent: undefined,
        done: undefined,
        recordFiles: false,
      }),
      [`lvchange --addtag stowage.dev/uid=${UID} vg0/data1`],
    ],
    ...(['partial', 'shared', 'readOnly'] as const).map(
      (odd): [string, ObservedLvm, unknown, DesiredLvm?] => [
        `created by MetalK8s, in a group that is ${odd}: gets no tag`,
        lvmMade(ext4, {
          groups: [{ ...group, [odd]: true }],
          volumes: [{ ...lv, tags: [] }],
          intent: undefined,
          done: undefined,
        }),
        [],
      ],
    ),
    [
      'beside a copy with its tag',
      lvmMade(ext4, { volumes: [{ ...lv, uuid: 'B', name: 'b' }, lv] }),
      [],
    ],
    [
      'found by its UUID, without its name or tag',
      lvmMade(ext4, {
        volumes: [
          { ...lv, uuid: 'B' },
          { ...lv, name: 'old', tags: [] },
        ],
      }),
      [`lvchange --addtag stowage.dev/uid=${UID} vg0/old`],
    ],
    [
      'found only by its UUID: gets no tag, as a backup may have restored the status',
      lvmMade(dm, { ...UNMARKED, volumes: [{ ...lv, name: 'prod', tags: [] }] }),
      [],
      { ...recorded, mode: 'Block' },
    ],
    [
      'created by MetalK8s, known only by its name',
      lvmMade(ext4, {
        volumes: [{ ...lv, tags: [] }],
        intent: undefined,
        done: undefined,
        recordFiles: false,
      }),
      [],
      lvmDesired,
    ],
  ])('plans only the needed commands: %s', (_, observed, commands, wanted = recorded) => {
    expect(outcome(wanted, observed)).toEqual(commands);
  });

  test('never writes to the volume', () => {
    for (const observed of [
      lvmMade(),
      lvmMade(dm, { volumes: [inactive], target: { is: 'missing' } }),
    ]) {
      const made = plan('attach', recorded, observed, 0);
      expect('steps' in made ? writesTo(made.steps) : 'refused').toEqual([]);
    }
  });

  test('activates only the observed logical volume', () => {
    const observed = lvmMade(dm, { volumes: [inactive], target: { is: 'missing' } });
    const made = plan('attach', recorded, observed, 0);
    const activate =
      'steps' in made ? made.steps.find(({ argv }) => argv[1] === '--activate') : undefined;
    expect(activate?.preconditions).toEqual([
      {
        argv: ['lvs', '--noheadings', '-o', 'lv_uuid', 'vg0/data1'],
        expect: { exit: 0, stdout: { has: `  ${lv.uuid}`, lacks: '\t' } },
        ...refuse('LogicalVolumeChanged', { volume: 'vg0/data1' }),
      },
    ]);
  });
});

describe('attach of a lost or unexpected logical volume', () => {
  const missing = { volumes: [], target: { is: 'missing' } } as const;
  test.each<[string, ObservedLvm, RegExp, ReasonCode, DesiredLvm?]>([
    [
      'the group is missing',
      lvmNode({ groups: [] }),
      /^there is no volume group vg0 on the node$/,
      'VolumeGroupMissing',
    ],
    [
      'another group with its name',
      madeIn({ uuid: 'B' }),
      /is not the one of this Volume/,
      'VolumeGroupExchanged',
    ],
    ['exported', madeIn({ exported: true }), /is exported$/, 'VolumeGroupExported'],
    [
      'gone',
      lvmMade(ext4, missing),
      /^the logical volume vg0\/data1 is missing$/,
      'LogicalVolumeMissing',
    ],
    ['partial', madeAs({ health: 'p' }), /is missing$/, 'LogicalVolumePartial'],
    [
      'its pool failed',
      lvmMade(ext4, { volumes: [{ ...thinLv, health: 'F' }] }),
      /thin pool .* has failed$/,
      'ThinPoolOfVolumeFailed',
    ],
    [
      'its pool failed, but only the pool reports it',
      lvmMade(ext4, { volumes: [thinLv, { ...pool, health: 'F' }] }),
      /thin pool .* has failed$/,
      'ThinPoolOfVolumeFailed',
    ],
    [
      'another logical volume with its name',
      madeAs({ uuid: 'B', tags: [] }),
      /another logical volume/,
      'LogicalVolumeExchanged',
    ],
    [
      'another logical volume with its name, and the status is lost',
      madeAs({ uuid: 'B', tags: [] }),
      /another logical volume/,
      'LogicalVolumeExchanged',
      lvmDesired,
    ],
    [
      'a copy with its tag',
      madeAs({ uuid: 'B' }),
      /another logical volume/,
      'LogicalVolumeExchanged',
    ],
    ...['t', 's', 'd'].map((kind): [string, ObservedLvm, RegExp, ReasonCode, DesiredLvm?] => [
      `a logical volume of type ${kind} with its name`,
      lvmMade(dm, { volumes: [{ ...lv, kind, tags: [] }], intent: undefined, done: undefined }),
      /cannot hold the data of a Volume: lvs shows it as/,
      'LogicalVolumeHoldsNoData',
      lvmBlock,
    ]),
    [
      'two logical volumes with its tag, and the status is lost',
      lvmMade(ext4, { volumes: [lv, { ...lv, uuid: 'B', name: 'b' }] }),
      /^several logical volumes have the tag/,
      'TagOnSeveral',
      lvmDesired,
    ],
    [
      'without a device',
      lvmMade(ext4, { target: { is: 'missing' } }),
      /has no device/,
      'LogicalVolumeWithoutDevice',
    ],
    [
      'other content',
      lvmMade({ ...xfs, signature: { found: 'ambivalent' } }),
      /should contain/,
      'MadeContentMissing',
    ],
    [
      'no udev',
      lvmMade(ext4, { udev: false, link: undefined }),
      /^udev is not running/,
      'UdevAbsent',
    ],
  ])('is refused: %s', (_, observed, refusal, code, wanted = recorded) => {
    expect(outcome(wanted, observed)).toMatch(refusal);
    expect(plan('attach', wanted, observed, 0)).toMatchObject({ reason: { code } });
  });
});

describe('a volume of an earlier version', () => {
  const away = lvmMade(dm, { volumes: [inactive], target: { is: 'missing' }, link: undefined });
  const block: DesiredLvm = { ...recorded, mode: 'Block', earlierLink: byMapper(dm.dmUuid) };
  test.each<[string, ObservedLvm, string[], Partial<DesiredLvm>?]>([
    ['already attached', lvmMade(), []],
    ['after a reboot', away, [...ruled(KEY, BY_UUID, FIRST), ACTIVATE, settle(BY_UUID)]],
    [
      'active, but without its link',
      lvmMade(ext4, { link: undefined }),
      ['lvchange --refresh vg0/data1', ...ruled(KEY, BY_UUID, FIRST), LOOK, settle(BY_UUID)],
    ],
    ['already attached, Block', lvmMade(dm), [], block],
    // udev has a rule for it, by device-mapper's UUID.
    ['after a reboot, Block', away, [ACTIVATE, settle(byMapper(dm.dmUuid))], block],
    [
      'active, but without its link, Block',
      lvmMade(dm, { link: undefined }),
      ['lvchange --refresh vg0/data1', LOOK, settle(byMapper(dm.dmUuid))],
      block,
    ],
  ])('keeps its path: %s', (_, observed, commands, wanted = { earlierLink: BY_UUID }) => {
    expect(outcome({ ...recorded, ...wanted }, observed)).toEqual(commands);
  });
});

describe('a persistent path that leads to another device', () => {
  const other = { ...dm, name: 'sdz', device: '65:16', type: 'disk' };
  const strayed = (observed: ObservedLvm): ObservedLvm => ({
    ...observed,
    devices: [...observed.devices, other],
    link: other.device,
  });
  const away = strayed(lvmMade(dm, { volumes: [inactive], target: { is: 'missing' } }));
  const elsewhere = "leads to /dev/sdz, not to the volume's device /dev/dm-3";
  const REFRESH = 'lvchange --refresh vg0/data1';
  test.each<[string, ObservedLvm, Partial<DesiredLvm>, string, string[]]>([
    ['active', strayed(lvmMade()), {}, `${LINK} ${elsewhere}`, [REFRESH, ...RULE, LOOK, SETTLE]],
    [
      'active, Block',
      strayed(lvmMade(dm)),
      { mode: 'Block' },
      `${LINK} ${elsewhere}`,
      [REFRESH, ...ruled(KEY, LINK, LAST), LOOK, SETTLE],
    ],
    [
      'active, of an earlier version, beside a device with its UUID',
      strayed(lvmMade()),
      { earlierLink: BY_UUID },
      `${BY_UUID} ${elsewhere}`,
      [REFRESH, ...ruled(KEY, BY_UUID, FIRST), LOOK, SETTLE],
    ],
    [
      'active, of an earlier version, Block',
      strayed(lvmMade(dm)),
      { mode: 'Block', earlierLink: byMapper(dm.dmUuid) },
      `${byMapper(dm.dmUuid)} ${elsewhere}`,
      [REFRESH, LOOK, SETTLE],
    ],
    [
      'inactive',
      away,
      {},
      `${LINK} leads to /dev/sdz, and the volume has no device`,
      [...RULE, ACTIVATE, SETTLE],
    ],
    [
      'inactive, of an earlier version, beside a device with its UUID',
      away,
      { earlierLink: BY_UUID },
      `${BY_UUID} leads to /dev/sdz, and the volume has no device`,
      [...ruled(KEY, BY_UUID, FIRST), ACTIVATE, SETTLE],
    ],
  ])('is reported and repaired: %s', (_, observed, wanted, astray, commands) => {
    expect(plan('attach', { ...recorded, ...wanted }, observed, 0)).toMatchObject({ astray });
    expect(outcome({ ...recorded, ...wanted }, observed)).toEqual(commands);
  });

  test('is not reported for a path that leads to the device or is missing', () => {
    for (const observed of [lvmMade(), lvmMade(ext4, { link: undefined })]) {
      expect(plan('attach', recorded, observed, 0)).not.toHaveProperty('astray');
    }
  });
});

test.each([
  ['D', 'is out of space', 'lvextend -L \\+SIZE vg0/pool'],
  ['M', 'has read-only metadata', 'lvmthin'],
])('an attach notes that a thin pool has the health %s', (health, what, help) => {
  const wanted = { ...thin, recorded: true, identity: dm.identity };
  expect(outcome(wanted, lvmMade(ext4, { volumes: [thinLv, { ...pool, health }] }))).toEqual({
    commands: [],
    notes: [expect.stringMatching(new RegExp(`^the thin pool vg0/pool ${what}, .*${help}`))],
  });
});

test('an attach notes nothing about an overcommitted thin pool', () => {
  const others = [thinLv, { ...thinLv, name: 'b', tags: [], sizeBytes: 2n * GIB }];
  const wanted = { ...thin, recorded: true, identity: dm.identity };
  expect(outcome(wanted, lvmMade(ext4, { volumes: [...others, pool] }))).toEqual([]);
  expect(outcome({ ...lvmBlock, recorded: true }, lvmMade(dm))).toEqual([]);
});
