import { describe, expect, test } from '@jest/globals';
import { plan } from '../../../src/storage/plan.ts';
import { directoryPartial } from '../../../src/storage/records.ts';
import { textOf } from '../../../src/storage/shared-fs/text.ts';
import type { NodeHold, ObservedShared, OwnerFile } from '../../../src/storage/shared-fs/types.ts';
import type { DesiredSparse, ObservedSparse, VolumeOperation } from '../../../src/storage/types.ts';
import { FakeShare, FakeSharer, NFS, Stopped, sharedDesired } from '../../support/fake-shared.ts';
import { LINK, ruleFor, settle } from '../../support/link-words.ts';
import {
  FILE,
  freshNode,
  loop,
  loopRow,
  madeNode,
  UID,
  unmounted,
} from '../../support/volume-input.ts';

const BOOT = '00000000-0000-4000-8000-000000000001';
const FOLDER = '/var/lib/metalk8s/storage/sparse';
const by = (node: string, more: Partial<NodeHold> = {}): NodeHold => ({
  node,
  bootId: BOOT,
  token: 't0',
  ...more,
});
const owner = (number: number, is: 'held' | 'free', holder: NodeHold): OwnerFile => ({
  number,
  state: { is, by: holder },
  text: textOf(is, holder),
  since: '2026-01-02T03:04:05Z',
});
const quiet: ObservedShared = { bootId: BOOT, mount: NFS, owners: [], marks: [], unfinished: [] };
const seen = (
  shared: Partial<ObservedShared>,
  more: Partial<ObservedSparse> = {},
): ObservedSparse => ({
  ...madeNode,
  ...more,
  shared: { ...quiet, ...shared },
});
const attached = { loops: [loop], link: '7:3' };
const reading = { loops: [{ ...loop, readOnly: true }], link: '7:3' };
const reader: DesiredSparse = { ...sharedDesired, readOnly: true };
const mark = (node: string) => ({ path: `${FILE}.reader.${node}-t0`, node, by: by(node) });

const NEW = `${FILE}.new.n1-t1`;
const SYNC = `sync ${FOLDER}`;
const link = (number: number, left: readonly string[] = []) => [
  `rm -f -- ${[...left, NEW].join(' ')}`,
  `dd of=${NEW} conv=excl,fsync status=none`,
  `ln -T -- ${NEW} ${FILE}.owner.${number}`,
  `rm -f -- ${NEW}`,
  SYNC,
];
const RULE = ruleFor(`ENV{DEVTYPE}=="disk",ATTRS{loop/backing_file}=="${FILE}"`);
const attach = (losetup: string) => [...RULE, `${losetup} /dev/loop5 ${FILE}`, settle()];
const ATTACH = attach('losetup');
const READING = attach('losetup -r');
const DETACH = [`sync /dev/loop3 ${FILE}`, 'losetup -d /dev/loop3'];
const grown: DesiredSparse = { ...sharedDesired, recordedBytes: 1n << 30n };
const ofGrown = { intent: undefined, done: { sizeBytes: 2n << 30n }, recordFiles: true };
const RECORDS = `/var/lib/stowage/volumes/${UID}`;
const FORGET = [
  `rm -f ${['done', 'intent', 'wiped'].map((each) => `${RECORDS}.${each} ${RECORDS}.${each}.new`).join(' ')} ${RECORDS}.cancel ${directoryPartial(UID)} /run/udev/rules.d/61-stowage-${UID}.rules`,
  'sync /var/lib/stowage/volumes',
];
const MARK = [
  `rm -f -- ${NEW}`,
  `dd of=${NEW} conv=excl,fsync status=none`,
  `mv -T -- ${NEW} ${FILE}.reader.n1-t1`,
  SYNC,
];
const unmark = (...nodes: string[]) => [
  `rm -f -- ${nodes.map((node) => `${FILE}.reader.${node}-t0`).join(' ')}`,
  SYNC,
];

function commands(
  operation: VolumeOperation,
  wanted: DesiredSparse,
  observed: ObservedSparse,
): string[] | string {
  const made = plan(operation, wanted, observed, 5);
  if ('steps' in made) return made.steps.map(({ argv }) => argv.join(' '));
  return `${made.retryable ? 'retryable: ' : ''}${made.refusal}`;
}

