import { parseArgs } from 'node:util';

export interface AttachOptions {
  /** Pods that are created at once, and pods that are created one at a time. */
  pods: number;
  one: number;
  /** Rounds with as good as no limit to requests, and with the default of kube-controller-manager. */
  rounds: number;
  'throttled-rounds': number;
  nodes: number;
  /** Attachments at rest, and for how many seconds; 0: not at all. */
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

/** @throws TypeError for another flag, RangeError for what is no whole number */
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
