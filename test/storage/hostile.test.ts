import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Volume } from '../../src/api/volume.ts';
import { checkClass } from '../../src/model/class-options.ts';
import { desiredOf } from '../../src/model/desired-volume.ts';
import { validateVolume } from '../../src/model/validate-volume.ts';
import type { Step } from '../../src/nodes/job.ts';
import { jobScript } from '../../src/nodes/job-script.ts';
import { quote, quoteAll } from '../../src/nodes/quote.ts';
import { lvPath, tagOf } from '../../src/storage/lvm/names.ts';
import { plan } from '../../src/storage/plan.ts';
import type { Desired, Observed } from '../../src/storage/registry.ts';
import type { Plan } from '../../src/storage/types.ts';
import {
  begun,
  dm,
  ext4,
  group,
  intent,
  lv,
  lvmMade,
  lvmNode,
  pool,
  free as someFree,
} from '../support/lvm-input.ts';
import { writesTo } from '../support/plans.ts';
import { disk, logical, partition, rawNode } from '../support/raw-input.ts';
import { TEST_SEED } from '../support/test-seed.ts';
import { freshNode, storageClass, UID } from '../support/volume-input.ts';

/**
 * Hostile values in a spec, a class or a disk: typed refusals, one argument each, and no write
 * without consent.
 */

/** First characters of each Volume's name. */
const MARK = '-\u0166';
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
    '&&',
    '|',
    '>',
    '*',
    '~',
    '!',
    '#',
    ' ',
  ],
  ...[
    '-',
    '--',
    '-U',
    '-oProxyCommand=id',
    '..',
    '/',
    '//',
    '/dev/sda',
    '/etc/shadow',
    '%s',
    '\u202e',
    '\u009b1m',
  ],
  ...[
    'é',
    '😀',
    '__proto__',
    'constructor',
    'stowage-end',
    'ext4:',
    'gpt:',
    ';1=none',
    'EOF',
    ',',
    '=',
    'data1',
  ],
];
const nasty = fc
  .array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ maxLength: 8 })), { maxLength: 6 })
  .map((parts) => parts.join(''));
const anything = fc.oneof(
  nasty,
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.object({ maxDepth: 1 }),
);
/** Picks mostly usual values: otherwise the first refusal would hide all later checks. */
const mostly = <T>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 9, arbitrary: usual }, { weight: 1, arbitrary: odd });
const CONTENTS = [
  '',
  `ext4:${UID}`,
  'ext4:x',
  'gpt:x;1=none',
  "swap:$(reboot)'",
  'ambivalent',
  '*',
];
const content = fc.oneof(fc.constantFrom(...CONTENTS), nasty);
const size = fc.oneof(
  fc.constantFrom(
    '1Gi',
    '0',
    '-1',
    '1e3',
    '1E',
    '9999999Ei',
    '1e999999999',
    '0x10',
    '1 Gi',
    'NaN',
    '١Gi',
    4097,
  ),
  anything,
);
const path = fc.oneof(
  nasty,
  nasty.map((text) => `/dev/${text}`),
  nasty.map((text) => `/srv/${text}`),
  nasty.map((text) => `/dev/-${text.replace(/[/\p{Cc}]/gu, '')}`),
);

interface Spec {
  kind: 'raw' | 'sparse' | 'lvm';
  spec: Record<string, unknown>;
  name: string;
  mkfsOptions: unknown[];
  fsType: string;
  found: string;
  recorded: boolean;
}
const hostile: fc.Arbitrary<Spec> = fc.record({
  kind: fc.constantFrom('raw', 'sparse', 'lvm'),
  spec: fc.record(
    {
      nodeName: mostly<unknown>(fc.constant('n1'), anything),
      storageClassName: mostly<unknown>(fc.constant('local'), anything),
      mode: fc.constantFrom('Filesystem', 'Block'),
      onDelete: fc.constantFrom('Delete', 'Retain', 'Wipe'),
      overwrite: fc.oneof({ weight: 3, arbitrary: content }, { weight: 1, arbitrary: anything }),
      size,
      path: fc.oneof({ weight: 3, arbitrary: path }, { weight: 1, arbitrary: anything }),
      vgName: mostly<unknown>(fc.constant('vg0'), anything),
      thinPool: fc.oneof(fc.constant('pool'), anything),
    },
    { requiredKeys: ['size', 'path', 'vgName', 'nodeName', 'storageClassName', 'mode'] },
  ),
  name: nasty,
  mkfsOptions: mostly<unknown[]>(
    fc.constantFrom([], ['-L', 'a']),
    fc.array(fc.oneof(fc.constantFrom('-m', '0', '-L', '-E', '-K', '-d', 'size=1'), anything), {
      maxLength: 4,
    }),
  ),
  fsType: mostly<string>(fc.constantFrom('ext4', 'xfs'), nasty),
  found: content,
  recorded: fc.boolean(),
});

function volumeOf({ kind, spec, name, recorded }: Spec): Volume {
  const { size: asked, path: where, vgName, thinPool, ...rest } = spec;
  const typed = {
    raw: { rawBlockDevice: { devicePath: where } },
    sparse: { sparseLoopDevice: { size: asked, directory: where } },
    lvm: { lvmLogicalVolume: { vgName, size: asked, ...(thinPool !== undefined && { thinPool }) } },
  }[kind];
  return {
    apiVersion: 'storage.metalk8s.scality.com/v1alpha1',
    kind: 'Volume',
    // A Volume with an existing logical volume's name. Other names are refused.
    metadata: { name: kind === 'lvm' ? 'data1' : `${MARK}${name}`, uid: UID },
    spec: { ...rest, ...typed },
    ...(recorded && kind === 'raw'
      ? { status: { prepared: { node: 'n1', paths: [where], identity: 'serial=S1 size=1' } } }
      : {}),
  } as unknown as Volume;
}

