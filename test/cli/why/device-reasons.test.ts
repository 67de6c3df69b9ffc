import { describe, expect, test } from '@jest/globals';
import { type Reason, type ReasonCode, reason } from '../../../src/api/reasons.ts';
import type { Volume } from '../../../src/api/volume.ts';
import { obstructionOf } from '../../../src/cli/why/obstruction.ts';
import { quote } from '../../../src/nodes/quote.ts';
import { volumeNamed } from '../../support/volumes.ts';

const device = '/dev/sdb';
const used = { device, uses: 'mounted at /srv/a' };
const command = 'umount /srv/a';
const END = 'If its content is not needed, end that use.';
const END_FOR_GOOD = `${END.slice(0, -1)}, and what restores it, such as a line of /etc/fstab`;
const TAKE_OUT = `End that use of ${device}, or use another device.`;
const OPENERS = 'End the process that has it open. The command lists it.';
const KUBELET = 'The kubelet unmounts it once no container of the pod runs.';
const LOGS = ['ssh n1 journalctl -u kubelet -n 50 --no-pager'];
const FUSER = [`ssh n1 'fuser -v ${device}'`];
const ROOM =
  'Free up space (remove volumes, or extend the volume group or the pool), or create a smaller volume. The command shows the free space.';

const withSpec = (name: string, spec: Partial<Volume['spec']>, status?: Volume['status']) => {
  const { spec: base, ...volume } = volumeNamed(name, status);
  return { ...volume, spec: { ...base, sparseLoopDevice: undefined, ...spec } } as Volume;
};
const onLvm = withSpec('data1', { lvmLogicalVolume: { vgName: 'vg0', size: '1Gi' } });
const onDisk = withSpec('data1', { rawBlockDevice: { devicePath: device } });
const made = withSpec('data1', { rawBlockDevice: { devicePath: device } }, { phase: 'Available' });

const obstruct = (detail: Reason, volume: Volume = onDisk) =>
  obstructionOf(detail, { node: 'n1', volume });

type Row = [
  detail: Reason,
  cause: string | undefined,
  say: string,
  run?: string[] | undefined,
  volume?: Volume,
];

