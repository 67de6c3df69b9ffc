import { describe, expect, test } from '@jest/globals';
import type { Volume, VolumeSpec, VolumeStatus } from '../../../src/api/volume.ts';
import { decide } from '../../../src/controllers/volume/decide.ts';
import { decideLeftover } from '../../../src/controllers/volume/decide-leftover.ts';
import { leftoverOf, leftoverProblem, volumeOf } from '../../../src/controllers/volume/leftover.ts';
import type { Input } from '../../../src/controllers/volume/types.ts';
import { desiredOf } from '../../../src/model/desired-volume.ts';
import { presenceOf } from '../../../src/storage/device.ts';
import { plan } from '../../../src/storage/plan.ts';
import {
  available,
  creationFailed,
  deleted,
  isAvailable,
  notAttached,
  outcome,
  pathAstray,
  pending,
  preparing,
  removing,
  summary,
  terminating,
  unavailable,
} from '../../support/decisions.ts';
import { dropLink, LINK } from '../../support/link-words.ts';
import {
  begun,
  dm,
  ext4,
  free,
  lv,
  lvmMade,
  lvmNode,
  madeAs,
  madeIn,
  pool,
  thinLv,
} from '../../support/lvm-input.ts';
import { input, pv, volume } from '../../support/volume-input.ts';

/** Returns a Volume on LVM, to which the same charts apply as to others. */

const onLvm = (
  more: object,
  spec: Partial<VolumeSpec>,
  made: VolumeStatus,
  metadata = {},
): Volume => {
  const { sparseLoopDevice: _, ...rest } = volume().spec;
  const whole = volume(made, metadata);
  return {
    ...whole,
    spec: { ...rest, ...spec, lvmLogicalVolume: { vgName: 'vg0', size: '1Gi', ...more } },
  };
};
const prepared = { node: 'n1', paths: ['/dev/vg0/data1'], identity: dm.identity };
const ready = { ...available(), prepared };
const known = { state: 'not-found' } as const;

describe('provisioning a logical volume', () => {
  const begins = onLvm({}, {}, pending('PrepareVolume/1'));
  test('submits a job', () => {
    const parts = { volume: begins, job: { known }, observation: { known: lvmNode() } };
    expect(outcome(parts)).toEqual(['submit', expect.any(Number), 0]);
  });

  test('records the device, measured size, path and identity', () => {
    const parts = {
      volume: begins,
      job: { known },
      observation: { known: lvmMade() },
      forgotten: true,
    };
    const { action } = decide(input(parts), 0);
    expect(action).toMatchObject({
      do: 'set-status',
      status: {
        job: 'PrepareVolume/DONE',
        deviceName: 'dm-3',
        devicePath: LINK,
        capacity: '1Gi',
        prepared,
      },
    });
  });

  test('uses the same kind of path in mode Block', () => {
    const block = { ...begins, spec: { ...begins.spec, mode: 'Block' as const } };
    const parts = {
      volume: block,
      job: { known },
      observation: { known: lvmMade(dm) },
      forgotten: true,
    };
    expect(decide(input(parts), 0).action).toMatchObject({
      status: { devicePath: LINK, prepared },
    });
  });

  test('fails for data in free extents that MetalK8s’s annotation does not name', () => {
    const dirty = lvmNode({ free: [{ ...free, content: 'ext4:OLD' }] });
    const annotations = { 'metalk8s.scality.com/force-lvcreate': '' };
    const forced = onLvm({}, {}, pending('PrepareVolume/1'), { annotations });
    // The provisioner may then select another node.
    expect(outcome({ volume: forced, job: { known }, observation: { known: dirty } })).toEqual(
      creationFailed(
        1,
        /contain ext4:OLD .*force-lvcreate does not name .* set spec\.overwrite \(--overwrite\) to "ext4:OLD"/,
      ).with(3, 'FreeExtentsCarryData'),
    );
  });

  test('waits for a volume group that disappears meanwhile', () => {
    const parts = {
      volume: begins,
      job: { known },
      observation: { known: begun(dm, { groups: [] }) },
    };
    expect(outcome(parts)).toEqual(preparing(1, /no volume group vg0/));
  });
});

describe('a provisioned logical volume', () => {
  const there = onLvm({}, {}, ready);
  test.each([
    ['the group is missing', lvmNode({ groups: [] })],
    ['the logical volume is gone', lvmNode({ recordFiles: true })],
    ['another group has its name', madeIn({ uuid: 'B' })],
  ])('is Failed with a reason, and no job runs: %s', (_, observed) => {
    expect(outcome({ volume: there, pv: pv('Bound'), observation: { known: observed } })).toEqual(
      unavailable(/vg0/),
    );
  });

  test('waits to be attached if it is inactive after a reboot', () => {
    const inactive = lvmMade(dm, {
      volumes: [{ ...lv, active: false, device: undefined }],
      target: { is: 'missing' },
      link: undefined,
    });
    expect(outcome({ volume: there, pv: pv('Bound'), observation: { known: inactive } })).toEqual(
      notAttached('the device is not attached on node n1; attaching'),
    );
  });

  test('reports a path that leads to another device while it is in use', () => {
    const other = { ...dm, name: 'dm-9', device: '253:9' };
    const observed = lvmMade(ext4, { devices: [ext4, other], link: other.device });
    expect(outcome({ volume: there, pv: pv('Bound'), observation: { known: observed } })).toEqual(
      pathAstray(
        `${LINK} leads to /dev/dm-9, not to the volume's device /dev/dm-3; a pod that starts now may get that device. Attaching the volume again corrects it`,
      ),
    );
  });

  test('stays Available and reports why it cannot be expanded', () => {
    const larger = onLvm({ size: '2Gi' }, {}, ready);
    const full = madeIn({ freeExtents: 0n });
    expect(outcome({ volume: larger, pv: pv('Bound'), observation: { known: full } })).toEqual(
      isAvailable(
        'cannot expand to 2147483648 bytes: the volume group vg0 has 0 bytes left, and 1073741824 more are needed',
      ),
    );
    const room = lvmMade(ext4, { free: [free] });
    expect(outcome({ volume: larger, pv: pv('Bound'), observation: { known: room } })).toEqual([
      'Available',
      'GrowVolume/1',
      'True',
      'Available',
      'expanding to 2Gi',
    ]);
  });

  test('reports nothing about an overcommitted thin pool, whose sum changes with each volume', () => {
    const thin = onLvm({ thinPool: 'pool', size: '1Gi' }, {}, ready);
    const promised = lvmMade(ext4, { volumes: [thinLv, { ...pool, sizeBytes: 1n << 29n }] });
    expect(outcome({ volume: thin, pv: pv('Bound'), observation: { known: promised } })).toEqual(
      isAvailable(''),
    );
  });
});

