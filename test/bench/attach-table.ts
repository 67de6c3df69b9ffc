import type { Idle } from './attach-idle.ts';
import type { AttachOptions } from './attach-options.ts';
import type { Calls } from './attach-programs.ts';
import type { Round } from './attach-rounds.ts';
import { median, quantile } from './figures.ts';

/** Rounds of kube-controller-manager and of Stowage. */
export interface AtRate {
  rounds: readonly [readonly Round[], readonly Round[]];
  /**
   * API requests of Stowage between its marks: first those before any round, then three counts per
   * round.
   */
  calls: readonly Calls[];
}

export interface Measured {
  throttled: AtRate | undefined;
  unthrottled: AtRate | undefined;
  /** Rounds of kube-controller-manager and of attach-writes.ts. */
  written: AtRate | undefined;
  idle: Record<string, Idle> | undefined;
}

type Row = [what: string, manager: string, stowage: string, ratio: string];

/**
 * Prints a Markdown table: medians of the rounds, and the ratio of Stowage to
 * kube-controller-manager.
 */
export function showAttaching(
  options: AttachOptions,
  { throttled, unthrottled, written, idle }: Measured,
): void {
  const { pods, one, nodes, attachments, rest } = options;
  console.log(
    `${pods} pods at once and ${one} one at a time, on ${nodes} nodes; medians of rounds\n`,
  );
  print(['what', 'kube-controller-manager', 'stowage', 'ratio']);
  print(['---', '---', '---', '---']);
  if (throttled) for (const row of rowsOf(throttled, '20/30')) print(row);
  if (unthrottled) for (const row of rowsOf(unthrottled, 'no limit')) print(row);
  if (throttled && unthrottled) {
    // Each program at its own default rate.
    const both: AtRate = { rounds: [throttled.rounds[0], unthrottled.rounds[1]], calls: [] };
    for (const row of rowsOf(both, 'defaults')) print(row);
  }
  if (written) for (const row of rowsOf(written, 'no limit, the writes alone')) print(row);
  if (idle) {
    const { 'kube-controller-manager': manager, ...others } = idle;
    for (const [name, each] of Object.entries(others)) {
      const what = `${attachments} attachments at rest for ${rest} s, ${name}`;
      const cores = ({ cores }: Idle) => cores.toFixed(3);
      const memory = ({ rss, peak }: Idle) => `${rss.toFixed(0)}, ${peak.toFixed(0)} MiB`;
      if (manager === undefined) continue;
      print([`${what}: cores`, cores(manager), cores(each), times(each.cores / manager.cores)]);
      print([`${what}: RSS, peak`, memory(manager), memory(each), times(each.rss / manager.rss)]);
    }
  }
  for (const each of [throttled, unthrottled]) if (each) showCalls(each, pods, 'Stowage');
  if (written) showCalls(written, pods, 'the writes alone');
}

const print = (row: readonly string[]) => console.log(`| ${row.join(' | ')} |`);
const times = (ratio: number) => `${ratio.toFixed(2)} ×`;

function rowsOf({ rounds }: AtRate, rate: string): Row[] {
  const compare = (
    what: string,
    of: (rounds: readonly Round[]) => number,
    unit: string,
    digits = 0,
  ): Row => {
    const [manager, stowage] = rounds.map(of) as [number, number];
    const written = (value: number) => `${value.toFixed(digits)}${unit}`;
    return [`${rate}: ${what}`, written(manager), written(stowage), times(stowage / manager)];
  };
  const medianOf = (of: (round: Round) => number) => (all: readonly Round[]) => median(all.map(of));
  const share = (of: (round: Round) => number[], part: number) => (all: readonly Round[]) =>
    quantile(all.flatMap(of), part);
  const rows: [
    what: string,
    of: (rounds: readonly Round[]) => number,
    unit: string,
    digits?: number,
  ][] = [
    ['attaches a second', medianOf((round) => round.attaches), '', 1],
    ['detaches a second', medianOf((round) => round.detaches), '', 1],
    ['created to attached, p50', share((round) => round.first, 0.5), ' ms'],
    ['created to attached, p99', share((round) => round.first, 0.99), ' ms'],
    ['created to all written, p50', share((round) => round.last, 0.5), ' ms'],
    ['created to all written, p99', share((round) => round.last, 0.99), ' ms'],
    ['CPU of the burst', medianOf((round) => round.cpu), ' s', 1],
    ['CPU of the API server for it', medianOf((round) => round.serverCpu), ' s', 1],
  ];
  return rows.map((row) => compare(...row));
}

function showCalls({ calls }: AtRate, pods: number, whose: string): void {
  const [, attach = {}, detach = {}] = calls;
  for (const [what, made] of [
    ['attach', attach],
    ['detach', detach],
  ] as const) {
    const each = Object.entries(made)
      .filter(([, count]) => count > pods / 10)
      .map(([call, count]) => `${call} ${(count / pods).toFixed(2)}`);
    console.log(`\nrequests of ${whose} for each ${what}, in the first round: ${each.join(', ')}`);
  }
}
