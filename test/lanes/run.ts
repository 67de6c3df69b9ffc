/**
 * Runs lanes of the suite in sequence, up to the first failure: `node test/lanes/run.ts LANE… [--]
 * [PATTERN…] [JEST OPTION…]`.
 * PATTERN is a regular expression of paths. A file that matches any of them runs.
 */
import { execa } from 'execa';
import { type Arguments, parseArguments } from './arguments.ts';
import { runChecks } from './checks.ts';
import { type Entry, measureIdle, record } from './journal.ts';
import { LANES, type Lane, needsBuild } from './lanes.ts';
import { runMain, UsageError } from './main.ts';
import { runFiles } from './run-files.ts';
import { runUnit } from './run-unit.ts';

const run = Date.now();

async function runStage(stage: string, { patterns, options }: Arguments): Promise<Entry[]> {
  if (stage === 'checks') return [{ run, stage, ms: 0, ...(await runChecks()) }];
  if (stage === 'unit') {
    const only = patterns.flatMap((pattern) => ['--testPathPatterns', pattern]);
    return runUnit(run, [...options, ...only, ...(only.length > 0 ? ['--passWithNoTests'] : [])]);
  }
  return runFiles(LANES[stage] as Lane, { stage, run, patterns, options });
}

await runMain(async () => {
  const asked = parseArguments(process.argv.slice(2));
  const { stages, patterns, options } = asked;
  if (stages.some(needsBuild)) {
    if (process.getuid?.() !== 0) {
      throw new UsageError(
        'the cluster tests need root: loop devices, udev, sshd, a kubelet and the image of a VM',
      );
    }
    await execa('node', ['test/cluster/run.ts', 'build'], { stdio: 'inherit' });
  }

  const part = patterns.length + options.length > 0 ? { part: true as const } : {};
  const total = { passed: 0, failed: 0, leftOut: 0 };
  for (const stage of stages) {
    const idle = await measureIdle();
    const start = Date.now();
    const entries = await runStage(stage, asked);
    const sum = (key: keyof typeof total) =>
      entries.reduce((all, entry) => all + (entry[key] ?? 0), 0);
    const whole = { run, stage, ms: Date.now() - start, idle: await idle(), ...part };
    const counts = { passed: sum('passed'), failed: sum('failed'), leftOut: sum('leftOut') };
    const files = entries.filter(({ file }) => file !== undefined);
    await record([...files, { ...whole, ...counts }]);
    for (const key of ['passed', 'failed', 'leftOut'] as const) total[key] += counts[key];
    process.stderr.write(
      `${stage}: ${files.length} files in ${Math.round(whole.ms / 1000)} s, ${counts.passed} passed, ${counts.failed} failed, ${counts.leftOut} left out; processors idle ${Math.round(whole.idle * 100)} % of the time\n`,
    );
    // Repeats failures at the end, the visible part of a long output.
    for (const { file, failed, why = [] } of entries) {
      if (failed) process.stderr.write([`FAILED ${file ?? stage}`, ...why, ''].join('\n'));
    }
    if (counts.failed > 0) break;
  }
  if (total.passed + total.failed + total.leftOut === 0) {
    throw new UsageError(`no test of ${stages.join(', ')} matches ${patterns.join(' ')}`);
  }
  process.stdout.write(
    `${total.passed} passed, ${total.failed} failed, ${total.leftOut} skipped\n`,
  );
  process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;
});