describe('deleting a logical volume', () => {
  const going = (spec: Partial<VolumeSpec>) =>
    onLvm({}, spec, terminating('UnprepareVolume/1', { prepared }), deleted);
  test('keeps the data by default (Retain)', () => {
    const parts = { volume: going({}), job: { known }, observation: { known: lvmMade() } };
    const { action } = decide(input(parts), 0);
    const commands = action?.do === 'submit' ? action.steps.map(({ argv }) => argv) : [];
    // Except the persistent path, which is removed first.
    const dropped = dropLink('dm-3');
    expect(commands.slice(0, dropped.length).map((argv) => argv.join(' '))).toEqual(dropped);
    expect(commands.slice(dropped.length).map(([program]) => program)).toEqual([
      'lvchange',
      'sync',
      'rm',
      'sync',
    ]);
  });

  test('waits while it is in use', () => {
    const used = madeAs({ open: true });
    const parts = {
      volume: going({ onDelete: 'Delete' }),
      job: { known },
      observation: { known: used },
    };
    expect(outcome(parts)).toEqual(removing(1, /a process has it open/));
  });

  describe('on a node that lacks the tools of LVM', () => {
    const none = lvmNode({ groups: [], lacksLvm: 'sh: 1: lvmconfig: not found' });
    const seen = { job: { known }, observation: { known: none }, forgotten: true };
    const lacks = /lacks the tools of LVM: .*lvmconfig: not found. Install the package lvm2/;

    test('fails to provision, and names the package', () => {
      const begins = onLvm({}, {}, pending('PrepareVolume/1'));
      expect(outcome({ ...seen, volume: begins })).toEqual(creationFailed(1, lacks));
    });

    test('ends if nothing shows that storage was ever provisioned', () => {
      const going = onLvm({}, {}, pending('UnprepareVolume/1'), deleted);
      expect(outcome({ ...seen, volume: going })).toEqual(removing('DONE'));
    });

    test.each<[string, VolumeStatus, Partial<Input>]>([
      ['the status records it', { prepared }, {}],
      ['the status has its device', { deviceName: 'dm-3' }, {}],
      ['the status has its path', { devicePath: LINK }, {}],
      ['the status has its capacity', { capacity: '1Gi' }, {}],
      ['it has a PersistentVolume', {}, { pv: pv('Released', deleted) }],
    ])('waits if %s', (_, more, parts) => {
      const going = onLvm({}, {}, pending('UnprepareVolume/1', more), deleted);
      expect(outcome({ ...seen, ...parts, volume: going })).toEqual(removing(1, lacks));
    });

    test('waits for the storage of a Leftover', () => {
      const leftover = leftoverOf(onLvm({}, {}, pending('UnprepareVolume/1')));
      const decision = decideLeftover(
        leftover,
        undefined,
        input({ ...seen, volume: volumeOf(leftover) }),
        0,
      );
      expect(summary(decision)).toEqual(removing(1, lacks));
    });

    test.each(['attach', 'detach', 'provision'] as const)('refuses to %s', (operation) => {
      const desired = { ...desiredOf(onLvm({}, {}, {}), undefined), neverMade: true };
      expect(plan(operation, desired, none, 0)).toMatchObject({
        refusal: expect.stringMatching(/lacks the tools of LVM/),
        reason: { code: 'LVMMissing' },
      });
      expect(presenceOf(desired, none)).toMatchObject({ is: 'unknown', noDevice: true });
    });
  });

  test('needs no node if the status is empty and the spec is invalid', () => {
    expect(outcome({ volume: onLvm({ vgName: '../x' }, {}, {}, deleted) })).toEqual(
      'release-volume',
    );
    expect(outcome({ volume: onLvm({}, {}, {}, deleted) })).not.toEqual('release-volume');
  });
});

test('a Leftover finds its logical volume by tag, as their names differ', () => {
  const leftover = leftoverOf(onLvm({}, { onDelete: 'Delete' }, ready));
  expect(leftoverProblem(leftover, undefined)).toBeUndefined();
  const other = { ...prepared, paths: ['/dev/vg0/root'] };
  expect(
    leftoverProblem({ ...leftover, spec: { ...leftover.spec, prepared: other } }, undefined),
  ).toContain('/dev/vg0/root');
  const planned = plan('delete', desiredOf(volumeOf(leftover), undefined), lvmMade(), 0);
  const commands = 'steps' in planned ? planned.steps.map(({ argv }) => argv.join(' ')) : [];
  expect(commands).toContainEqual(expect.stringMatching(/^lvremove .* vg0\/data1$/));
});
