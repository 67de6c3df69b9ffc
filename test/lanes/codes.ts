/**
 * `npm run test:codes`: checks that `why` depends on codes only. Its unit tests get different
 * sentences on each run. Then a copy of the checkout with random messages runs the tests that cause
 * problems and fix them by the output of `why --all`.
 */
import { readFile } from 'node:fs/promises';
import { execa } from 'execa';
import { createWorkingCopy } from '../mutations/working-copy.ts';
import { runMain, UsageError } from './main.ts';

/** The file that renders the sentence of a reason. */
const TEMPLATES = 'src/api/reasons/template.ts';
const FILL = 'export function fill(';

/**
 * Makes the sentences random, but constant while the copy is used: a changed sentence would count
 * as an update.
 */
async function randomSentences(seed: number): Promise<string> {
  const text = await readFile(TEMPLATES, 'utf8');
  if (!text.includes(FILL)) throw new UsageError(`${TEMPLATES} does not have "${FILL}"`);
  return `import { createHash } from 'node:crypto';
${text.replace(FILL, 'export function unused(')}
export const fill = (...all: unknown[]): string =>
  createHash('sha256').update('${seed}').update(JSON.stringify(all)).digest('base64url');
`;
}

await runMain(async () => {
  const seed = Number(process.env.STOWAGE_FAULTS_SEED ?? Date.now() % 2 ** 32);
  process.stderr.write(`codes: STOWAGE_FAULTS_SEED=${seed}\n`);
  const env = { STOWAGE_FAULTS_SEED: String(seed) };
  const lane = (cwd: string, ...args: string[]) =>
    execa('node', ['test/lanes/run.ts', ...args], { cwd, env, stdio: 'inherit', reject: false });
  const copy = await createWorkingCopy();
  try {
    await copy.write(TEMPLATES, await randomSentences(seed));
    await copy.build();
    const unit = await lane(process.cwd(), 'unit', '--', 'test/cli/why/');
    const { failed } = await lane(copy.path, 'thorough', '--', 'thorough/daemon/why-all');
    if (unit.failed || failed) process.exitCode = 1;
  } finally {
    await copy.remove();
  }
});
