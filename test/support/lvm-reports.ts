import type { ProbeResult } from '../../src/nodes/job.ts';
import type { View } from '../../src/storage/lvm/view.ts';
import { result } from './fake-executor.ts';
import { GIB, MIB } from './lvm-input.ts';
import { UID } from './volume-input.ts';

/** Reports of LVM 2.03, by default of the group vg0 and the linear logical volume data1. */

export const VG = 'hd11Je-AdwK-HC8I-hKFt-QyFw-1GG2-8zHVZz';
export const LV = 'ItrFIE-qKAI-Rv9s-5WHb-2wYv-2dXg-9sKDPj';
/** Device numbers that LVM reports for a missing device. */
export const NO_DEVICE = { lv_kernel_major: '-1', lv_kernel_minor: '-1' };

export const report = (key: 'vg' | 'lv' | 'pv' | 'pvseg', ...rows: object[]): ProbeResult =>
  result(0, JSON.stringify({ report: [{ [key]: rows }] }));

export const vgRow = (change: object = {}) => ({
  vg_name: 'vg0',
  vg_uuid: VG,
  vg_attr: 'wz--n-',
  vg_extent_size: '4194304',
  vg_free_count: '766',
  ...change,
});

export const lvRow = (change: object = {}) => ({
  lv_name: 'data1',
  lv_uuid: LV,
  lv_attr: '-wi-a-----',
  lv_size: String(GIB),
  lv_tags: `stowage.dev/uid=${UID}`,
  pool_lv: '',
  origin: '',
  lv_kernel_major: '253',
  lv_kernel_minor: '3',
  data_percent: '',
  metadata_percent: '',
  lv_layout: 'linear',
  vg_uuid: VG,
  ...change,
});

/** Returns a physical volume of vg0. */
export const diskRow = (pv_name: string, vg_uuid = VG) => ({ vg_uuid, pv_name });

/** LVM without its own filters, on a node without Volumes on devices. */
export const VIEW: View = { words: [], hides: () => false };

/** Answers of a node without devices of Volumes. */
export const viewAnswers: readonly (readonly [string, ProbeResult])[] = [
  ['loops', result(0)],
  ['devices', result(0, '{"blockdevices":[]}')],
  ['mappers', result(0)],
  ['others', result(0)],
  ['LVM filters', result(5, '', '  Configuration node devices/filter not found')],
];

/** Returns free extents of vg0. */
export const segmentRow = (pv: string, start: number, size: number, change: object = {}) => ({
  vg_uuid: VG,
  pv_name: pv,
  pv_attr: 'a--',
  pe_start: String(MIB),
  pvseg_start: String(start),
  pvseg_size: String(size),
  segtype: 'free',
  ...change,
});
