import { describe, expect, test } from '@jest/globals';
import { describeFailure } from '../../../src/nodes/job-text.ts';
import { quoteAll } from '../../../src/nodes/quote.ts';
import { cancelFill } from '../../../src/storage/device.ts';
import { plan } from '../../../src/storage/plan.ts';
import { fillStep } from '../../../src/storage/populate/fill.ts';
import { progressText, readProgress, waitReason } from '../../../src/storage/populate/progress.ts';
import { shownSource, sourceWords } from '../../../src/storage/populate/source-words.ts';
import type { Fill } from '../../../src/storage/populate/types.ts';
import type { DesiredSparse, ObservedSparse } from '../../../src/storage/types.ts';
import { commandsOf, may } from '../../support/sudoers.ts';
import { FILE, freshNode, loop, madeNode, sparseDesired, UID } from '../../support/volume-input.ts';

const fill: Fill = {
  builtin: 'Image',
  what: 'Image prod/debian',
  options: {
    source: 'https://a.example/x?y=$(id)',
    format: 'qcow2',
    compression: 'zstd',
    sha256: 'a'.repeat(64),
  },
  authorization: 'Bearer secret',
};

const desired: DesiredSparse = {
  ...sparseDesired,
  mode: 'Block',
  fs: undefined,
  fill,
  onDemand: true,
};
const files: DesiredSparse = { ...desired, mode: 'Filesystem', fs: { type: 'xfs', options: [] } };

const stepsOf = (wanted: DesiredSparse, observed: ObservedSparse) => {
  const made = plan('provision', wanted, observed, 3);
  if ('refusal' in made) throw new Error(made.refusal);
  return made.steps;
};
const namesOf = (wanted: DesiredSparse, observed: ObservedSparse) =>
  stepsOf(wanted, observed).map(({ name }) => name);

describe('the plan of a populated file', () => {
  test('populates the file before its rename, and records done afterwards', () => {
    const names = namesOf(desired, freshNode);
    expect(names.slice(names.indexOf('remove the remains of an interrupted attempt'))).toEqual([
      'remove the remains of an interrupted attempt',
      expect.stringMatching(/^create a sparse file of/),
      'create the partition',
      'populate the volume from Image prod/debian',
      'sync the file',
      'rename the file to its final name',
      "sync the file's directory",
      'write the record "done"',
      'put the record "done" in place',
      'sync the directory of records',
    ]);
  });

  test('renames the file only once no loop device has it', () => {
    const named = stepsOf(files, freshNode).find(
      ({ name }) => name === 'rename the file to its final name',
    );
    expect(named?.preconditions).toContainEqual(
      expect.objectContaining({ argv: ['losetup', '-j', `${FILE}.partial`] }),
    );
  });

  test('first detaches the loop device of an interrupted attempt', () => {
    const left = { ...loop, backingFile: `${FILE}.partial` };
    const observed = { ...freshNode, intent: madeNode.intent, recordFiles: true, loops: [left] };
    expect(namesOf(files, observed)[0]).toBe('detach /dev/loop3');
  });

  test.each<[DesiredSparse, string[]]>([
    [desired, ['block', String(1 << 20)]],
    [files, ['xfs', '0']],
  ])('passes the file, type and offset of the content to the script', (wanted, words) => {
    const step = stepsOf(wanted, freshNode).find(({ name }) => name.startsWith('populate'));
    expect(step?.argv.slice(5)).toEqual([
      ...[`${FILE}.partial`, UID, ...words, String(1 << 30), 'zeroes'],
      ...['qcow2', 'zstd', 'a'.repeat(64), 'https://a.example/x'],
    ]);
  });

  test('passes secrets and the query of a URL only on standard input', () => {
    const step = fillStep(fill, {
      ...{
        path: `${FILE}.partial`,
        uid: UID,
        content: 'block',
        offsetBytes: 0n,
        sizeBytes: 1n,
        isZero: true,
      },
    });
    expect(step.stdin).toBe('\nBearer secret\n?y=$(id)\n');
    expect(step.argv.slice(5).join(' ')).not.toContain('y=$(id)');
    expect(step.argv.join(' ')).not.toContain('secret"');
    expect(step.argv.slice(5).join(' ')).not.toContain('secret');
  });

  test('uses only commands that sudoers allows', () => {
    const commands = commandsOf([
      ...stepsOf(desired, freshNode),
      ...stepsOf(files, freshNode),
      ...cancelFill(desired),
    ]);
    expect(commands.filter((argv) => !may(argv))).toEqual([]);
  });

  test.each([
    [['/etc/shadow']],
    [[`${FILE}`]],
    [['/dev/sda']],
    [[`${FILE}.partial`, UID, 'block', '0', '1', 'zeroes', 'raw', 'none', '-', 'http://a b']],
    [[`${FILE}.partial`, UID, 'block', '0', '1', 'zeroes', 'vmdk', 'none', '-', 'http://a']],
  ])('is not allowed with other arguments: %j', (words) => {
    const step = stepsOf(desired, freshNode).find(({ name }) => name.startsWith('populate'));
    const [head = [], rest = []] = [step?.argv.slice(0, 5), step?.argv.slice(5)];
    expect(may([...head, ...words, ...rest.slice(words.length)])).toBe(false);
    expect(may([...head.slice(0, 3), 'stowage-image-inside', ...head.slice(4), ...rest])).toBe(
      false,
    );
  });

  test('reports the output of the program on failure, not the text of the script', () => {
    const step = stepsOf(desired, freshNode).find(({ name }) => name.startsWith('populate'));
    const text = describeFailure({
      ...{ state: 'failed', exit: 3, output: 'the source is not a qcow2\n' },
      step: { name: step?.name ?? '', command: quoteAll(step?.argv ?? []) },
    });
    expect(text).toMatch(
      /^the step "populate the volume from Image prod\/debian" failed with status 3: stowage-image '\/var/,
    );
    expect(text.length).toBeLessThan(500);
    expect(text).toContain(': the source is not a qcow2');
  });
});

