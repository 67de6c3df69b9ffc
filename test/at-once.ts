/**
 * Runs test files: those with loop devices of this machine one after the other, beside them the others, which have none, and
 * then, alone, those that are held to times: `node test/at-once.ts PROJECT [JEST ARGUMENT...]`. Each has a mount namespace
 * with records, jobs and sparse files of its own, as on a node of its own. What a file prints is printed once it has ended.
 * Needs root.
 */
import { mkdir, readFile, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { temporaryFolder } from './support/temporary-folder.ts';
import { ensureUdev } from './support/udev.ts';

/** These leave the machine's loop devices alone, whose numbers others would take from under them. */
const WITHOUT_DEVICES =
  /\/integration\/(daemon\/.*|install\/.*|sandbox|salt-.*|alerts|away|cli|cli-reading|completion|docs|jobs|kubectl.*|launcher|package|promtool|watch)\.|\/cluster\/(api-server|cache|vm\/.*|salt\/.*logins)\./;

/** These hold the product to seconds that it promises, so they come last, with nothing beside them. */
const HELD_TO_TIMES = /\/integration\/(away|claims-story|packet-loss|daemon\/claim-grants)\./;

/** Where a node keeps what Stowage makes, and its sparse files by default. */
const OF_NODE = ['/run/stowage', '/var/lib/stowage', '/var/lib/metalk8s'];

/** Its arguments: a folder, then a command. */
const ON_OWN_NODE = `set -eu
folder=$1
shift
for own in ${OF_NODE.join(' ')}; do
  mkdir -p "$folder$own"
  mount --bind "$folder$own" "$own"
done
exec "$@"`;

interface Result {
  numPassedTests: number;
  numPendingTests: number;
}

const [project = '', ...args] = process.argv.slice(2);
const started = Date.now();

async function filesOf(): Promise<string[]> {
  const { stdout } = await execa('jest', ['--selectProjects', project, '--listTests', ...args]);
  return stdout.split('\n').filter((line) => line.startsWith('/'));
}

/** @returns what jest counted; undefined where it did not end as it does when all is well */
async function run(file: string): Promise<Result | undefined> {
  const folder = await temporaryFolder('node');
  try {
    const results = join(folder.path, 'results.json');
    const options = ['--runInBand', '--json', '--outputFile', results, ...args, '--runTestsByPath', file];
    const jest = ['jest', '--selectProjects', project, ...options];
    const unshare = ['--mount', '--propagation', 'private', 'sh', '-c', ON_OWN_NODE, 'sh', folder.path];
    const { stderr, exitCode } = await execa('unshare', [...unshare, ...jest], {
      ...{ reject: false, stdin: 'ignore', stdout: 'ignore' },
    });
    process.stderr.write(`${stderr}\n`);
    return exitCode === 0 ? (JSON.parse(await readFile(results, 'utf8')) as Result) : undefined;
  } finally {
    await folder.remove();
  }
}

const made = [];
for (const path of OF_NODE) made.push(await mkdir(path, { recursive: true }));
const stopUdev = await ensureUdev();
const files = await filesOf();
const failed: string[] = [];
let passed = 0;
let leftOut = 0;
async function runEach(which: readonly string[]): Promise<void> {
  for (const file of which) {
    const result = await run(file);
    if (result === undefined) failed.push(file);
    passed += result?.numPassedTests ?? 0;
    leftOut += result?.numPendingTests ?? 0;
  }
}
const {
  devices = [],
  others = [],
  alone = [],
} = Object.groupBy(files, (file) =>
  HELD_TO_TIMES.test(file) ? 'alone' : WITHOUT_DEVICES.test(file) ? 'others' : 'devices',
);
await Promise.all([runEach(devices), runEach(others)]);
await runEach(alone);
await stopUdev();
for (const path of made.reverse()) if (path !== undefined) await rmdir(path);
const took = Math.round((Date.now() - started) / 1000);
process.stderr.write(
  `${project}: ${files.length} files in ${took} s, ${passed} tests passed, ${leftOut} left out\n`,
);
for (const file of failed) process.stderr.write(`FAILED ${file}\n`);
process.exitCode = failed.length === 0 && files.length > 0 ? 0 : 1;
