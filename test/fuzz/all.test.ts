import { fuzz } from './run.ts';

/** Number of inputs for all targets together. */
const RUNS = Number(process.env.FUZZ_RUNS ?? 100_000);
/** Random for each run; FUZZ_SEED repeats a run. */
const SEED = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));

process.stderr.write(`FUZZ_SEED=${SEED} FUZZ_RUNS=${RUNS}\n`);
fuzz(RUNS, SEED);