test.each([
  ['https://a.example/x', 'https://a.example/x', '', 'https://a.example/x'],
  ['https://a.example?a#b', 'https://a.example', '?a', 'https://a.example?...'],
  ['https://a.example/x?a?b', 'https://a.example/x', '?a?b', 'https://a.example/x?...'],
  ['http://a.example/x#b?c', 'http://a.example/x', '', 'http://a.example/x'],
  ['/srv/a?b#c', '/srv/a?b#c', '', '/srv/a?b#c'],
  ['backup:u:/srv/a?b', 'backup:u:/srv/a?b', '', 'backup:u:/srv/a?b'],
])('shownSource shows %s without its query', (source, argument, query, shown) => {
  expect(sourceWords(source)).toEqual({ argument, query });
  expect(shownSource(source)).toBe(shown);
});

test.each([
  [undefined, undefined],
  ['make a file', undefined],
  ['stowage-progress 1 2\nstowage-progress 1048576 4194304\n', '25% (1 of 4 MiB)'],
  ['stowage-progress 1048576 -\n', '1 MiB'],
  ['stowage-progress 5242880 4194304', '100% (5 of 4 MiB)'],
  ['stowage-progress 1048576 0\n', '1 MiB'],
  ['stowage-progress x 4\n', undefined],
  ['stowage-waiting node\n', 'waiting for one of the 16 slots on the node, which are all taken'],
  [
    'stowage-waiting node\nstowage-waiting namespace\n',
    'waiting for a slot on the node: its namespace already has its share',
  ],
  ['stowage-waiting node\nstowage-waiting over\n', undefined],
])('readProgress reads %j', (output, text) => {
  const progress = readProgress(output);
  expect(progress && progressText(progress)).toBe(text);
});

test.each([
  ['node', 'FillPlacesTaken'],
  ['namespace', 'NamespaceFillPlacesTaken'],
] as const)('the reason to wait for a slot of the %s is %s', (waits, code) => {
  expect(waitReason({ waits })).toEqual({ code, parameters: {} });
});

describe('an archive', () => {
  const unpack = (builtin: Fill['builtin'], options: Fill['options'], wanted = files) =>
    fillOfPlan({ ...wanted, fill: { builtin, what: `${builtin} prod/x`, options } });
  const fillOfPlan = (wanted: DesiredSparse) =>
    stepsOf(wanted, freshNode).find(({ name }) => name.startsWith('populate'))?.argv ?? [];
  const source = { source: '/a/b.tar', compression: 'gzip', mode: 'Filesystem', backup: UID };

  test.each<[string, readonly string[], readonly string[]]>([
    [
      'with allowed devices and a checksum',
      unpack('Archive', { ...source, allowed: 'devices', sha256: 'b'.repeat(64) }),
      ['stowage-archive', 'zeroes', 'gzip', 'devices', 'b'.repeat(64), '/a/b.tar'],
    ],
    [
      'with the defaults',
      unpack('Archive', source),
      ['stowage-archive', 'zeroes', 'gzip', 'plain', '-', '/a/b.tar'],
    ],
    [
      'from a backup',
      unpack('Backup', source),
      ['stowage-archive', 'zeroes', 'gzip', 'devices+setuid', '-', `backup:${UID}:/a/b.tar`],
    ],
    [
      'from a backup of a device',
      unpack('Backup', { ...source, mode: 'Block' }, desired),
      ['stowage-image', 'zeroes', 'exact', 'gzip', '-', `backup:${UID}:/a/b.tar`],
    ],
  ])('is unpacked with the expected arguments: %s', (_what, argv, [name, ...words]) => {
    expect([argv[3], ...argv.slice(-words.length)]).toEqual([name, ...words]);
    expect(may(argv)).toBe(true);
  });
});
