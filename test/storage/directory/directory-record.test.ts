import { expect, test } from '@jest/globals';
import { refuse } from '../../../src/api/reasons.ts';
import {
  directoryRecord,
  onSameFileSystem,
  recordDirectory,
} from '../../../src/storage/directory/directory-record.ts';
import type { FileSystemPlace } from '../../../src/storage/directory/types.ts';
import { plan } from '../../../src/storage/plan.ts';
import { DIRECTORIES } from '../../../src/storage/records.ts';
import { FakeNode } from '../../support/fake-node.ts';
import { directory, FILE, sparseDesired, UID } from '../../support/volume-input.ts';

const OTHER = UID.replace('6', '7');
const RECORD = directoryRecord(directory.directory);
const here = sparseDesired;
const there = { ...sparseDesired, uid: OTHER, file: FILE.replace(UID, OTHER) };
const elsewhere: FileSystemPlace = {
  uuid: 'b-17',
  type: 'xfs',
  source: '/dev/vdb',
  path: '/sparse',
};

function stepsOf(node: FakeNode, desired: typeof here, now?: FileSystemPlace) {
  const observed = node.observe(desired);
  const made = plan(
    'provision',
    desired,
    { ...observed, directory: { ...observed.directory, ...(now === undefined ? {} : { now }) } },
    3,
  );
  if ('refusal' in made) throw new Error(made.refusal);
  return [...made.steps];
}
const textOf = (node: FakeNode) => {
  const file = node.files.get(RECORD);
  return file !== undefined && 'text' in file ? file.text : undefined;
};

test('a directory record is written once, before the first volume', () => {
  const node = new FakeNode();
  const steps = stepsOf(node, here);
  const recorded = steps.findIndex(({ argv }) => argv[0] === 'sync');
  expect(steps.slice(0, recorded + 1).map(({ argv }) => argv.join(' '))).toEqual([
    `install -d -m 0700 /var/lib/stowage ${DIRECTORIES}`,
    `dd of=${DIRECTORIES}/${UID}.new conv=fsync status=none`,
    `mv -n -T ${DIRECTORIES}/${UID}.new ${RECORD}`,
    `sync ${DIRECTORIES} /var/lib/stowage /var/lib`,
  ]);
  node.run(steps);
  expect(JSON.parse(textOf(node) ?? '')).toEqual({
    version: 1,
    directory: directory.directory,
    uuid: '07f99387-d767-427c-84af-490d20627c13',
    type: 'ext4',
    source: '/dev/vda',
    path: '/@/var/lib/metalk8s/storage/sparse',
  });
  expect(stepsOf(node, there).some(({ argv }) => argv.join(' ').includes(DIRECTORIES))).toBe(false);
});

type Part = 'first' | 'second';
test.each<[string, [Part, number][], made: Part[]]>([
  ['one after the other', [], ['first']],
  ['the second record is only in a temporary file', [['second', 2]], ['first']],
  ['the second record is completed first', [['second', 3]], ['second']],
  [
    'both records are in temporary files',
    [
      ['second', 2],
      ['first', 2],
      ['second', 1],
    ],
    ['second'],
  ],
])('only one of two first volumes on different file systems is created: %s', (_, order, made) => {
  const node = new FakeNode();
  const left = { first: stepsOf(node, here), second: stepsOf(node, there, elsewhere) };
  for (const [part, count] of order) node.run(left[part].splice(0, count));
  for (const part of ['first', 'second'] as const) {
    if (made.includes(part)) node.run(left[part]);
    else expect(() => node.run(left[part])).toThrow(/was recorded (for .* )?meanwhile/);
  }
  expect(node.volumeFiles(FILE)).toEqual(made.includes('first') ? [FILE] : []);
  expect(node.volumeFiles(there.file)).toEqual(made.includes('second') ? [there.file] : []);
  const uuid = JSON.parse(textOf(node) ?? '').uuid;
  if (made.length > 0) expect(uuid === elsewhere.uuid ? 'second' : 'first').toBe(made[0]);
});

test('each precondition of a directory record has a reason code', () => {
  const first = { ...directory, recorded: undefined };
  const told = [...recordDirectory(UID, first).flatMap(({ preconditions }) => preconditions)];
  expect([...told, ...onSameFileSystem(first)].map(({ reason }) => reason?.code)).toEqual([
    'AnotherFileSystemRecorded',
    'DirectoryMoved',
  ]);
});

test('a failed rename of the record is a conflict, and partial files are not shared', () => {
  const [first, second] = [stepsOf(new FakeNode(), here), stepsOf(new FakeNode(), there)];
  const rename = second.find(({ argv }) => argv[0] === 'mv');
  expect(rename?.failureMeansConflict).toBe(true);
  expect(first.flatMap(({ argv }) => argv)).not.toContain(rename?.argv.at(-2));
});

test.each([
  ['8:17', '2065'],
  ['254:0', '65024'],
  ['0:300', '1048620'],
  ['4097:70000', '17592472306032'],
])('onSameFileSystem verifies device %s by the number that stat(1) prints', (device, number) => {
  expect(onSameFileSystem({ ...directory, device })).toEqual([
    {
      argv: ['stat', '-c', '%d', '--', directory.directory],
      expect: { exit: 0, stdout: { is: number } },
      ...refuse('DirectoryMoved', { directory: directory.directory }),
    },
  ]);
});

test('onSameFileSystem does not verify btrfs, whose subvolumes have own numbers', () => {
  expect(onSameFileSystem({ ...directory, now: { ...directory.now, type: 'btrfs' } })).toEqual([]);
});
