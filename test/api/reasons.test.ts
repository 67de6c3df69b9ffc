import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import {
  CLAIM_EVENT,
  EVENT,
  PAUSED_REASON,
  POPULATOR_EVENT,
  READY_REASON,
  SNAPSHOT_EVENT,
  VOLUMES_ATTACHED_REASON,
} from '../../src/api/names.ts';
import { NODE_REASONS, REASONS } from '../../src/cli/lib/error-json.ts';
import { EXIT } from '../../src/cli/lib/failure.ts';
import { SIGNAL_EXIT } from '../../src/cli/lib/signals.ts';

/** The page that tells of every event, reason and exit status has a row for each, and no row for another. */

const PAGE = readFileSync('docs/reasons.md', 'utf8');

/** The rows below a heading, each as its cells without backquotes. */
function rowsOf(heading: string): string[][] {
  const part = PAGE.split(/^## /m).find((each) => each.startsWith(`${heading}\n`));
  if (part === undefined) throw new Error(`docs/reasons.md has no part ${heading}`);
  const lines = part
    .split('\n')
    .filter((line) => /^\| (`|\d)/.test(line) && !line.startsWith('| `reason` |'));
  return lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  );
}

const first = (heading: string): string[] => rowsOf(heading).map(([reason = '']) => reason);

describe('docs/reasons.md has a row for each', () => {
  const { failedAttachVolume, successfulAttachVolume, ...ofVolumes } = EVENT;
  test.each<[string, object]>([
    ['Events of Volumes', ofVolumes],
    ['Events of pods', { failedAttachVolume, successfulAttachVolume }],
    ['Events of claims', [...Object.values(CLAIM_EVENT), ...Object.values(POPULATOR_EVENT)]],
    ['Events of snapshots and their contents', SNAPSHOT_EVENT],
    ['Reasons of the condition Ready of a Volume', READY_REASON],
    ['Reasons of other conditions', { ...PAUSED_REASON, ...VOLUMES_ATTACHED_REASON }],
  ])('%s', (heading, reasons) => {
    expect(first(heading).sort()).toEqual(Object.values(reasons).sort());
  });

  test('exit status, with the code and the reasons of its errors', () => {
    const rows = rowsOf('Exit statuses').filter(([status = '']) => /^\d/.test(status));
    const codes = Object.entries(EXIT).map(([code, status]) => [String(status), code]);
    const signals = Object.entries(SIGNAL_EXIT).map(([signal, status]) => [String(status), signal]);
    expect(rows.map((cells) => cells.slice(0, 2))).toEqual([['0', ''], ...codes, ...signals]);
    const told = rows
      .flatMap(([, , reasons = '']) => reasons.split(', '))
      .filter((reason) => reason !== '');
    const all = [...Object.values(REASONS), ...Object.values(NODE_REASONS), 'ServerUnreachable'];
    expect(told.sort()).toEqual(all.sort());
  });

  test('error of a node', () => {
    const rows = rowsOf('Exit statuses').filter(([reason = '']) => /^Node/.test(reason));
    expect(rows.map(([reason]) => reason).sort()).toEqual(Object.values(NODE_REASONS).sort());
  });
});

test('docs/output.md has every exit status', () => {
  const part =
    readFileSync('docs/output.md', 'utf8').split('## Exit status\n')[1]?.split('\n## ')[0] ?? '';
  const told = [...part.matchAll(/^\| ([\d, ]+) \|/gm)].flatMap(([, cell = '']) =>
    cell.split(', '),
  );
  const ours = [0, ...Object.values(EXIT), ...Object.values(SIGNAL_EXIT), 141].map(String);
  expect(told).toEqual(ours);
});

/** Else one could be emitted that no list has. */
test('no reason of an event is written but in src/api/names.ts', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.startsWith('sandbox/'),
  );
  const literal =
    /(type: '(Normal|Warning)'( as const)?,\s*reason: ['`])|(\.event\([^;]*?'(Normal|Warning)',\s*['`])/;
  const found = files.filter((file) => literal.test(readFileSync(join('src', file), 'utf8')));
  expect(found).toEqual([]);
});
