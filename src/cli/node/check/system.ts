import { type ReasonCode, refuse } from '../../../api/reasons.ts';
import { roundedSize } from '../../../api/rounded-size.ts';
import type { Misunderstood } from '../../../storage/node-check/forms.ts';
import type { System } from '../../../storage/node-check/system.ts';
import { TOOLS } from '../../../storage/node-check/tools.ts';
import type { Check } from '../../lib/checks/report.ts';

/**
 * Tolerated clock difference in ms. A larger one shows in times of events and logs, and in tokens
 * and certificates that are not yet or no longer valid.
 */
const SKEW = 5000;
/** Minimum of free bytes: file systems need metadata and a journal, and sparse files grow. */
const LITTLE = 1n << 30n;

/** Checks kernel, clock and tools. Pure. */
export function judgeSystem({
  missingTools,
  misunderstood,
  versions,
  kernel,
  hasLoops,
  aheadMs,
}: System): Check[] {
  return [
    hasLoops
      ? { check: 'kernel', ok: true, message: `${kernel}, with loop devices` }
      : {
          check: 'kernel',
          ok: false,
          message: `${kernel}, without loop devices: there is no /dev/loop-control, and sparse files cannot be attached`,
          hint: 'Load the module, now and at each boot.',
          command: 'modprobe loop && echo loop >/etc/modules-load.d/loop.conf',
        },
    clock(aheadMs),
    ...(misunderstood === undefined ? [] : programs(misunderstood)),
    ...TOOLS.map(({ name, of, package: from, optional }): Check => {
      if (missingTools.some((tool) => tool.name === name)) {
        if (optional) {
          return {
            check: name,
            ok: true,
            message: `optional, for ${of}: not installed, package ${from}`,
          };
        }
        return {
          check: name,
          ok: false,
          message: `missing, for ${of}`,
          hint: `Install ${from} on the node.`,
        };
      }
      const version = versions.get(name);
      return {
        check: name,
        ok: true,
        message: `for ${of}${version === undefined ? '' : ` (${version})`}`,
      };
    }),
  ];
}

/** Projects with the program, other than GNU coreutils. */
const PACKAGES: Readonly<Record<string, string>> = {
  find: 'GNU findutils',
  cmp: 'GNU diffutils',
  flock: 'util-linux',
};

function programs(misunderstood: readonly Misunderstood[]): Check[] {
  if (misunderstood.length === 0)
    return [{ check: 'programs', ok: true, message: 'understand the options that Stowage uses' }];
  return misunderstood.map(({ argv, for: of, said }): Check => {
    const [program] = argv;
    const { refusal, hint, reason } = refuse('ProgramUnsupported', {
      program,
      command: argv.join(' '),
      of,
      said,
      package: PACKAGES[program] ?? 'GNU coreutils',
    });
    return { check: program, ok: false, message: refusal, hint, reason: reason.code as ReasonCode };
  });
}

function clock(aheadMs: number): Check {
  if (Math.abs(aheadMs) <= SKEW)
    return { check: 'clock', ok: true, message: 'in sync with this machine' };
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  return {
    check: 'clock',
    ok: false,
    message: `${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} the clock of this machine`,
    hint: 'Synchronize both clocks: timedatectl shows the state of each.',
  };
}

export const spaceChecks = (free: ReadonlyMap<string, bigint>): Check[] =>
  [...free].map(([directory, bytes]) => {
    const message = `${roundedSize(Number(bytes))} free for ${directory}`;
    return bytes < LITTLE
      ? {
          check: 'space',
          ok: false,
          message,
          hint: 'Free up space there: writes to sparse volumes fail when it is full.',
        }
      : { check: 'space', ok: true, message };
  });
