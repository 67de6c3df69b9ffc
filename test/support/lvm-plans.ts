import { unfinishedTag } from '../../src/storage/lvm/names.ts';
import type { Fill } from '../../src/storage/populate/types.ts';
import type { DesiredLvm, ObservedLvm, VolumeOperation } from '../../src/storage/types.ts';
import {
  asleep,
  begun,
  dm,
  ext4,
  free,
  GIB,
  lv,
  lvmBlock,
  lvmDesired,
  lvmMade,
  lvmNode,
  pool,
  thin,
  thinLv,
} from './lvm-input.ts';
import { UID } from './volume-input.ts';

const recorded = { recorded: true, identity: dm.identity } as const;
const larger = { ...lvmDesired, ...recorded, sizeBytes: 2n * GIB };
const stale = { ...free, content: 'ext4:OLD', blkid: 'TYPE=ext4\nUUID=OLD', blkidExit: 0 };
const fill: Fill = {
  ...{ builtin: 'Image', what: 'Image prod/debian' },
  options: { source: 'https://a.example/x?y=$(id)', compression: 'zstd' },
};
const unpacked: Fill = {
  ...{ builtin: 'Archive', what: 'Archive prod/site' },
  options: { source: '/srv/site.tar', allowed: 'devices+setuid' },
};
const unfilled = { ...lv, tags: [unfinishedTag(UID)] };
const away = {
  volumes: [{ ...lv, active: false, device: undefined }],
  target: { is: 'missing' },
} as const;

/** Name, operation, desired volume and observed node of a case. */
export type LvmCase = readonly [string, VolumeOperation, DesiredLvm, ObservedLvm];

/** Cases with all kinds of steps on logical volumes. */
export const LVM_CASES: readonly LvmCase[] = [
  ['make', 'provision', lvmDesired, lvmNode()],
  ['make an xfs', 'provision', { ...lvmDesired, fs: { type: 'xfs', options: [] } }, lvmNode()],
  ['make, Block', 'provision', lvmBlock, lvmNode()],
  ['make, thin', 'provision', thin, lvmNode({ volumes: [pool], free: [] })],
  [
    'make, thin, in a pool that is inactive',
    'provision',
    thin,
    lvmNode({ volumes: [asleep], free: [] }),
  ],
  [
    'activate or remove an unfinished thin volume',
    'provision',
    thin,
    begun(dm, { ...away, volumes: [{ ...thinLv, active: false, device: undefined }, pool] }),
  ],
  [
    'make with consent',
    'provision',
    { ...lvmDesired, overwrite: 'ext4:OLD' },
    lvmNode({ free: [stale] }),
  ],
  [
    'make, with consent that is not needed',
    'provision',
    { ...lvmDesired, overwrite: 'x' },
    lvmNode(),
  ],
  ['fill', 'provision', { ...lvmDesired, fill }, lvmNode()],
  ['fill from an archive', 'provision', { ...lvmDesired, fill: unpacked }, lvmNode()],
  [
    'fill with consent, Block',
    'provision',
    { ...lvmBlock, fill, overwrite: 'ext4:OLD' },
    lvmNode({ free: [stale] }),
  ],
  ['fill, thin', 'provision', { ...thin, fill }, lvmNode({ volumes: [pool], free: [] })],
  [
    'remove an unfinished volume before a fill',
    'provision',
    { ...lvmDesired, fill },
    begun(ext4, { volumes: [unfilled] }),
  ],
  ['make a zeroed volume', 'provision', { ...lvmBlock, zeroed: true }, lvmNode()],
  ['write zeros', 'provision', { ...lvmBlock, zeroed: true }, begun(dm, { volumes: [unfilled] })],
  ['resume', 'provision', lvmDesired, begun()],
  ['resume an interrupted mkfs', 'provision', lvmDesired, begun(ext4)],
  ['activate', 'attach', { ...lvmDesired, ...recorded }, lvmMade(dm, { ...away, link: undefined })],
  ['relink', 'attach', { ...lvmDesired, ...recorded }, lvmMade(ext4, { link: undefined })],
  ['grow', 'attach', larger, lvmMade(ext4, { free: [free] })],
  [
    'grow without a recorded size',
    'attach',
    larger,
    lvmMade(ext4, { free: [free], intent: undefined, done: undefined, recordFiles: false }),
  ],
  [
    'make, thin, in an inactive pool of any name',
    'provision',
    { ...thin, thinPool: 'Pool_1' },
    lvmNode({ volumes: [{ ...asleep, name: 'Pool_1' }], free: [] }),
  ],
  ['grow, thin', 'attach', larger, lvmMade(ext4, { volumes: [thinLv, pool] })],
  ['retain', 'delete', { ...lvmDesired, ...recorded }, lvmMade()],
  ['delete', 'delete', { ...lvmDesired, ...recorded, onDelete: 'Delete' }, lvmMade()],
  ['wipe', 'delete', { ...lvmDesired, ...recorded, onDelete: 'Wipe' }, lvmMade()],
  [
    'wipe, thin',
    'delete',
    { ...lvmDesired, ...recorded, onDelete: 'Wipe' },
    lvmMade(ext4, { volumes: [thinLv, pool] }),
  ],
];

const named = lvmMade(ext4, { volumes: [{ ...lv, tags: [] }] });
/** Cases of volumes by MetalK8s, which have no tag yet. */
export const UNTAGGED: readonly LvmCase[] = [
  ['tag', 'attach', { ...lvmDesired, ...recorded }, named],
  ['delete without a tag', 'delete', { ...lvmDesired, ...recorded, onDelete: 'Delete' }, named],
  ['wipe without a tag', 'delete', { ...lvmDesired, ...recorded, onDelete: 'Wipe' }, named],
];
