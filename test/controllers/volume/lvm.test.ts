import { describe, expect, test } from '@jest/globals';
import type { Volume, VolumeSpec, VolumeStatus } from '../../../src/api/volume.ts';
import { decide } from '../../../src/controllers/volume/decide.ts';
import { leftoverOf, leftoverProblem, volumeOf } from '../../../src/controllers/volume/leftover.ts';
import { desiredOf } from '../../../src/model/desired-volume.ts';
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

describe('deployment', () => {
  const begins = onLvm({}, {}, pending('PrepareVolume/1'));
  test('is submitted', () => {
    const parts = { volume: begins, job: { known }, observation: { known: lvmNode() } };
    expect(outcome(parts)).toEqual(['submit', expect.any(Number), 0]);
  });

  test('what was made is recorded: device, measured size, path and identity', () => {
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

  test('in mode Block the path is of the same kind', () => {
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

  test('a refusal fails it, with what MetalK8s’s annotation lacks', () => {
    const dirty = lvmNode({ free: [{ ...free, content: 'ext4:OLD' }] });
    const annotations = { 'metalk8s.scality.com/force-lvcreate': '' };
    const forced = onLvm({}, {}, pending('PrepareVolume/1'), { annotations });
    // The provisioner may then select another node.
    expect(outcome({ volume: forced, job: { known }, observation: { known: dirty } })).toEqual(
      creationFailed(
        1,
        /contain ext4:OLD .*force-lvcreate does not name .* set spec\.overwrite to "ext4:OLD"/,
      ).with(3, 'FreeExtentsCarryData'),
    );
  });

  test('a group that is away while it is being made is waited for', () => {
    const parts = {
      volume: begins,
      job: { known },
      observation: { known: begun(dm, { groups: [] }) },
    };
    expect(outcome(parts)).toEqual(preparing(1, /no volume group vg0/));
  });
});

describe('steady state', () => {
  const there = onLvm({}, {}, ready);
  test.each([
    ['the group is away', lvmNode({ groups: [] })],
    ['the logical volume is gone', lvmNode({ recordFiles: true })],
    ['another group has its name', madeIn({ uuid: 'B' })],
  ])('%s: Failed with a reason, and nothing is made', (_, observed) => {
    expect(outcome({ volume: there, pv: pv('Bound'), observation: { known: observed } })).toEqual(
      unavailable(/vg0/),
    );
  });

  test('inactive after a reboot: waits to be attached again', () => {
    const inactive = lvmMade(dm, {
      volumes: [{ ...lv, active: false, device: undefined }],
      target: { is: 'missing' },
      link: undefined,
    });
    expect(outcome({ volume: there, pv: pv('Bound'), observation: { known: inactive } })).toEqual(
      notAttached('the device is not attached on node n1; attaching'),
    );
  });

  test('in use while its path leads to another device: is told', () => {
    const other = { ...dm, name: 'dm-9', device: '253:9' };
    const observed = lvmMade(ext4, { devices: [ext4, other], link: other.device });
    expect(outcome({ volume: there, pv: pv('Bound'), observation: { known: observed } })).toEqual(
      pathAstray(
        `${LINK} leads to /dev/dm-9, not to the volume's device /dev/dm-3; a pod that starts now may get that device. Attaching the volume again corrects it`,
      ),
    );
  });

  test('what cannot grow stays Available, and says so', () => {
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

  test('what a thin pool has promised is told', () => {
    const thin = onLvm({ thinPool: 'pool', size: '1Gi' }, {}, ready);
    const promised = lvmMade(ext4, { volumes: [thinLv, { ...pool, sizeBytes: 1n << 29n }] });
    expect(outcome({ volume: thin, pv: pv('Bound'), observation: { known: promised } })).toEqual(
      isAvailable(
        'the thin pool vg0/pool has 536870912 bytes, and its volumes have 1073741824 in total',
      ),
    );
  });
});

describe('deletion', () => {
  const going = (spec: Partial<VolumeSpec>) =>
    onLvm({}, spec, terminating('UnprepareVolume/1', { prepared }), deleted);
  test('Retain is the default: nothing of the data is touched', () => {
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

  test('in use: waits', () => {
    const used = madeAs({ open: true });
    const parts = {
      volume: going({ onDelete: 'Delete' }),
      job: { known },
      observation: { known: used },
    };
    expect(outcome(parts)).toEqual(removing(1, /a process has it open/));
  });

  test('a status that was never written names a place that is none: the node is not asked', () => {
    expect(outcome({ volume: onLvm({ vgName: '../x' }, {}, {}, deleted) })).toEqual(
      'release-volume',
    );
    expect(outcome({ volume: onLvm({}, {}, {}, deleted) })).not.toEqual('release-volume');
  });
});

test('what a lost node has is found again by its tag, for a Leftover has another name', () => {
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
