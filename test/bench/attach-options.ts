import { parseArgs } from 'node:util';

export interface AttachOptions {
  /** Numbers of pods: created concurrently (`pods`), and one at a time (`one`). */
  pods: number;
  one: number;
  /**
   * Numbers of rounds: with practically no rate limit, and with the default of
   * kube-controller-manager.
   */
  rounds: number;
  'throttled-rounds': number;
  nodes: number;
  /** Idle attachments (0: none), and the seconds to measure them for. */
  attachments: number;
  rest: number;
}

const DEFAULTS: AttachOptions = {
  pods: 400,
  one: 50,
  rounds: 3,
  'throttled-rounds': 1,
  nodes: 100,
  attachments: 500,
  rest: 60,
};

/** @throws TypeError for an unknown flag, RangeError for a value that is not a whole number */
export function attachOptions(args: readonly string[]): AttachOptions {
  const names = Object.keys(DEFAULTS) as (keyof AttachOptions)[];
  const { values } = parseArgs({
    args: [...args],
    options: Object.fromEntries(names.map((name) => [name, { type: 'string' as const }])),
  });
  const options = { ...DEFAULTS };
  for (const name of names) {
    const value = values[name];
    if (value === undefined) continue;
    if (!/^\d+$/.test(String(value)))
      throw new RangeError(`--${name} is ${value}, which is no whole number`);
    options[name] = Number(value);
  }
  return options;
}
