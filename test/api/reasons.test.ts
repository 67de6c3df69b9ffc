import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import {
  BACKUP_EVENT,
  CLAIM_EVENT,
  EVENT,
  PAUSED_REASON,
  POPULATOR_EVENT,
  READY_REASON,
  ROOM_EVENT,
  SNAPSHOT_EVENT,
  VOLUMES_ATTACHED_REASON,
} from '../../src/api/names.ts';
import { PUBLIC_REASONS } from '../../src/api/reasons/public.ts';
import { fill, parametersIn } from '../../src/api/reasons/template.ts';
import type { ReasonEntry } from '../../src/api/reasons/types.ts';
import {
  parseReason,
  REASONS,
  readReason,
  reason,
  reasonAnnotations,
  reasonOfAnnotations,
  refuse,
} from '../../src/api/reasons.ts';
import { REASONS as ERROR_REASONS, NODE_REASONS } from '../../src/cli/lib/error-json.ts';
import { EXIT } from '../../src/cli/lib/failure.ts';
import { SIGNAL_EXIT } from '../../src/cli/lib/signals.ts';
import { obstructionOf } from '../../src/cli/why/obstruction.ts';
import { REASONS as CAUSES } from '../../src/cli/why/reasons.ts';
import { volumeNamed } from '../support/volumes.ts';

/** The page must have a row for every event, reason and exit status, and no other rows. */

const PAGE = readFileSync('docs/reasons.md', 'utf8');

/** Returns the rows below a heading as cells without backticks. */
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

describe('PUBLIC_REASONS', () => {
  const { failedAttachVolume, successfulAttachVolume, ...ofVolumes } = EVENT;
  test.each<[string, object]>([
    ['Events of Volumes', ofVolumes],
    ['Events of pods', { failedAttachVolume, successfulAttachVolume }],
    ['Events of claims', [...Object.values(CLAIM_EVENT), ...Object.values(POPULATOR_EVENT)]],
    ['Events of storage classes', ROOM_EVENT],
    ['Events of snapshots and their contents', SNAPSHOT_EVENT],
    ['Events of Backups', BACKUP_EVENT],
    ['Reasons of the condition Ready of a Volume', READY_REASON],
    ['Reasons of other conditions', { ...PAUSED_REASON, ...VOLUMES_ATTACHED_REASON }],
  ])('lists exactly the reasons of the code under "%s"', (heading, reasons) => {
    const part = PUBLIC_REASONS.find(({ title }) => title === heading);
    const listed = part?.rows.map(([reason]) => reason);
    expect(listed?.toSorted()).toEqual(Object.values(reasons).sort());
  });
});

