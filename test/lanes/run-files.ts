import { existsSync } from 'node:fs';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { execa } from 'execa';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { ensureUdev } from '../support/udev.ts';
import type { Entry } from './journal.ts';
import type { Lane } from './lanes.ts';

/** Directory of each file's full output, by lane. */
const OUTPUT = 'node_modules/.cache/stowage/output';

/**
 * Runs a command on a node of its own. This is a mount namespace with a separate file system for
 * records, jobs and backing files of the default directory. So a test identifies its loop devices
 * by that file system's number.
 */
const ON_OWN_NODE = `set -eu
for directory in /run/stowage /var/lib/stowage /var/lib/metalk8s; do
  mount -t tmpfs -o mode=0755 stowage-node "$directory"
done
exec "$@"`;

const isRoot = process.getuid?.() === 0;

export interface Files {
  stage: string;
  run: number;
  /** Regular expressions. A file that matches any of them runs. Empty: all files run. */
  patterns: readonly string[];
  /** Options for jest. */
  options: readonly string[];
}

/**
 * Maximum time (ms) that a file's process may continue after its tests: resources that a failed
 * test left open would keep it running.
 */
const MAX_AFTER_TESTS = 60_000;

interface Outcome {
  entry: Entry;
  output: string;
}

/** Runs a lane's files concurrently, each as a process of jest. Returns an entry for each. */
export async function runFiles(
  lane: Lane,
  { stage, run, patterns, options }: Files,
): Promise<Entry[]> {
  const files = (await filesOf(lane)).filter(
    (file) =>
      (patterns.length === 0 || patterns.some((pattern) => new RegExp(pattern).test(file))) &&
      canRun(file),
  );
  const release = isRoot ? await ensureUdev() : async () => {};
  const entries: Entry[] = [];
  const waiting = inOrder(lane, files);
  const alone = waiting.filter((file) => lane.alone?.test(file));
  const together = waiting.filter((file) => !alone.includes(file));
  let serial = false;

  /** Returns the next file that may start now. */
  function next(): string | undefined {
    const index = together.findIndex((file) => !(serial && lane.isSerial?.(file)));
    return index < 0 ? undefined : together.splice(index, 1)[0];
  }

  async function one(file: string): Promise<void> {
    const { entry, output } = await runFile(lane, { stage, run, patterns, options }, file);
    entries.push(entry);
    report(entry, output, files.length - entries.length);
  }

  async function work(): Promise<void> {
    for (let file = next(); file !== undefined; file = next()) {
      const isSerial = lane.isSerial?.(file) ?? false;
      if (isSerial) serial = true;
      await one(file);
      if (isSerial) serial = false;
    }
  }

  try {
    await Promise.all(Array.from({ length: lane.workers ?? workers() }, work));
    for (const file of alone) await one(file);
  } finally {
    await release();
  }
  return entries;
}

/**
 * Returns two for each processor: tests of devices spend half their time waiting for the kernel,
 * udev or a process.
 */
function workers(): number {
  const { STOWAGE_TEST_WORKERS } = process.env;
  return STOWAGE_TEST_WORKERS === undefined
    ? 2 * availableParallelism()
    : Number(STOWAGE_TEST_WORKERS);
}

async function filesOf({ projects, only }: Lane): Promise<string[]> {
  const { stdout } = await execa('jest', ['--selectProjects', ...projects, '--listTests'], {
    preferLocal: true,
  });
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('/') && (only?.test(line) ?? true))
    .map((file) => relative('.', file))
    .sort();
}

/** Programs that scripts/setup.sh installs for root only. */
const NEEDS = [
  { program: 'kubectl', files: /\/(kubectl|cli|completion|docs)/ },
  { program: 'promtool', files: /\/(promtool|alerts|dashboard|docs)/ },
];

/** Reports whether a file can run. Prints a message if a program that it needs is not installed. */
function canRun(file: string): boolean {
  const { PATH = '' } = process.env;
  const missing = NEEDS.filter(({ files }) => files.test(file)).find(
    ({ program }) => !PATH.split(':').some((directory) => existsSync(join(directory, program))),
  );
  if (missing !== undefined)
    process.stderr.write(`${file} is left out: there is no ${missing.program}\n`);
  return missing === undefined;
}

