import { execa } from 'execa';
import type { Vm } from './vm.ts';

/** The output of `losetup -a` on a VM. */
export interface Sample {
  /** Time by the clock of this machine, in ms. */
  at: number;
  loops: string;
}

export interface Sampling {
  /** Returns the samples until now, in order. */
  samples(): Sample[];
  stop(): Promise<void>;
}

/**
 * A time during which a VM had a loop device of a file: from the first sample with it to the last,
 * in ms.
 */
export interface Span {
  vm: string;
  from: number;
  to: number;
}

/**
 * Prints a sample every 100 ms with the VM's uptime. Each line arrives before the VM can lose its
 * power.
 */
const LOOK = `while read -r up _ </proc/uptime; do
  echo "$up $(losetup -a | tr '\\n' ';')"
  sleep 0.1
done`;

/** Samples the loop devices of a VM every 100 ms, and ends with the VM. */
export function startSampling(vm: Vm): Sampling {
  const lines: { up: number; here: number; loops: string }[] = [];
  const argv = [
    '-F',
    vm.configFile,
    '-o',
    'BatchMode=yes',
    '-o',
    'ControlPath=none',
    vm.name,
    LOOK,
  ];
  const ssh = execa('ssh', argv, { reject: false, stdin: 'ignore', buffer: false });
  const reading = (async () => {
    for await (const line of ssh.iterable({ from: 'stdout' })) {
      const [, up = '', loops = ''] = /^(\d+\.\d+) (.*)$/.exec(String(line)) ?? [];
      if (up !== '') lines.push({ up: Number(up) * 1000, here: Date.now(), loops });
    }
  })().catch(() => {});
  return {
    samples() {
      // The fastest line gives the best estimate of the difference between both clocks.
      const offset = Math.min(...lines.map(({ up, here }) => here - up));
      return lines.map(({ up, loops }) => ({ at: up + offset, loops }));
    },
    async stop() {
      ssh.kill();
      await ssh;
      await reading;
    },
  };
}

/** Returns a span for each time that samples of a VM showed the file attached. */
export function spansOf(vm: string, samples: readonly Sample[], file: string): Span[] {
  const spans: Span[] = [];
  let open: Span | undefined;
  for (const { at, loops } of samples) {
    if (!loops.includes(file)) {
      open = undefined;
      continue;
    }
    if (open === undefined) {
      open = { vm, from: at, to: at };
      spans.push(open);
    }
    open.to = at;
  }
  return spans;
}

/** Returns the pairs of spans on two VMs that overlap. */
export function overlaps(spans: readonly Span[]): [Span, Span][] {
  return spans.flatMap((one, at) =>
    spans
      .slice(at + 1)
      .filter((other) => other.vm !== one.vm && one.from <= other.to && other.from <= one.to)
      .map((other): [Span, Span] => [one, other]),
  );
}

/** Returns the longest time between two samples, in ms. Shorter attachments may be missing. */
export const longestGap = (samples: readonly Sample[]): number =>
  samples.reduce((gap, { at }, index) => Math.max(gap, at - (samples[index - 1]?.at ?? at)), 0);
