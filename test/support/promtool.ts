import { spawnSync } from 'node:child_process';

/** Prometheus' own reading of a scrape, and its conventions for names. */
export function checkMetrics(body: string): { status: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
    input: body,
    encoding: 'utf8',
  });
  return { status, said: stdout + stderr };
}
