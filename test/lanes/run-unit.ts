import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { execa } from 'execa';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import type { Entry } from './journal.ts';
import { UsageError } from './main.ts';

/** The part of jest's --json output that this file reads. */
interface Results {
  testResults: {
    name: string;
    startTime: number;
    endTime: number;
    assertionResults: { status: string }[];
  }[];
}

/**
 * Runs the unit tests in one jest, which distributes them over the processors. Returns an entry for
 * each file.
 */
export async function runUnit(run: number, args: readonly string[]): Promise<Entry[]> {
  const folder = await temporaryDirectory('results');
  try {
    const results = join(folder.path, 'results.json');
    const { exitCode } = await execa(
      'jest',
      ['--selectProjects', 'unit', '--json', '--outputFile', results, ...args],
      {
        ...{ reject: false, preferLocal: true, stdio: ['ignore', 'ignore', 'inherit'] },
        env: { NODE_OPTIONS: '--experimental-vm-modules', NODE_NO_WARNINGS: '1' },
      },
    );
    const text = await readFile(results, 'utf8').catch(() => undefined);
    if (text === undefined)
      throw new UsageError('jest ended without results, for the reason above');
    const { testResults } = JSON.parse(text) as Results;
    const entries = testResults.map(({ name, startTime, endTime, assertionResults }) => {
      const count = (status: string) =>
        assertionResults.filter((each) => each.status === status).length;
      return {
        ...{ run, stage: 'unit', file: relative('.', name), ms: endTime - startTime },
        ...{ passed: count('passed'), leftOut: count('pending'), failed: count('failed') },
      };
    });
    // A file that cannot be loaded has no failed test.
    const failed = entries.some((entry) => entry.failed > 0);
    if (exitCode !== 0 && !failed && entries.length > 0)
      entries[0] = { ...(entries[0] as (typeof entries)[0]), failed: 1 };
    return entries;
  } finally {
    await folder.remove();
  }
}
