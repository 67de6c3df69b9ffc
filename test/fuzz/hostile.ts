import fc from 'fast-check';
import type { ProbeResult } from '../../src/nodes/job.ts';
import { UID } from '../support/volume-input.ts';

/** Strings and answers that an attacker would write. */

const OTHER = '11111111-2222-4333-8444-555555555555';
const PIECES = [
  ...[
    '$(reboot)',
    '`id`',
    ';reboot',
    "'",
    '"',
    '\\',
    '\n',
    '\0',
    '\r',
    '\t',
    '&&',
    '|',
    '>',
    '*',
    '~',
    '#',
    ' ',
  ],
  ...[
    '-',
    '--',
    '-U',
    '..',
    '/',
    '//',
    '/dev/sda',
    '/etc/shadow',
    '%s',
    '\u202e',
    '\u009b1m',
    '\ud800',
    'é',
    '😀',
  ],
  ...[
    '__proto__',
    'constructor',
    'toString',
    'stowage-end',
    'null',
    'true',
    '0',
    '-1',
    '1e309',
    '0x10',
    '9'.repeat(40),
  ],
  ...[
    'ext4',
    'xfs',
    'gpt',
    'loop3',
    '/dev/loop3',
    '7:3',
    '253:3',
    UID,
    OTHER,
    ',',
    '=',
    ':',
    '{',
    '}',
    '[',
    ']',
    '[[',
  ],
];

/** Answers of nodes, as a base for changes. */
const SAMPLES = [
  JSON.stringify({
    loopdevices: [
      {
        name: '/dev/loop3',
        'back-file': `/var/lib/metalk8s/storage/sparse/${UID}`,
        'back-ino': 42,
        'maj:min': ' 7:3 ',
        autoclear: false,
        ro: false,
        offset: 0,
        sizelimit: 0,
      },
    ],
  }),
  JSON.stringify({
    blockdevices: ['loop3', 'sdb', 'dm-3'].map((kname, at) => ({
      kname,
      'maj:min': ['7:3', '8:16', '253:3'][at],
      pkname: null,
      type: ['loop', 'disk', 'lvm'][at],
      size: 1 << 30,
      ro: false,
      serial: 'S1',
      wwn: '0x5000',
    })),
  }),
  JSON.stringify({
    signatures: [{ device: 'sdb', offset: '0x200', type: 'gpt', uuid: null, label: null }],
  }),
  JSON.stringify({
    report: [{ vg: [{ vg_name: 'vg0', vg_uuid: 'x', vg_free_count: '9', vg_extent_size: '4' }] }],
  }),
  JSON.stringify({
    report: [{ lv: [{ lv_name: 'data1', lv_uuid: 'x', lv_tags: `stowage.dev/uid=${UID}` }] }],
  }),
  JSON.stringify({
    version: 1,
    uid: UID,
    file: `/x/${UID}`,
    sizeBytes: '1',
    fsType: 'ext4',
    signature: 'none',
  }),
  JSON.stringify({
    version: 1,
    uid: UID,
    device: {
      path: '/dev/disk/by-id/wwn-0x5000',
      identity: 'serial=S1 size=1073741824',
      presence: 'b/1',
    },
    sizeBytes: '1073741824',
    fsType: 'ext4',
    signature: 'none',
    consent: 'none',
  }),
  '36 24 7:3 / /pod rw - ext4 /dev/loop3 rw\n25 24 0:22 / /proc rw - proc proc rw',
  `regular file|1073741824|42|2048|512`,
  `DEVNAME=/dev/sdb\nUUID=${UID}\nTYPE=ext4\nUSAGE=filesystem`,
  'sdb 8:16  disk 1073741824 0 S1 0x5000\n',
  `${UID}.intent\n${UID}.done`,
  'CapEff:\t000001fffeffffff\n',
  'Filename Type Size Used Priority\n/dev/sdb partition 1 0 -2',
  '1048576|4096',
  '/dev/null\n',
  '7:3',
  '',
];