const taking = (...takeOver: NodeHold[]): DesiredSparse => ({
  ...sharedDesired,
  owner: { node: 'n1', token: 't1', takeOver },
});
const held = seen({ owners: [owner(4, 'held', by('n1'))] }, attached);
const others = seen({ owners: [owner(4, 'held', by('n2'))] });
const free = seen({ owners: [owner(4, 'free', by('n2'))] });
const unreadable = seen({
  owners: [{ number: 4, state: { is: 'unreadable' }, text: 'x', since: undefined }],
});
const rebooted = seen({ owners: [owner(4, 'held', by('n1', { bootId: BOOT.replace('1', '2') }))] });
const HELD = `retryable: ${FILE} is held by node n2 since 2026-01-02T03:04:05Z`;
const READ = `retryable: ${FILE} is read on node n2`;
const STRAY = `/dev/loop3 on node n1 has ${FILE}, but the file is not held for that node`;

type Case = [
  name: string,
  VolumeOperation,
  DesiredSparse,
  ObservedSparse,
  outcome: string[] | string,
];

test.each<Case>([
  ['a file that was never held', 'attach', sharedDesired, seen({}), [...link(1), ...ATTACH]],
  ['a released file', 'attach', sharedDesired, free, [...link(5), ...ATTACH]],
  [
    'obsolete owner files, removed first from the lowest number',
    'attach',
    sharedDesired,
    seen({
      owners: [1, 2, 3].map((number) => owner(number, 'free', by('n2'))),
      unfinished: ['n1', 'n2'].map((node) => ({ path: `${FILE}.new.${node}-t0`, node })),
    }),
    [...link(4, [`${FILE}.owner.1`, `${FILE}.owner.2`, `${FILE}.new.n1-t0`]), ...ATTACH],
  ],
  [
    'a file held by this node, without a device',
    'attach',
    sharedDesired,
    { ...held, loops: [], link: undefined },
    [...link(5), ...ATTACH],
  ],
  [
    'a file held by this node before its reboot',
    'attach',
    sharedDesired,
    rebooted,
    [...link(5), ...ATTACH],
  ],
  ['a file held by another node', 'attach', sharedDesired, others, HELD],
  ['a file held by a dead node', 'attach', taking(by('n2')), others, [...link(5), ...ATTACH]],
  [
    'a file held by another attempt of a dead node',
    'attach',
    taking(by('n2', { token: 't9' })),
    others,
    HELD,
  ],
  [
    'a file held by another boot of a dead node',
    'attach',
    taking(by('n2', { bootId: UID })),
    others,
    HELD,
  ],
  [
    'a file with an unreadable owner',
    'attach',
    taking(by('n2')),
    unreadable,
    `retryable: ${FILE}.owner.4 does not show which node has ${FILE}: it was damaged, or another version of Stowage wrote it`,
  ],
  ['an attached file', 'attach', sharedDesired, held, []],
  ['an attached file that was released', 'attach', sharedDesired, { ...free, ...attached }, STRAY],
  [
    'an attached file held by another node',
    'attach',
    sharedDesired,
    { ...others, ...attached },
    STRAY,
  ],
  [
    'an attached file held since before a reboot',
    'attach',
    sharedDesired,
    { ...rebooted, ...attached },
    STRAY,
  ],
  ['a file read by another node', 'attach', sharedDesired, seen({ marks: [mark('n2')] }), READ],
  [
    'a reader that came meanwhile',
    'attach',
    sharedDesired,
    seen({ owners: [owner(4, 'held', by('n1'))], marks: [mark('n2')] }),
    [`sync ${FILE}`, ...link(5)],
  ],
  [
    'a dead reader, and an old mark',
    'attach',
    taking(by('n2')),
    seen({ marks: [mark('n2'), mark('n1')] }),
    [...unmark('n2', 'n1'), ...link(1), ...ATTACH],
  ],

  ['reading', 'attach', reader, free, [...MARK, ...READING]],
  [
    'reading beside other readers',
    'attach',
    reader,
    seen({ marks: [mark('n2')] }),
    [...MARK, ...READING],
  ],
  ['reading a file held by another node', 'attach', reader, others, HELD],
  [
    'a writer that came meanwhile',
    'attach',
    reader,
    seen({ owners: [owner(4, 'held', by('n2'))], marks: [mark('n1')] }),
    unmark('n1'),
  ],
  ['a device without a mark', 'attach', reader, { ...free, ...reading }, STRAY],
  ['a file that this node reads', 'attach', reader, seen({ marks: [mark('n1')] }, reading), []],

  ['a device', 'detach', sharedDesired, held, [...DETACH, `sync ${FILE}`, ...link(5)]],
  [
    'no device any more',
    'detach',
    sharedDesired,
    { ...held, loops: [] },
    [`sync ${FILE}`, ...link(5)],
  ],
  ['a file held before a reboot', 'detach', sharedDesired, rebooted, [`sync ${FILE}`, ...link(5)]],
  ['a file that only another node holds', 'detach', sharedDesired, others, []],
  [
    'the record of a node that expanded another node’s file',
    'detach',
    grown,
    { ...others, ...ofGrown },
    FORGET,
  ],
  ['the record of the node that made the file', 'detach', grown, others, []],
  [
    'the record of a file not recorded elsewhere',
    'detach',
    sharedDesired,
    { ...others, ...ofGrown },
    [],
  ],
  [
    'a device of a file that another node took over',
    'detach',
    sharedDesired,
    { ...others, ...attached },
    DETACH,
  ],
  [
    'a reader',
    'detach',
    reader,
    seen({ marks: [mark('n1'), mark('n2')] }, reading),
    ['losetup -d /dev/loop3', ...unmark('n1')],
  ],

  ['destroying a file held by another node', 'delete', sharedDesired, others, HELD],
  [
    'destroying a file read by another node',
    'delete',
    sharedDesired,
    seen({ marks: [mark('n2')] }),
    READ,
  ],
  [
    'destroying an attached file',
    'delete',
    sharedDesired,
    held,
    [...DETACH, `sync ${FILE}`, ...link(5)],
  ],
  [
    'destroying a file that is gone',
    'delete',
    sharedDesired,
    { ...freshNode, shared: { ...quiet, owners: [owner(4, 'held', by('n1'))] } },
    [`rm -f -- ${FILE}.owner.4`, SYNC],
  ],
  [
    'making a file that another node makes',
    'provision',
    { ...sharedDesired, recorded: false },
    { ...freshNode, shared: others.shared },
    HELD,
  ],
  [
    'a file that was made, but not released',
    'provision',
    { ...sharedDesired, recorded: false },
    seen({ owners: [owner(4, 'held', by('n1'))] }),
    [`sync ${FILE}`, ...link(5)],
  ],
])('plan for %s: %s', (_, operation, wanted, observed, outcome) => {
  expect(commands(operation, wanted, observed)).toEqual(outcome);
});