test.each<Row>([
  [
    reason('DeviceMissing', { device }),
    'DeviceMissing',
    'Check that the path is right, and that the disk is connected.',
  ],
  [
    reason('DeviceOfAnother', { device, volume: 'data0' }),
    'DeviceOfAnother',
    `Check that Volume data0 still has ${device}. If the data of that Volume is not needed, delete it, which frees ${device}. If that Volume is gone, list what it left on the node: stowage check node n1. Otherwise, use another device.`,
  ],
  [
    reason('DeviceOfAnother', { device, uid: '1-2', instead: 'device' }),
    'DeviceOfAnother',
    'If that Volume is gone, list what it left on the node: stowage check node.',
  ],
  [
    reason('DeviceMaybeOfAnother', { device, uid: '1-2' }),
    undefined,
    'Two Volumes cannot share a device.',
  ],
  [reason('DeviceNotFree', used), 'DeviceInUse', TAKE_OUT],
  [reason('MultipathUsesDisk', { ...used, wwid: '360' }), 'DeviceInUse', 'add wwid "360"'],
  [
    reason('UseHoldsAdoption', { ...used, command }),
    'DeviceInUse',
    END_FOR_GOOD,
    [`ssh n1 ${quote(command)}`],
  ],
  [reason('UseHoldsAdoption', { ...used, use: 'that' }), 'DeviceInUse', TAKE_OUT],
  [
    reason('UseHoldsAdoption', { ...used, look: `fuser -v ${device}` }),
    'DeviceInUse',
    `${TAKE_OUT} The command lists the processes.`,
    FUSER,
  ],
  [
    reason('DeviceInUse', { ...used, use: 'that' }),
    'DeviceInUse',
    'End that use on the node: Stowage knows no command for it.',
  ],
  [reason('UseHoldsCleaning', { ...used, command }), 'DeviceInUse', END, [`ssh n1 '${command}'`]],
  [reason('DeviceInUse', { ...used, command }), 'DeviceInUse', END, [`ssh n1 '${command}'`]],
  [
    reason('DeviceInUse', { ...used, command: "umount '/srv/a $(b)'" }),
    'DeviceInUse',
    END,
    [`ssh n1 ${quote("umount '/srv/a $(b)'")}`],
  ],
  [reason('DeviceInUse', { ...used, look: `fuser -v ${device}` }), 'DeviceInUse', OPENERS, FUSER],
  [reason('DeviceInUse', { ...used, kubelet: 'kubelet' }), 'DeviceInUse', KUBELET, LOGS],
  [
    reason('LogicalVolumeInUse', { ...used, volume: 'vg0/data1', command }),
    'DeviceInUse',
    END,
    [`ssh n1 '${command}'`],
  ],
  [
    reason('UnfinishedInUse', { ...used, volume: 'vg0/data1', look: `fuser -v ${device}` }),
    'DeviceInUse',
    OPENERS,
    FUSER,
  ],
  [reason('UseUnknown', { device }), undefined, 'an unresponsive file server', ['ssh n1 ps axl']],
  [
    reason('KubeletUsesVolume', { volume: 'data1', uses: 'the kubelet has /x' }),
    'WaitingForUnmount',
    KUBELET,
    LOGS,
  ],
  [reason('KubeletFoldersLeft', { volume: 'data1' }), 'WaitingForUnmount', KUBELET, LOGS],
  [
    reason('KubeletMountsAnother', { volume: 'data1', mountPoint: '/x' }),
    'WaitingForUnmount',
    KUBELET,
    LOGS,
  ],
  [
    reason('DeviceCarriesData', { device, content: 'ext4:x', overwrite: '"ext4:x"' }),
    'SignatureFound',
    `There is data on ${device}. If none of it is needed, consent to its loss: set spec.overwrite to "ext4:x".`,
    [`kubectl patch volume data1 --type merge -p '{"spec":{"overwrite":"ext4:x"}}'`],
  ],
  [
    reason('FreeExtentsCarryData', {
      ...{ group: 'vg0', content: 'ext4:x', places: '/dev/vdb', overwrite: '"ext4:x"' },
    }),
    'SignatureFound',
    'set spec.overwrite to "ext4:x".',
    [`kubectl patch volume data1 --type merge -p '{"spec":{"overwrite":"ext4:x"}}'`],
    onLvm,
  ],
  [
    reason('FreeExtentsAmbivalent', {
      ...{ group: 'vg0', overwrite: '"free extents"', temporary: 'x' },
      ...{ extents: 1, ranges: '/dev/vdb:0-0' },
    }),
    'SignatureFound',
    'set spec.overwrite (--overwrite) to "free extents".',
    [`kubectl patch volume data1 --type merge -p '{"spec":{"overwrite":"free extents"}}'`],
    onLvm,
  ],
  [
    reason('VolumeGroupFull', { group: 'vg0', left: 1, needed: 2 }),
    'NoSpace',
    ROOM,
    ['ssh n1 vgs vg0'],
    onLvm,
  ],
  [
    reason('ThinPoolRoomGone', { pool: 'vg0/pool', needed: 2 }),
    'NoSpace',
    ROOM,
    ['ssh n1 vgs vg0'],
    onLvm,
  ],
  [
    reason('VolumeGroupExported', { group: 'vg0' }),
    undefined,
    'Import it: vgimport vg0',
    undefined,
    onLvm,
  ],
  [
    reason('MountRequired', { directory: '/srv/v' }),
    'DirectoryNotMounted',
    'Mount the file system on n1, and add it to /etc/fstab for each boot.',
    ['ssh n1 mount -a'],
  ],
])('obstructionOf explains %j', (...[detail, cause, say, run, volume]) => {
  const found = obstruct(detail, volume);
  expect(found?.cause).toBe(cause);
  expect(found?.fix?.say).toContain(say);
  expect(found?.fix?.run).toEqual(run);
});

describe('a use that is detected right before a step', () => {
  test.each<[ReasonCode, string, string[]]>([
    ['LoopStackedOnDevice', 'losetup -d', [`ssh n1 losetup -j ${device}`]],
    ['DeviceMounted', KUBELET, LOGS],
    ['DeviceMountedUnseen', 'mount namespace', ['ssh n1 findmnt -t nsfs']],
    ['DeviceMadeIntoAnother', KUBELET, LOGS],
    ['DeviceIsSwap', KUBELET, LOGS],
    ['DeviceOpen', OPENERS, FUSER],
  ])('%s blocks a provisioned Volume, else the device is used elsewhere', (code, say, run) => {
    const detail = { code, parameters: { device, look: 'reboot' } };
    expect(obstruct(detail, made)?.fix).toEqual({ say: expect.stringContaining(say), run });
    expect(obstruct(detail)).toEqual({
      ...{ reason: detail, cause: 'DeviceInUse' },
      fix: { say: TAKE_OUT },
    });
  });

  test.each<[ReasonCode, object]>([
    ['DeviceClaimed', { device }],
    ['OpenToWrite', { path: device }],
  ])('%s reports the device as used elsewhere', (code, parameters) => {
    for (const volume of [made, onDisk]) {
      const detail = { code, parameters: parameters as Reason['parameters'] };
      expect(obstruct(detail, volume)).toEqual({
        ...{ reason: detail, cause: 'DeviceInUse' },
        fix: { say: TAKE_OUT },
      });
    }
  });
});
