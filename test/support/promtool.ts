import { spawnSync } from 'node:child_process';

/**
 * Complaints about adopted names: kube-controller-manager's, for its dashboards, and KEP-1495's.
 * promtool complains about the original scrapes, too.
 */
const THEIRS =
  /^(attach_detach_controller_attachdetach_controller_forced_detaches|volume_(data_source_validator|populator)_operation_count) .*"(_total|_count)" suffix$/;

/**
 * Checks a scrape with Prometheus' parser and naming conventions.
 * @returns status 0 if promtool finds no fault
 */
export function checkMetrics(body: string): { status: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
    input: body,
    encoding: 'utf8',
  });
  const lines = (stdout + stderr).split('\n').filter((line) => line !== '' && !THEIRS.test(line));
  return { status: status === 3 && lines.length === 0 ? 0 : status, said: lines.join('\n') };
}