const piece = fc.oneof(fc.constantFrom(...PIECES), fc.string({ maxLength: 6 }));
const nasty = fc.array(piece, { maxLength: 6 }).map((parts) => parts.join(''));
/** Excessive repetition of one piece. */
const long = fc
  .tuple(piece, fc.integer({ min: 1, max: 20_000 }))
  .map(([part, times]) => part.repeat(times));
const changed = fc
  .tuple(
    fc.constantFrom(...SAMPLES),
    fc.array(fc.tuple(fc.nat(400), fc.nat(12), fc.oneof(fc.constant(''), piece)), { maxLength: 4 }),
  )
  .map(([sample, changes]) =>
    changes.reduce(
      (text, [at, cut, more]) => text.slice(0, at) + more + text.slice(at + cut),
      sample,
    ),
  );

export const text: fc.Arbitrary<string> = fc.oneof(
  { weight: 12, arbitrary: changed },
  { weight: 6, arbitrary: nasty },
  { weight: 1, arbitrary: fc.json() },
  { weight: 1, arbitrary: long },
);

const MISSING = 'stat: cannot statx X: No such file or directory';
export const probeResult: fc.Arbitrary<ProbeResult> = fc.record({
  exit: fc.constantFrom(0, 0, 0, 0, 0, 0, 1, 1, 2, 5, 127, 255),
  stdout: text,
  stderr: fc.oneof(fc.constantFrom('', MISSING), nasty),
});

/** Fields of the job protocol, some of them valid. */
const field = fc.oneof(
  fc.constantFrom(
    'probe',
    'job',
    'subject',
    'denied',
    'foreign',
    'forgotten',
    'busy',
    'missing',
    '',
    '0',
    '1',
    '2',
  ),
  text.map((each) => Buffer.from(each).toString('base64')),
  fc
    .constantFrom(
      'succeeded',
      'running x',
      'failed 1',
      'raced',
      'guarded',
      'denied',
      'died',
      'absent',
    )
    .map((each) => Buffer.from(each).toString('base64')),
  nasty,
);
const line = fc.array(field, { maxLength: 9 }).map((fields) => fields.join(' '));
export const answer: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .array(line, { maxLength: 4 })
      .map((lines) => [...lines, 'stowage-end', ''].join('\n')),
  },
  { weight: 1, arbitrary: text },
);

/** Values of fields that the server does not validate. */
export const anything: fc.Arbitrary<unknown> = fc.oneof(
  nasty,
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.jsonValue({ maxDepth: 2 }),
);
export const word = nasty;

/** Quantities that an API server accepts. */
export const quantity = fc.oneof(
  fc.constantFrom(
    '1Gi',
    '0',
    '1e3',
    '9999999Ei',
    '1n',
    '1u',
    '100m',
    '.5',
    '1.',
    '+1',
    '-1Gi',
    '9'.repeat(30),
  ),
  fc
    .tuple(fc.nat(), fc.constantFrom('', 'k', 'Ki', 'M', 'Gi', 'E', 'Ei'))
    .map(([n, unit]) => `${n}${unit}`),
);
export const annotations = fc.dictionary(
  fc.constantFrom(
    'volume.kubernetes.io/selected-node',
    'kubectl.kubernetes.io/last-applied-configuration',
    'stowage.dev/address',
    'stowage.dev/port',
    'stowage.dev/salt-minion',
    'stowage.dev/paused',
    'stowage.dev/populates',
  ),
  fc.oneof(text, fc.constantFrom('n1', 'n2', '[['.repeat(50_000), '{"__proto__":{"a":1}}')),
);

/** Recorded identities of devices, as in a status or in a record on the node. */
export const identity = fc.oneof(
  fc.constantFrom(
    'serial=S1 size=1073741824',
    'wwn=0x5000 size=1',
    'size=abc',
    'serial=% size=1',
    'wwn=%zz',
    '=',
    '',
  ),
  nasty,
);