function nodes(desired: Desired, found: string): Observed[] {
  if (desired.type === 'sparse') return [{ ...freshNode, realPath: desired.file }];
  if (desired.type === 'lvm') {
    const free = desired.thinPool === undefined ? [{ ...someFree, content: found }] : [];
    const groups = [{ ...group, name: desired.vgName, freeExtents: 1n << 44n }];
    const pools = [{ ...pool, name: desired.thinPool ?? 'pool', sizeBytes: 1n << 63n }];
    const volumes = [{ ...lv, name: desired.name, pool: desired.thinPool }, ...pools];
    const place = { path: lvPath(desired), identity: '' };
    const record = { ...intent, device: place };
    return [
      lvmNode({ groups, free, volumes: pools }),
      begun({ ...dm, content: found }, { groups, volumes, intent: record }),
      lvmMade(ext4, { groups, volumes, intent: record }),
    ];
  }
  const signature =
    found === '' ? { found: 'none' as const } : { found: 'one' as const, type: found };
  return [disk, partition, logical].map((base) => rawNode({ ...base, signature, content: found }));
}

/**
 * Returns the words that a POSIX shell parses from a line written by `quote`, or undefined if it
 * contains more than words.
 */
function words(line: string): string[] | undefined {
  const found: string[] = [];
  let rest = line;
  while (rest !== '') {
    const [word] = /^(?:'[^']*'|\\')+/.exec(rest) ?? [];
    if (word === undefined) return undefined;
    found.push(word.replace(/'([^']*)'|\\(')/g, '$1$2'));
    rest = rest.slice(word.length);
    if (rest !== '' && !rest.startsWith(' ')) return undefined;
    rest = rest.slice(1);
  }
  return found;
}

/** Expects that the shell parses each argument of a step as one word. */
function expectQuoted(steps: readonly Step[]): void {
  const job = { key: { subject: UID, id: 'prepare-1' }, steps };
  if (JSON.stringify(steps).includes('\\u0000')) {
    expect(() => jobScript(job, 'n1')).toThrow(RangeError);
    return;
  }
  const script = jobScript(job, 'n1');
  for (const { argv, preconditions, name } of steps) {
    expect(words(quoteAll(argv))).toEqual([...argv]);
    expect(script).toContain(quoteAll(argv));
    expect(script).toContain(quote(name));
    for (const precondition of preconditions) expect(script).toContain(quoteAll(precondition.argv));
  }
}

/**
 * Expects that no name or path of the user can be parsed as an option: each is an option's value,
 * or begins with a slash.
 */
function expectNoOption(steps: readonly Step[]): void {
  const marked = steps.flatMap(({ argv }) => argv.filter((word) => word.includes(MARK)));
  expect(marked.filter((word) => !word.startsWith(`--change-name=1:${MARK}`))).toEqual([]);
}

test('a hostile Volume is refused, or planned without injected options, words or writes', () => {
  let planned = 0;
  fc.assert(
    fc.property(hostile, (input) => {
      const volume = volumeOf(input);
      const problems = validateVolume(volume);
      expect(problems.every((problem) => typeof problem === 'string' && problem !== '')).toBe(true);
      const mkfsOptions = JSON.stringify(input.mkfsOptions);
      const parameters = { fsType: input.fsType, mkfsOptions };
      const options = checkClass({ ...storageClass, parameters }, volume.spec.mode);
      if (problems.length > 0 || 'problem' in options) return;
      const desired = desiredOf(volume, options);
      for (const observed of nodes(desired, input.found)) {
        const prepared = plan('provision', desired, observed, 3);
        check(prepared, desired, observed);
        check(plan('attach', desired, observed, 3), desired, observed);
        check(plan('delete', desired, observed, 3), desired, observed);
        planned++;
      }
    }),
    { seed: TEST_SEED, numRuns: 3000 },
  );
  // Early refusals would prove nothing about the later checks.
  expect(planned).toBeGreaterThan(150);
});

function check(made: Plan, desired: Desired, observed: Observed): void {
  if ('refusal' in made) {
    expect(made.refusal).not.toBe('');
    expect(made.hint).not.toBe('');
    return;
  }
  expectQuoted(made.steps);
  expectNoOption(made.steps);
  if (desired.type === 'lvm' && observed.type === 'lvm') {
    // LVM may destroy content of free extents only with consent.
    const yes = made.steps.some(({ argv }) => argv[0] === 'lvcreate' && argv.includes('--yes'));
    expect(yes).toBe(yes && desired.overwrite === observed.free[0]?.content);
    // Other commands only affect logical volumes with the Volume's tag.
    const others = made.steps.filter(
      ({ argv }) => argv[0] !== 'lvcreate' && argv.includes('--yes'),
    );
    expect(
      others.filter(
        ({ argv }) => !argv.some((word) => word.includes(`&&lv_tags={${tagOf(UID)}}&&`)),
      ),
    ).toEqual([]);
  }
  if (desired.type !== 'raw' || observed.type !== 'raw' || observed.target.is !== 'device') return;
  const writes = writesTo(made.steps);
  const { content: found, name: device } = observed.target.facts;
  if (found !== '' && found !== desired.overwrite) {
    expect(desired.recorded ? [] : writes).toEqual([]);
  }
  // Never by the spec's path, which may lead to another device by then.
  for (const write of writes)
    expect(write).toMatch(new RegExp(` /dev/(${device}|sdb)( |$)|of=/dev/${device} `));
}
