import { describe, expect, test } from '@jest/globals';
import { cancelFill } from '../../../src/storage/device.ts';
import { unfinishedTag } from '../../../src/storage/lvm/names.ts';
import type { DesiredLvm, ObservedLvm, VolumeOperation } from '../../../src/storage/types.ts';
import { LAST, LINK, ruleFor, settle, triggerUdev } from '../../support/link-words.ts';
import {
  asleep,
  begun,
  dm,
  ext4,
  GIB,
  intent,
  lv,
  lvmBlock,
  lvmDesired,
  lvmNode,
  pool,
  thin,
  thinLv,
} from '../../support/lvm-input.ts';
import { plan } from '../../support/lvm-words.ts';
import { commandsOf, may } from '../../support/sudoers.ts';
import { UID } from '../../support/volume-input.ts';

const fill = {
  builtin: 'Image',
  what: 'Image prod/debian',
  options: { source: '/images/debian' },
} as const;
const TAG = `stowage.dev/uid=${UID}`;
const UNFINISHED = unfinishedTag(UID);
const FINISH = `lvchange --deltag ${UNFINISHED} --addtag ${TAG} vg0/data1`;
const thick: DesiredLvm = { ...lvmDesired, fill };
const inPool: DesiredLvm = { ...thin, fill };
const block: DesiredLvm = { ...lvmBlock, fill };

/** Returns the commands without those for records, which every kind has. */
function outcome(
  wanted: DesiredLvm,
  observed: ObservedLvm,
  operation: VolumeOperation = 'provision',
) {
  const made = plan(operation, wanted, observed, 0);
  if ('refusal' in made) return `${made.retryable ? 'retryable: ' : ''}${made.refusal}`;
  return made.steps
    .map(({ argv }) => (argv[0] === 'sh' ? [argv[3], ...argv.slice(5)] : argv).join(' '))
    .filter((command) => !/^(install|mv|sync \/var|dd of=\/var)/.test(command))
    .map((command) =>
      command.replace(/^(lvcreate|lvremove|mkfs\S*) .*?(\S*stowage.dev\/[a-z]+|$).*/, '$1 $2'),
    );
}

const CREATED = `lvcreate stowage.dev/unfinished`;
const filled = (content: string, left: string) =>
  `stowage-image /dev/vg0/data1 ${UID} ${content} 0 ${GIB} ${left} raw auto - /images/debian`;
const SEEN = [triggerUdev('vg0/data1'), settle()];
/** The rule's commands without that for the rules' directory, which outcomes omit. */
const BY_NAME = ruleFor('ATTR{dm/name}=="vg0-data1"').slice(1);
const BY_UUID = ruleFor(`ATTR{dm/uuid}=="${dm.dmUuid}"`).slice(1);

