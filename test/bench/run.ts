/**
 * `npm run bench [-- NAME [ARGUMENT…]]`: runs all benchmarks, or one. See docs/benchmarks.md. No
 * speed is asserted: a benchmark fails only if the measured feature does not work.
 */
import { spawnSync } from 'node:child_process';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';

/** Loader that imports other files than TypeScript as text. */
const LOADERS = './scripts/loaders/node.mjs';

const BENCHES = [
  'startup',
  'completion',
  'get-volumes',
  'why-all',
  'ui',
  'volumes',
  'one-volume',
  'memory',
];

const [name, ...args] = process.argv.slice(2);
if (name !== undefined && !BENCHES.includes(name)) {
  console.error(`bench: there is no ${JSON.stringify(name)}. There are: ${BENCHES.join(', ')}`);
  process.exit(2);
}
const processors = cpus();
console.log(`${processors.length} processors: ${processors[0]?.model}; Node.js ${process.version}`);
for (const bench of name === undefined ? BENCHES : [name]) {
  // Other load on the machine increases all figures and decreases ratios.
  console.log(`\n# ${bench} (load before: ${loadavg()[0]?.toFixed(1)})`);
  const { status, error } = spawnSync(
    process.execPath,
    ['--import', LOADERS, join(import.meta.dirname, `${bench}.ts`), ...args],
    {
      stdio: 'inherit',
    },
  );
  if (error !== undefined) throw error;
  if (status !== 0) {
    console.error(`bench: ${bench} failed`);
    process.exitCode = 1;
  }
}