function inOrder({ first = [] }: Lane, files: readonly string[]): string[] {
  const rank = (file: string) => {
    const index = first.indexOf(basename(file, '.test.ts'));
    return index < 0 ? first.length : index;
  };
  return files.toSorted((a, b) => rank(a) - rank(b));
}

async function runFile(lane: Lane, { stage, run, options }: Files, file: string): Promise<Outcome> {
  const folder = await temporaryDirectory('results');
  const start = Date.now();
  try {
    const results = join(folder.path, 'results.json');
    const how = [
      '--runInBand',
      '--json',
      '--outputFile',
      results,
      ...options,
      '--runTestsByPath',
      file,
    ];
    const jest = ['jest', '--selectProjects', ...lane.projects, ...how];
    const node = ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', ON_OWN_NODE, 'sh'];
    const [program = '', ...args] = isRoot ? [...node, ...jest] : jest;
    const running = execa(program, args, {
      ...{ reject: false, preferLocal: true, stdin: 'ignore', stdout: 'ignore' },
      env: {
        ...lane.env,
        ...process.env,
        NODE_OPTIONS: '--experimental-vm-modules',
        NODE_NO_WARNINGS: '1',
      },
    });
    const watch = setInterval(async () => {
      const ended = await stat(results).catch(() => undefined);
      if (ended !== undefined && Date.now() - ended.mtimeMs > MAX_AFTER_TESTS)
        running.kill('SIGKILL');
    }, 1000);
    const { stderr: printed, exitCode, isTerminated } = await running;
    clearInterval(watch);
    const stderr = isTerminated ? `${printed}\nended: it ran on after its tests` : printed;
    const path = join(OUTPUT, stage, `${file.replace(/^test\//, '').replaceAll('/', '-')}.log`);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, `${stderr}\n`);
    const counts = JSON.parse(await readFile(results, 'utf8').catch(() => '{}'));
    const { numPassedTests: passed = 0, numPendingTests: leftOut = 0, numFailedTests = 0 } = counts;
    // A file that could not be loaded, or was killed, has no failed test.
    const failed = exitCode === 0 ? 0 : Math.max(1, numFailedTests);
    const ms = Date.now() - start;
    return {
      entry: { run, stage, file, ms, passed, leftOut, failed, why: failuresOf(counts) },
      output: stderr,
    };
  } finally {
    await folder.remove();
  }
}

/** Maximum number of lines of each failure, and of characters of a line. */
const MAX_LINES = 30;
const MAX_LENGTH = 300;

/**
 * Returns the names of the failed tests in jest's results, with the first lines of their messages.
 */
function failuresOf({ testResults = [] }: { testResults?: JestResult[] }): string[] {
  return testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === 'failed')
    .map(({ fullName, failureMessages }) => {
      const lines = failureMessages.join('\n').split('\n').slice(0, MAX_LINES);
      return [fullName, ...lines.map((line) => `  ${line.slice(0, MAX_LENGTH)}`)].join('\n');
    });
}

interface JestResult {
  assertionResults: { status: string; fullName: string; failureMessages: string[] }[];
}

/**
 * Prints a line for a file, and its whole output if a test failed or if it contains a seed for
 * repeating the run.
 */
function report(entry: Entry, output: string, left: number): void {
  const { file, ms, passed, leftOut, failed } = entry;
  const skipped = leftOut ? `, ${leftOut} left out` : '';
  const counts = failed ? `${failed} failed, ${passed} passed` : `${passed} passed`;
  const line = `${failed ? 'FAIL' : 'PASS'} ${file} (${(ms / 1000).toFixed(1)} s, ${counts}${skipped}; ${left} to go)`;
  const whole = failed || output.includes('_SEED=');
  process.stderr.write(whole ? `${output}\n${line}\n` : `${line}\n`);
}
