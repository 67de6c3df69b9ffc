/** Time (ms) of one Volume by phase, from the effects in the log of the daemon. */
export interface Phases {
  'until it was noticed': number;
  'written to the API server': number;
  'observations of the node': number;
  'the job on the node': number;
  'jobs removed there': number;
  'until Available was heard of': number;
}

const PHASE: Record<string, keyof Phases> = {
  'add-finalizer': 'written to the API server',
  'set-status': 'written to the API server',
  'create-pv': 'written to the API server',
  observe: 'observations of the node',
  submit: 'the job on the node',
  poll: 'the job on the node',
  'forget-jobs': 'jobs removed there',
};

interface Line {
  /** ms since the epoch */
  time: number;
  msg: string;
  volume?: string;
  action?: string;
  phase?: string;
}

/**
 * @param log output of `stowage watch --verbose`: a JSON object per line
 * @param took time (ms) from `asked` until the Volume was observed as Available
 */
export function phasesOf(log: string, volume: string, asked: Date, took: number): Phases {
  const lines = log
    .split('\n')
    .filter((line) => line.includes(`"${volume}"`))
    .map((line): Line => {
      const read = JSON.parse(line);
      return { ...read, time: Date.parse(read.time) };
    });
  const end = lines.findIndex(({ msg, phase }) => msg === 'status' && phase === 'Available');
  const effects = lines.slice(0, end + 1).filter(({ msg }) => msg === 'effect');
  const available = lines[end]?.time ?? Number.NaN;
  const phases: Phases = {
    'until it was noticed': (effects[0]?.time ?? Number.NaN) - asked.getTime(),
    'written to the API server': 0,
    'observations of the node': 0,
    'the job on the node': 0,
    'jobs removed there': 0,
    'until Available was heard of': asked.getTime() + took - available,
  };
  for (const [index, { time, action = '' }] of effects.entries()) {
    const phase = PHASE[action];
    if (phase === undefined) throw new Error(`no phase for the effect ${action}`);
    phases[phase] += (effects[index + 1]?.time ?? available) - time;
  }
  return phases;
}