const LEADS = `${LINK} leads to /dev/sdz, `;
const stray = (observed: ObservedSparse): ObservedSparse => ({
  ...observed,
  devices: [...observed.devices, { ...loopRow, name: 'sdz', device: '65:16', type: 'disk' }],
  link: '65:16',
});
test.each<[string, DesiredSparse, ObservedSparse, string]>([
  [
    'of an attached file',
    sharedDesired,
    stray(held),
    `${LEADS}not to the volume's device /dev/loop3`,
  ],
  ['of a released file', sharedDesired, stray(free), `${LEADS}and the volume has no device`],
  [
    'of a file that is read',
    reader,
    stray(seen({ marks: [mark('n1')] }, reading)),
    `${LEADS}not to the volume's device /dev/loop3`,
  ],
  ['of a file to be read', reader, stray(free), `${LEADS}and the volume has no device`],
])('a path that leads to another device, %s, is reported', (_, wanted, observed, astray) => {
  const made = plan('attach', wanted, observed, 5);
  expect(made).toMatchObject({ astray });
  expect('steps' in made && made.steps.map(({ argv }) => argv.join(' '))).toContain(RULE[1]);
});

test('a file is created while it is held, and released afterwards', () => {
  const made = commands(
    'provision',
    { ...sharedDesired, recorded: false },
    { ...freshNode, shared: quiet },
  );
  const at = (command: string) => made.indexOf(command);
  expect(at(`ln -T -- ${NEW} ${FILE}.owner.1`)).toBeGreaterThan(
    at(`mkdir -p -m 0700 -- ${FOLDER}`),
  );
  expect(at(`truncate -s 1073741824 -- ${FILE}.partial`)).toBeGreaterThan(
    at(`ln -T -- ${NEW} ${FILE}.owner.1`),
  );
  expect(at(`ln -T -- ${NEW} ${FILE}.owner.2`)).toBeGreaterThan(
    at(`mv -T -- ${FILE}.partial ${FILE}`),
  );
});

test('a file is removed while it is held, and its owner files last', () => {
  const made = commands('delete', sharedDesired, free);
  expect(made.slice(0, 5)).toEqual(link(5));
  expect(made.slice(-2)).toEqual([`rm -f -- ${FILE}.owner.4 ${FILE}.owner.5`, SYNC]);
  expect(made).toContain(`rm -f -- ${FILE}`);
});

