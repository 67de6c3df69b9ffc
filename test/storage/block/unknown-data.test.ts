import { describe, expect, test } from '@jest/globals';
import type { Step } from '../../../src/nodes/job.ts';
import { UNKNOWN_DATA } from '../../../src/storage/blank.ts';
import type { DeviceFacts } from '../../../src/storage/types.ts';
import {
  disk,
  intentFor,
  logical,
  partition,
  rawBlock,
  rawDesired,
  rawNode,
} from '../../support/raw-input.ts';
import { carrying, commands, made, OTHER, stepsOf } from './provision-cases.ts';

const unknown: DeviceFacts = { ...disk, isBlank: false };
const consent = { ...rawDesired, overwrite: UNKNOWN_DATA };

describe('a device with unknown data', () => {
  test.each([
    ['disk, Filesystem', rawDesired, unknown],
    ['disk, Block', rawBlock, unknown],
    ['partition, Filesystem', rawDesired, { ...partition, isBlank: false }],
    ['partition, Block', rawBlock, { ...partition, isBlank: false }],
    ['logical volume, Block', rawBlock, { ...logical, isBlank: false }],
  ])('%s: is refused without consent, and with consent to something else', (_, wanted, facts) => {
    const refusal = { refusal: `/dev/${facts.name} contains unknown data` };
    expect(made(wanted, rawNode(facts))).toMatchObject({
      ...refusal,
      hint: expect.stringContaining('set spec.overwrite (--overwrite) to "unknown data"'),
    });
    expect(made({ ...wanted, overwrite: `ext4:${OTHER}` }, rawNode(facts))).toMatchObject({
      refusal: expect.stringContaining('spec.overwrite allows only "ext4:'),
    });
    expect(made({ ...wanted, overwrite: UNKNOWN_DATA }, rawNode(facts))).toHaveProperty('steps');
  });

  test('has its consent in the first record', () => {
    const [record] = stepsOf(consent, rawNode(unknown)).filter(({ stdin }) => stdin !== undefined);
    expect(JSON.parse(record?.stdin ?? '')).toMatchObject({
      signature: UNKNOWN_DATA,
      consent: UNKNOWN_DATA,
    });
  });

  test('is refused with a file system despite consent to unknown data', () => {
    expect(made(consent, rawNode({ ...carrying(`xfs:${OTHER}`), isBlank: false }))).toHaveProperty(
      'refusal',
    );
  });
});

test('a plan verifies the content of partitions right before destroying it', () => {
  const content = `gpt:${OTHER};1=ext4:a;2=none`;
  const part = (name: string, blkid: string, isBlank: boolean) => ({
    ...{ name, sizeBytes: 1n << 26n, isBlank, blkid, blkidExit: 0, wipefs: `of ${name}` },
  });
  const facts = {
    ...carrying(content),
    printedParts: [part('sdb1', 'A', false), part('sdb2', 'B', true)],
  };
  const wiped = stepsOf({ ...rawDesired, overwrite: content }, rawNode(facts)).find(
    ({ argv }) => argv[0] === 'wipefs',
  );
  const compared = wiped?.preconditions.map(({ argv, expect }) => [argv.join(' '), expect.stdout]);
  for (const each of [
    ['blkid -p -o export /dev/sdb1', { is: 'A' }],
    ['wipefs -J -n /dev/sdb1', { is: 'of sdb1' }],
    ['blkid -p -o export /dev/sdb2', { is: 'B' }],
    ['wipefs -J -n /dev/sdb2', { is: 'of sdb2' }],
  ]) {
    expect(compared).toContainEqual(each);
  }
  const zeros = wiped?.preconditions
    .filter(({ argv }) => argv[0] === 'cmp')
    .map(({ argv }) => argv.at(-2));
  expect(new Set(zeros)).toEqual(new Set(['/dev/sdb2']));
});

test('a plan verifies that a device is blank right before writing to it', () => {
  const blank = { ...disk, isBlank: true };
  const preconditions = stepsOf(rawDesired, rawNode(blank)).find(
    ({ argv }) => argv[0] === 'mkfs.ext4',
  )?.preconditions;
  expect(preconditions?.filter(({ argv }) => argv[0] === 'cmp').length).toBeGreaterThan(10);
});

