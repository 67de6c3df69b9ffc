import { spawnSync } from 'node:child_process';

/**
 * kube-controller-manager's name, which its dashboards ask for, and those of KEP-1495: promtool says the same of the scrapes of those
 * who use them.
 */
const THEIRS =
  /^(attach_detach_controller_attachdetach_controller_forced_detaches|volume_(data_source_validator|populator)_operation_count) .*"(_total|_count)" suffix$/;

/** Prometheus' own reading of a scrape, and its conventions for names; `status`: 0 where nothing is wrong with it. */
export function checkMetrics(body: string): { status: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
    input: body,
    encoding: 'utf8',
  });
  const lines = (stdout + stderr).split('\n').filter((line) => line !== '' && !THEIRS.test(line));
  return { status: status === 3 && lines.length === 0 ? 0 : status, said: lines.join('\n') };
}
