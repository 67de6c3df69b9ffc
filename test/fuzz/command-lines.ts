import { execFileSync } from 'node:child_process';
import type { Step } from '../../src/nodes/job.ts';
import { jobScript } from '../../src/nodes/job-script.ts';
import { quoteAll } from '../../src/nodes/quote.ts';
import { SCRIPTS } from '../../src/storage/scripts/scripts.ts';
import { UID } from '../support/volume-input.ts';

/** Arguments that may have several lines: scripts. */
const TEXTS = new Set<string>(Object.values(SCRIPTS));

/** Unique command lines of plans, to be checked by a real shell. */
const lines = new Map<string, readonly string[]>();

/** Checks the commands of steps and stores their lines for `throughShell`. */
export function collect(steps: readonly Step[]): void {
  const job = { key: { subject: UID, id: 'prepare-1' }, steps };
  const script = jobScript(job, 'n1');
  for (const { argv, preconditions } of steps) {
    for (const each of [argv, ...preconditions.map((precondition) => precondition.argv)]) {
      const bad = each.find((element) => /[\0\n]/.test(element) && !TEXTS.has(element));
      if (bad !== undefined)
        throw new Error(`an argument with NUL or a newline: ${JSON.stringify(each)}`);
      const line = quoteAll(each);
      if (!script.includes(line)) throw new Error(`not quoted as it is in the script: ${line}`);
      lines.set(line, each);
    }
  }
  if (lines.size > 2000) throughShell();
}

/** Prints the arguments of each stored line through a real `sh`, and compares them. */
export function throughShell(): void {
  const all = [...lines];
  lines.clear();
  const script = all.map(([line, argv]) => `printf '%s\\0' ${argv.length} ${line}\n`).join('');
  const printed = execFileSync('sh', [], { input: script, maxBuffer: 1 << 30 })
    .toString('utf8')
    .split('\0');
  for (const [line, argv] of all) {
    const got = printed.splice(0, Number(printed.shift()));
    const sent = argv.map((each) => each.toWellFormed());
    if (JSON.stringify(got) !== JSON.stringify(sent))
      throw new Error(`sh reads ${line} as ${JSON.stringify(got)}`);
  }
}