describe('an interrupted attempt that left no signature', () => {
  test.each([
    ['partition', partition],
    ['logical volume', logical],
  ])('is refused in a %s of mode Block, which provisioning never writes to', (_, facts) => {
    const node = rawNode(
      { ...facts, isBlank: false },
      { intent: intentFor(facts, { begun: true }) },
    );
    expect(made(rawBlock, node)).toHaveProperty('refusal');
    // A record without consent has this value.
    expect(made({ ...rawBlock, overwrite: 'none' }, node)).toHaveProperty('refusal');
  });

  test('is repeated on a disk that was blank when the first write began', () => {
    const intent = intentFor(disk, { begun: true });
    const again = commands(rawDesired, rawNode(unknown, { intent }));
    expect(again).toContainEqual(expect.stringMatching(/^mkfs\.ext4 .*\/dev\/sdb$/));
    expect(again).not.toContainEqual(expect.stringContaining('.intent'));
  });

  test('is refused if no record shows that the first write began', () => {
    expect(made(rawDesired, rawNode(unknown, { intent: intentFor(disk) }))).toMatchObject({
      refusal: '/dev/sdb contains unknown data',
    });
  });

  test.each([
    ['the file system', rawDesired, 'mkfs.ext4'],
    ['the partition', rawBlock, 'sgdisk'],
  ])(
    'records the write of %s as begun under the preconditions and lock of the write',
    (_, wanted, program) => {
      const steps = stepsOf(wanted, rawNode({ ...disk, isBlank: true }));
      const records = steps.filter(({ stdin }) => stdin?.includes('"signature"'));
      expect(records.map(({ stdin }) => JSON.parse(stdin ?? '').begun)).toEqual([undefined, true]);
      const write = steps.find(({ argv }) => argv[0] === program);
      const begins = steps[steps.indexOf(records[1] as Step) + 1];
      expect([begins?.preconditions, begins?.lock]).toEqual([write?.preconditions, write?.lock]);
      expect(begins?.preconditions.filter(({ argv }) => argv[0] === 'cmp').length).toBeGreaterThan(
        10,
      );
    },
  );

  test('is recorded again on a disk that a failed first write left blank', () => {
    const intent = intentFor(disk, { begun: true });
    const steps = stepsOf(rawDesired, rawNode({ ...disk, isBlank: true }, { intent }));
    const records = steps.filter(({ stdin }) => stdin?.includes('"signature"'));
    expect(records.map(({ stdin }) => JSON.parse(stdin ?? '').begun)).toEqual([undefined, true]);
  });

  test.each([
    [
      'without an identifier to compare with the record',
      { identity: 'size=1073741824', presence: 'b00t/8' },
    ],
    [
      'with only the same serial number',
      { identity: 'serial=S1 size=1073741824', presence: 'b00t/8' },
    ],
  ])('is refused on a disk %s', (_, found) => {
    const intent = intentFor({ ...disk, ...found, presence: 'b00t/7' });
    expect(made(rawDesired, rawNode({ ...unknown, ...found }, { intent }))).toMatchObject({
      refusal: '/dev/sdb contains unknown data',
    });
  });

  test.each([
    ['partition', { ...partition, isBlank: false }],
    ['logical volume', { ...logical, isBlank: false }],
  ])('is refused in a %s of mode Block whose first write has not begun', (_, facts) => {
    const intent = intentFor(facts, { fsType: '' });
    expect(made(rawBlock, rawNode(facts, { intent }))).toMatchObject({
      refusal: `/dev/${facts.name} contains unknown data`,
    });
  });

  test('is repeated with the same consent, and refused without', () => {
    const intent = intentFor(disk, { signature: UNKNOWN_DATA, consent: UNKNOWN_DATA });
    expect(made(consent, rawNode(unknown, { intent }))).toHaveProperty('steps');
    expect(made(rawDesired, rawNode(unknown, { intent }))).toHaveProperty('refusal');
  });
});
