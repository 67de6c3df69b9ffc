/**
 * Runs lanes of the suite, one after the other, up to the first that fails:
 * `node test/lanes/run.ts LANE… [PATTERN…] [JEST OPTION…]`.
 * PATTERN is a regular expression of paths; a file that matches any of them runs.
 */
import { execa } from 'execa';
import { runChecks } from './checks.ts';
import { type Entry, measureIdle, record } from './journal.ts';
import { LANES, needsBuild } from './lanes.ts';
import { runFiles } from './run-files.ts';
import { runUnit } from './run-unit.ts';

const args = process.argv.slice(2);
const stages = args.filter((arg) => arg === 'checks' || arg === 'unit' || arg in LANES);
const options = args.filter((arg) => arg.startsWith('-'));
const patterns = args.filter((arg) => !stages.includes(arg) && !options.includes(arg));
const run = Date.now();

async function runStage(stage: string): Promise<Entry[]> {
  if (stage === 'checks') return [{ run, stage, ms: 0, ...(await runChecks()) }];
  if (stage === 'unit') {
    const only = patterns.flatMap((pattern) => ['--testPathPatterns', pattern]);
    return runUnit(run, [...options, ...only, ...(only.length > 0 ? ['--passWithNoTests'] : [])]);
  }
  const lane = LANES[stage];
  if (lane === undefined) throw new Error(`there is no lane ${stage}`);
  return runFiles(lane, { stage, run, patterns, options });
}

if (stages.some(needsBuild)) {
  if (process.getuid?.() !== 0) {
    throw new Error('the cluster tests need root: loop devices, udev, sshd, a kubelet and the image of a VM');
  }
  await execa('node', ['test/cluster/run.ts', 'build'], { stdio: 'inherit' });
}

const total = { passed: 0, failed: 0, leftOut: 0 };
for (const stage of stages) {
  const idle = await measureIdle();
  const start = Date.now();
  const entries = await runStage(stage);
  const sum = (key: keyof typeof total) => entries.reduce((all, entry) => all + (entry[key] ?? 0), 0);
  const whole = { run, stage, ms: Date.now() - start, idle: await idle() };
  const counts = { passed: sum('passed'), failed: sum('failed'), leftOut: sum('leftOut') };
  const files = entries.filter(({ file }) => file !== undefined);
  await record([...files, { ...whole, ...counts }]);
  for (const key of ['passed', 'failed', 'leftOut'] as const) total[key] += counts[key];
  process.stderr.write(
    `${stage}: ${files.length} files in ${Math.round(whole.ms / 1000)} s, ${counts.passed} passed, ${counts.failed} failed, ${counts.leftOut} left out; processors idle ${Math.round(whole.idle * 100)} % of the time\n`,
  );
  for (const { file, failed } of entries) if (failed) process.stderr.write(`FAILED ${file ?? stage}\n`);
  if (counts.failed > 0) break;
}
process.stdout.write(`${total.passed} passed, ${total.failed} failed, ${total.leftOut} skipped\n`);
process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;
