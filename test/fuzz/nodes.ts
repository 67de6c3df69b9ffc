import fc from 'fast-check';
import type { Probe, ProbeResult } from '../../src/nodes/job.ts';
import { LSBLK } from '../../src/storage/block-devices.ts';
import type { Desired } from '../../src/storage/registry.ts';
import { missing, result } from '../support/fake-executor.ts';
import { diskRow, lvRow, report, segmentRow, vgRow } from '../support/lvm-reports.ts';
import { MADE } from '../support/sparse-answers.ts';
import { probeResult } from './hostile.ts';

const GIB = 1 << 30;

/** Answers of a healthy node, by the prefix of a command. */
const USUAL: readonly (readonly [start: string, answer: ProbeResult])[] = [
  ['losetup -J', result(0)],
  [
    LSBLK.join(' '),
    result(
      0,
      JSON.stringify({
        blockdevices: [
          {
            kname: 'sdb',
            'maj:min': '8:16',
            pkname: null,
            type: 'disk',
            size: GIB,
            serial: 'S1',
            wwn: '0x5000',
          },
          {
            kname: 'dm-3',
            'maj:min': '253:3',
            pkname: 'sdb',
            type: 'lvm',
            size: GIB,
            serial: null,
            wwn: null,
          },
        ].map((row) => ({ ...row, ro: false })),
      }),
    ),
  ],
  ['cat /proc/', result(0)],
  ['test -S', result(0)],
  ['vgs ', report('vg', vgRow())],
  ['lvs ', report('lv', lvRow())],
  ['lvmconfig ', result(5)],
  [
    'pvs --segments',
    report('pvseg', segmentRow('/dev/sda', 0, 100), segmentRow('/dev/sda', 100, 56)),
  ],
  ['pvs --reportformat', report('pv', diskRow('/dev/sda'))],
  ['blockdev ', result(0)],
  ['dd ', result(0)],
  ['cmp ', result(0)],
  ['blkid ', result(2)],
  ['wipefs ', result(0, '{"signatures":[]}')],
  ['lsblk --raw', result(0, 'sdb 8:16  disk 1073741824 0 S1 0x5000\n')],
  ['stat -L -c %F|%t:%T', result(0, 'block special file|8:10')],
  ['cat /sys/class/block/', result(0, '1')],
  ['find -H /var/lib/kubelet', result(0, '/dev/null')],
  ['find -L /dev/disk/by-id', result(0, '/dev/disk/by-id/wwn-0x5000\n')],
];
const usual = ({ name, argv }: Probe, wanted: Desired['type']): ProbeResult =>
  (wanted === 'sparse' ? MADE[name] : undefined) ??
  USUAL.find(([start]) => argv.join(' ').startsWith(start))?.[1] ??
  missing;

/**
 * Returns a function that answers probes with these answers; null is the answer of a healthy node.
 */
export const probesAnswering = (
  answers: readonly (ProbeResult | null)[],
  wanted: Desired['type'] = 'sparse',
) => {
  let next = 0;
  return async (probes: readonly Probe[]) =>
    new Map(
      probes.map(
        (probe) => [probe.name, answers[next++ % answers.length] ?? usual(probe, wanted)] as const,
      ),
    );
};
/** Mostly healthy: otherwise each observation would end at its first answer. */
export const results = fc.oneof(
  ...[0, 1, 4, 20].map((odd) =>
    fc.array(
      fc.oneof(
        { weight: 20, arbitrary: fc.constant(null) },
        { weight: odd, arbitrary: probeResult },
      ),
      { minLength: 20, maxLength: 60 },
    ),
  ),
);
