/**
 * `npm run bench -- startup`: startup time of the CLI, compared to kubectl on the same machine. The
 * commands take turns, so that other load affects all of them. Figures are medians of whole
 * processes.
 */
import { spawnSync } from 'node:child_process';
import { median, ms, printFigures, times } from './figures.ts';

const ROUNDS = 21;
const COMMANDS: [string, string[]][] = [
  ['kubectl', ['version', '--client']],
  ['bin/stowage', ['--version']],
  ['bin/stowage', ['--help']],
];

const taken = COMMANDS.map((): number[] => []);
// The first round fills caches of files and of compiled code, and does not count.
for (let round = 0; round <= ROUNDS; round++) {
  for (const [index, [command, args]] of COMMANDS.entries()) {
    const start = process.hrtime.bigint();
    const { status } = spawnSync(command, args, { stdio: 'ignore' });
    const took = Number(process.hrtime.bigint() - start) / 1e6;
    if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with status ${status}`);
    if (round > 0) taken[index]?.push(took);
  }
}

const medians = taken.map(median);
const kubectl = medians[0] ?? Number.NaN;
console.log(`medians of ${ROUNDS} rounds, whole processes`);
for (const [index, [command, args]] of COMMANDS.entries()) {
  const took = medians[index] ?? Number.NaN;
  printFigures(
    `${command.replace('bin/', '')} ${args.join(' ')}`,
    ms(took),
    `${times(took / kubectl)} kubectl`,
  );
}