const MOUNTED = { ...NFS, options: ['rw', 'soft', 'local_lock=none'] };
test.each<Case>([
  [
    'attaching',
    'attach',
    sharedDesired,
    { ...free, shared: { ...quiet, mount: MOUNTED } },
    'retryable: ',
  ],
  [
    'deleting',
    'delete',
    sharedDesired,
    { ...free, shared: { ...quiet, mount: MOUNTED } },
    'retryable: ',
  ],
  [
    'detaching',
    'detach',
    sharedDesired,
    { ...free, shared: { ...quiet, mount: MOUNTED } },
    'retryable: ',
  ],
])('a mount that can lose writes is refused for %s', (_, operation, wanted, observed, outcome) => {
  expect(commands(operation, wanted, observed)).toContain(outcome);
  expect(commands(operation, wanted, observed)).toContain('mounted soft');
});

test('a detach succeeds without a mount of the directory', () => {
  expect(
    commands('detach', sharedDesired, { ...held, shared: { ...quiet, mount: undefined } }),
  ).toEqual(DETACH);
});

test.each([
  ['none', undefined],
  ['a name with a path in it', { node: '../n1', token: 't1' }],
  ['no token', { node: 'n1', token: '' }],
  ['a token with a separator', { node: 'n1', token: 't-1' }],
])('a plan throws for an invalid lock owner: %s', (_, claim) => {
  expect(() => plan('attach', { ...sharedDesired, owner: claim }, free, 5)).toThrow(FILE);
});

describe('preconditions', () => {
  const preconditionsOf = (observed: ObservedSparse, wanted: DesiredSparse, program: string) => {
    const made = plan(observed.loops.length > 0 ? 'detach' : 'attach', wanted, observed, 5);
    if ('refusal' in made) throw new Error(made.refusal);
    return made.steps
      .find(({ argv }) => argv[0] === program)
      ?.preconditions.map(({ argv }) => argv.join(' '));
  };

  test('verify before a writable attach that no other node has or reads the file', () => {
    expect(preconditionsOf(free, sharedDesired, 'losetup')?.slice(0, 4)).toEqual([
      `cat ${FILE}.owner.4`,
      `cat ${FILE}.owner.5`,
      `find ${FOLDER}/ -maxdepth 1 -name ${UID}.owner.* ! -name ${UID}.owner.4 ! -name ${UID}.owner.5`,
      `find ${FOLDER}/ -maxdepth 1 -name ${UID}.reader.*`,
    ]);
  });

  test('verify before a read-only attach that no node writes the file', () => {
    expect(preconditionsOf(free, reader, 'losetup')?.slice(0, 3)).toEqual([
      `test -e ${FILE}.reader.n1-t1`,
      `cat ${FILE}.owner.4`,
      `find ${FOLDER}/ -maxdepth 1 -name ${UID}.owner.* ! -name ${UID}.owner.4`,
    ]);
  });

  test('verify before a release that the device is gone and the node has not rebooted', () => {
    expect(preconditionsOf(held, sharedDesired, 'ln')).toEqual([
      'cat /proc/sys/kernel/random/boot_id',
      `cat ${FILE}.owner.4`,
      `losetup -j ${FILE}`,
    ]);
  });
});

test('an outdated job may take a free owner number, but does not attach the file', () => {
  const share = new FakeShare();
  const [slow, other] = ['n1', 'n2'].map((name) => new FakeSharer(name, share)) as [
    FakeSharer,
    FakeSharer,
  ];
  const turn = (own: FakeSharer, operation: VolumeOperation) => {
    own.attempts++;
    own.finish(own.steps(operation, own.desired({}, [])));
  };
  turn(slow, 'attach');
  turn(slow, 'detach');
  slow.attempts++;
  const steps = slow.steps('attach', slow.desired({}, []));
  for (const operation of ['attach', 'detach', 'attach'] as const) turn(other, operation);
  expect(other.attached).toBe('rw');
  // The precondition on the previous number exists for nodes with a cached directory listing.
  expect(() => slow.finish(steps)).toThrow(Stopped);
  expect(slow.attached).toBe('no');
  // The files that it left do not affect other jobs.
  turn(other, 'detach');
  turn(slow, 'attach');
  expect(slow.attached).toBe('rw');
});

test.each<[VolumeOperation, Partial<DesiredSparse>]>([
  ['provision', { recorded: false }],
  ['attach', {}],
  ['delete', {}],
])(
  'a plan refuses to %s a shared file while another export is mounted than recorded',
  (operation, more) => {
    const elsewhere = { ...freshNode, shared: quiet, directory: unmounted };
    expect(plan(operation, { ...sharedDesired, ...more }, elsewhere, 5)).toMatchObject({
      reason: { code: 'DirectoryNotMounted' },
    });
  },
);