describe('each code of REASONS', () => {
  const ENTRIES = Object.entries<ReasonEntry>(REASONS);

  test('is defined in exactly one file of src/api/reasons', () => {
    const families = readdirSync('src/api/reasons').filter((name) => name.endsWith('.ts'));
    const codes = families.flatMap((name) =>
      [
        ...readFileSync(join('src/api/reasons', name), 'utf8').matchAll(/^ {2}([A-Z]\w+): \{$/gm),
      ].map(([, code]) => code),
    );
    expect(codes.toSorted()).toEqual(ENTRIES.map(([code]) => code).toSorted());
  });

  test('is in CamelCase, and its texts have only valid placeholders', () => {
    const wrong = ENTRIES.filter(([code, { message, action = '' }]) => {
      const filled = [message, action].map((text) =>
        fill(text, Object.fromEntries(parametersIn(text).map((name) => [name, 'x']))),
      );
      return !/^[A-Z][A-Za-z0-9]+$/.test(code) || filled.some((text) => /[[\]{}]/.test(text));
    });
    expect(wrong).toEqual([]);
  });

  test('is listed in docs/reasons.md', () => {
    const missing = ENTRIES.filter(([code]) => !PAGE.includes(`| \`${code}\` |`));
    expect(missing).toEqual([]);
  });

  test('is named in the tests', () => {
    const here = 'api/reasons.test.ts';
    const texts = readdirSync('test', { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(ts|py)$/.test(file) && file !== here)
      .map((file) => readFileSync(join('test', file), 'utf8'))
      .join('\n');
    const named = new Set(texts.match(/\b[A-Z][A-Za-z0-9]+\b/g));
    expect(ENTRIES.filter(([code]) => !named.has(code)).map(([code]) => code)).toEqual([]);
  });

  test('is explained by why without its parameters, and has a cause that why knows', () => {
    const volume = volumeNamed('data1');
    for (const [code, { cause }] of ENTRIES) {
      for (const context of [{ node: 'n1' }, { node: 'n1', volume }]) {
        expect(obstructionOf({ code, parameters: {} }, context)).toBeDefined();
      }
      if (cause !== undefined) expect(CAUSES).toContain(cause);
    }
  });
});

describe('docs/reasons.md', () => {
  test('has a row for each exit status, with its code and reasons', () => {
    const rows = rowsOf('Exit statuses').filter(([status = '']) => /^\d/.test(status));
    const codes = Object.entries(EXIT).map(([code, status]) => [String(status), code]);
    const signals = Object.entries(SIGNAL_EXIT).map(([signal, status]) => [String(status), signal]);
    expect(rows.map((cells) => cells.slice(0, 2))).toEqual([['0', ''], ...codes, ...signals]);
    const told = rows
      .flatMap(([, , reasons = '']) => reasons.split(', '))
      .filter((reason) => reason !== '');
    const all = [
      ...Object.values(ERROR_REASONS),
      ...Object.values(NODE_REASONS),
      'ServerUnreachable',
    ];
    expect(told.sort()).toEqual(all.sort());
  });

  test('has a row for each node error', () => {
    const rows = rowsOf('Exit statuses').filter(([reason = '']) => /^Node/.test(reason));
    expect(rows.map(([reason]) => reason).sort()).toEqual(Object.values(NODE_REASONS).sort());
    // ssh's errors about host keys have the code `refused`.
    const named = rows.filter(([, node]) => node?.includes('host key'));
    expect(named.map(([reason]) => reason)).toEqual([NODE_REASONS.refused]);
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

/** Otherwise an event could have a reason that no list contains. */
test('no code emits an event with a literal reason', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.startsWith('sandbox/'),
  );
  const literal =
    /(type: '(Normal|Warning)'( as const)?,\s*reason: ['`])|(\.event\([^;]*?'(Normal|Warning)',\s*['`])/;
  const found = files.filter((file) => literal.test(readFileSync(join('src', file), 'utf8')));
  expect(found).toEqual([]);
});

/** Sentences may change at any time: programs must use codes. */
test('why parses no message of Stowage', () => {
  const files = readdirSync('src/cli/why', { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const reads =
    /(message|holdup|refusal|hint|said)\)?\??\.(match|matchAll|includes|startsWith|endsWith|search|split|replace|indexOf)\(|\.(test|exec)\((\w+\.)?(message|holdup|refusal|hint|said)/;
  // Parses kube-scheduler's messages, the only form of its reasons.
  const others = ['claim/scheduler-words.ts'];
  const found = files.filter(
    (file) => !others.includes(file) && reads.test(readFileSync(join('src/cli/why', file), 'utf8')),
  );
  expect(found).toEqual([]);
});

describe('reading a reason', () => {
  test.each<[string, unknown, unknown]>([
    ['an object with a code', { code: 'JobDied' }, { code: 'JobDied', parameters: {} }],
    ['a code of another version', { code: 'New', parameters: { a: 'b' } }, expect.anything()],
    ['a string', 'JobDied', undefined],
    ['an invalid code', { code: 'job died' }, undefined],
    ['a parameter that is not a string', { code: 'JobDied', parameters: { step: 1 } }, undefined],
    [
      'a parameter that is too long',
      { code: 'JobDied', parameters: { step: 'x'.repeat(1025) } },
      undefined,
    ],
  ])('readReason checks the value: %s', (_, value, expected) => {
    expect(readReason(value)).toEqual(expected);
  });

  test.each([
    ['{"code":"JobDied"', undefined],
    ['{"code":"JobDied"}', { code: 'JobDied', parameters: {} }],
    [undefined, undefined],
    [`{"code":"JobDied","x":"${'x'.repeat(8192)}"}`, undefined],
  ])('parseReason reads the JSON %j', (text, expected) => {
    expect(parseReason(text)).toEqual(expected);
  });

  test('reasonOfAnnotations restores a written reason, and rejects forged parameters', () => {
    const made = reason('JobDied', { step: 'make "it"' });
    expect(reasonOfAnnotations(reasonAnnotations(made))).toEqual(made);
    const code = 'stowage.dev/reason';
    const forged = { [code]: 'JobDied', 'stowage.dev/parameters': '{},"code":"StepFailed"' };
    expect(reasonOfAnnotations(forged)).toBeUndefined();
    expect(reasonOfAnnotations({ [code]: 'JobDied' })).toEqual({ code: 'JobDied', parameters: {} });
    expect(reasonOfAnnotations({})).toBeUndefined();
  });
});

test('parameters full of quotes are truncated so that the JSON of the reason still parses', () => {
  const quotes = '"'.repeat(1024);
  const made = reason('FreeExtentsCarryData', {
    ...{ group: quotes, content: quotes, places: quotes, overwrite: quotes, consent: quotes },
  });
  expect(parseReason(JSON.stringify(made))).toEqual(made);
  expect(made.parameters.group).toHaveLength(512);
});

test('a long parameter is truncated in the reason, and complete in the message', () => {
  const step = 'x'.repeat(2000);
  const { refusal, reason: made } = refuse('JobDied', { step });
  expect(refusal).toContain(step);
  expect(made.parameters.step).toHaveLength(1024);
});