describe('a populated logical volume', () => {
  test.each<[string, ObservedLvm, string[], DesiredLvm?]>([
    [
      'thick: all bytes are written before it gets its tag',
      lvmNode(),
      [
        ...BY_NAME,
        CREATED,
        'mkfs.ext4 ',
        'sync /dev/vg0/data1',
        filled('ext4', 'dirty'),
        'sync /dev/vg0/data1',
        FINISH,
        ...SEEN,
      ],
      thick,
    ],
    [
      'thin: unwritten extents read as zeros',
      lvmNode({ volumes: [pool], free: [] }),
      [
        ...BY_NAME,
        CREATED,
        'mkfs.ext4 ',
        'sync /dev/vg0/data1',
        filled('ext4', 'zeroes'),
        'sync /dev/vg0/data1',
        FINISH,
        ...SEEN,
      ],
    ],
    [
      'Block',
      lvmNode(),
      [
        ...ruleFor('ATTR{dm/name}=="vg0-data1"', LINK, LAST).slice(1),
        CREATED,
        filled('block', 'dirty'),
        'sync /dev/vg0/data1',
        FINISH,
        settle(),
      ],
      block,
    ],
    [
      'thin, in an inactive pool, which is activated first',
      lvmNode({ volumes: [asleep], free: [] }),
      [
        'lvchange --activate n vg0/pool_tmeta',
        'lvchange --activate n vg0/pool_tdata',
        'lvchange --activate y --ignoreactivationskip --select lv_attr=~^t vg0/pool',
      ],
    ],
  ])('is provisioned with the expected commands: %s', (_, observed, expected, wanted = inPool) => {
    expect(outcome(wanted, observed)).toEqual(expected);
  });

  const half = { ...lv, tags: [UNFINISHED] };
  const thinHalf = { ...thinLv, tags: [UNFINISHED] };
  const LEFT = ['lvchange --activate n vg0/data1', `stowage-lvm-uuid vg0/data1 ${UID} leave`];
  test.each<[string, ObservedLvm, string[] | string, DesiredLvm?]>([
    [
      'is removed with its signature',
      begun(ext4, { volumes: [half] }),
      [
        'true',
        'wipefs --all --force /dev/dm-3',
        ...LEFT,
        `lvremove lv_uuid=${lv.uuid}&&lv_tags={stowage.dev/unfinished`,
      ],
    ],
    [
      'is removed without a wipe if empty',
      begun(dm, { volumes: [half] }),
      ['true', ...LEFT, `lvremove lv_uuid=${lv.uuid}&&lv_tags={stowage.dev/unfinished`],
      block,
    ],
    [
      'is removed without a wipe if thin',
      begun(ext4, { volumes: [thinHalf, pool] }),
      ['true', ...LEFT, `lvremove lv_uuid=${lv.uuid}&&lv_tags={stowage.dev/unfinished`],
      inPool,
    ],
    [
      'is activated first if inactive after a reboot',
      begun(ext4, {
        volumes: [{ ...half, active: false, device: undefined }],
        target: { is: 'missing' },
      }),
      [...BY_UUID, 'lvchange --activate y --ignoreactivationskip vg0/data1', settle()],
    ],
    [
      'is kept while a program has it open',
      begun(ext4, { volumes: [{ ...half, open: true }] }),
      'retryable: the unfinished logical volume vg0/data1 (/dev/dm-3) is in use: a process has it open',
    ],
  ])('left by an earlier attempt %s', (_, observed, expected, wanted = thick) => {
    const made = outcome(wanted, observed);
    // Provisioning begins again in the same job, as attempts are counted.
    const node = lvmNode({
      intent: { ...intent, fsType: wanted.fs?.type ?? '' },
      volumes: wanted.thinPool === undefined ? [] : [pool],
    });
    const isGone =
      Array.isArray(expected) && expected.some((command) => command.startsWith('lvremove'));
    const again = isGone ? outcome(wanted, node) : [];
    expect(made).toEqual(Array.isArray(expected) ? [...expected, ...again] : expected);
    const goes = outcome({ ...wanted, fill: undefined, onDelete: 'Delete' }, observed, 'delete');
    // The records are removed with it.
    expect(typeof goes === 'string' ? goes : goes.filter((each) => !/^rm /.test(each))).toEqual(
      expected,
    );
  });

  test('is not written to again if it is complete but not recorded', () => {
    // Only the link is created.
    expect(outcome(thick, begun(ext4))).toEqual([...BY_UUID, triggerUdev('dm-3'), settle()]);
    expect(outcome(block, begun({ ...dm, content: 'gpt:of-the-image' }))).toContain(settle());
    expect(outcome(thick, begun(dm))).toContain('should contain a file system');
  });

  test('needs its full size in the thin pool, besides other unfinished volumes', () => {
    const full = { ...pool, dataPercent: 60 };
    const observed = lvmNode({ volumes: [full], free: [] });
    expect(outcome(thin, observed)).toContainEqual(expect.stringMatching(/^lvcreate/));
    expect(outcome(inPool, observed)).toMatch(
      /^retryable: the thin pool vg0\/pool has \d+ bytes left of \d+, and populating a volume may write all of its \d+$/,
    );
    const other = { ...thinHalf, name: 'data2', uuid: 'other', tags: [unfinishedTag('other')] };
    const beside = lvmNode({ volumes: [pool, other], free: [] });
    expect(outcome(inPool, beside)).toMatch(
      /may write all of its 1073741824, and other volumes that are being populated 1073741824$/,
    );
    expect(plan('provision', inPool, beside, 0)).toMatchObject({
      reason: { code: 'ThinPoolFullToFill', parameters: { bytes: '1073741824' } },
    });
    expect(
      outcome(
        inPool,
        lvmNode({ volumes: [pool, { ...other, tags: ['stowage.dev/uid=other'] }], free: [] }),
      ),
    ).toContain(CREATED);
  });

  test('is populated only while it is tagged as unfinished', () => {
    const made = plan('provision', thick, lvmNode({ intent }), 0);
    const step =
      'steps' in made
        ? made.steps.find(({ name }) => name.startsWith('populate the volume'))
        : undefined;
    expect(step?.preconditions.length).toBe(3);
    expect(step?.preconditions).toMatchObject([
      { argv: ['test', '!', '-e', expect.stringContaining('.done')] },
      {
        argv: expect.arrayContaining(['lv_tags']),
        expect: { stdout: { has: `  ${UNFINISHED}`, lacks: ',' } },
      },
      { argv: expect.arrayContaining(['lsblk']), expect: { stdout: { is: 'vg0-data1 lvm' } } },
    ]);
  });

  test('is written completely in a thin pool that does not zero blocks', () => {
    const node = lvmNode({ volumes: [{ ...pool, zeroes: false }], free: [] });
    expect(outcome({ ...inPool, mode: 'Block', fs: undefined }, node)).toContain(
      filled('block', 'dirty'),
    );
  });

  test('is refused if it contains data that no record explains', () => {
    const odd = {
      ...dm,
      content: 'gpt:of-whom',
      signature: { found: 'one', type: 'gpt', uuid: 'of-whom' },
    } as const;
    const refused =
      'the unfinished logical volume vg0/data1 (/dev/dm-3) contains gpt:of-whom, and no record shows that it was populated';
    for (const operation of ['provision', 'delete'] as const) {
      expect(plan(operation, block, begun(odd, { volumes: [half] }), 0)).toMatchObject({
        reason: { code: 'UnfinishedCarriesData' },
        refusal: refused,
      });
      expect(outcome(thick, begun(odd, { volumes: [half] }), operation)).toBe(refused);
      const filling = { ...intent, filling: true };
      expect(outcome(block, begun(odd, { volumes: [half], intent: filling }), operation)).toContain(
        'wipefs --all --force /dev/dm-3',
      );
    }
  });

  test('is cleared on deletion even if population was not recorded as complete', () => {
    const gpt = { ...dm, content: 'gpt:of-the-image' };
    const filling = { ...intent, filling: true };
    const plain = { ...block, fill: undefined, onDelete: 'Delete' } as const;
    expect(outcome(plain, begun(gpt, { intent: filling }), 'delete')).toContain(
      'wipefs --all --force /dev/dm-3',
    );
    const asleepLv = { ...lv, active: false, device: undefined };
    expect(
      outcome(
        plain,
        begun(gpt, { intent: filling, volumes: [asleepLv], target: { is: 'missing' } }),
        'delete',
      ),
    ).toContain('lvchange --activate y --ignoreactivationskip vg0/data1');
    for (const volumes of [[lv], [half]]) {
      const wiped = outcome(
        { ...plain, onDelete: 'Wipe' },
        begun(gpt, { intent: filling, volumes }),
        'delete',
      );
      expect(wiped).toContainEqual(expect.stringMatching(/^dd if=\/dev\/zero of=\/dev\/dm-3 /));
    }
  });

  test('is overwritten by Wipe in a thin pool only if its population had begun', () => {
    const wiped = { ...inPool, fill: undefined, onDelete: 'Wipe' } as const;
    const filling = { ...intent, filling: true };
    const WIPED = expect.stringMatching(/^dd if=\/dev\/zero of=\/dev\/dm-3 /);
    const volumes = [thinHalf, pool];
    expect(outcome(wiped, begun(ext4, { volumes, intent: filling }), 'delete')).toContainEqual(
      WIPED,
    );
    expect(outcome(wiped, begun(ext4, { volumes }), 'delete')).not.toContainEqual(WIPED);
    const asleepHalf = { ...thinHalf, active: false, device: undefined };
    const target = { is: 'missing' } as const;
    const away = begun(ext4, { volumes: [asleepHalf, pool], intent: filling, target });
    expect(outcome(wiped, away, 'delete')).toContain(
      'lvchange --activate y --ignoreactivationskip vg0/data1',
    );
    const stuck = { ...pool, suspended: true };
    expect(
      plan('delete', wiped, begun(ext4, { volumes: [thinHalf, stuck], intent: filling }), 0),
    ).toMatchObject({ reason: { code: 'ThinPoolSuspended' }, retryable: true });
    const full = { ...pool, dataPercent: 100 };
    expect(
      outcome(wiped, begun(ext4, { volumes: [thinHalf, full], intent: filling }), 'delete'),
    ).toMatch(
      /^retryable: the thin pool vg0\/pool has \d+ bytes left of \d+, and wiping a volume in it needs \d+ at a time$/,
    );
  });

  test('is refused in a shared volume group', () => {
    const observed = lvmNode();
    const [group] = observed.groups;
    if (group === undefined) throw new Error('no group');
    expect(outcome(thick, { ...observed, groups: [{ ...group, shared: true }] })).toContain('vg0');
  });

  test('has its population canceled by a file that sudoers allows', () => {
    const steps = cancelFill(thick);
    expect(steps.map(({ argv }) => argv.at(-1))).toEqual([
      `/var/lib/stowage/volumes/${UID}.cancel`,
    ]);
    expect(commandsOf(steps).filter((argv) => !may(argv))).toEqual([]);
  });
});
