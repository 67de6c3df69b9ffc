import { fuzz } from './run.ts';

/** Number of inputs, of all targets together. */
const RUNS = Number(process.env.FUZZ_RUNS ?? 100_000);
/** Drawn for each run; FUZZ_SEED repeats one. */
const SEED = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));

process.stderr.write(`FUZZ_SEED=${SEED} FUZZ_RUNS=${RUNS}\n`);
fuzz(RUNS, SEED);
