import fc from 'fast-check';
import type {
  BlockDevice,
  DesiredRaw,
  DeviceFacts,
  Intent,
  ObservedRaw,
  Owner,
  VolumeOperation,
} from '../../src/storage/types.ts';
import {
  intentFor,
  logical,
  partition,
  disk as plainDisk,
  rawDesired,
  rawNode,
} from './raw-input.ts';
import { UID } from './volume-input.ts';

/** Observations of a raw device on arbitrary nodes. Most devices are unusable for a Volume. */

const OTHER = '11111111-2222-4333-8444-555555555555';

/** Consents to destroy a content. */
const GIVEN = [
  ...[
    `ext4:${OTHER}`,
    'unknown data',
    `gpt:${OTHER};1=ext4:${OTHER};2=none`,
    `gpt:${OTHER};1=unknown data;2=none`,
  ],
] as const;

/** Use of a device that conflicts with a Volume. */
export interface Use {
  /** Kernel name of the used device. */
  of: string;
  by: 'mount' | 'loop' | 'holder' | 'swap';
}

export interface Case {
  operation: VolumeOperation;
  desired: DesiredRaw;
  observed: ObservedRaw;
  device: DeviceFacts;
  use: Use | undefined;
  owner: Owner | undefined;
}

const WWNS = [
  ...[undefined, '0x5000c500a1b2c3d1', 'naa.5000C500A1B2C3D1', '0x5000c500a1b2c3d2'],
  'eui.0025385b71b00001',
] as const;
const SERIALS = [undefined, 'S1', 'S_1', 'S2'] as const;
const SIZES = ['1073741824', '1073741824', '1073741824', '2147483648'] as const;
const PRESENCES = [undefined, 'boot/1', 'boot/2'] as const;
const FOUND = [
  ...[
    '',
    '',
    '',
    `ext4:${OTHER}`,
    `ext4:${UID}`,
    `xfs:${UID}`,
    `gpt:${OTHER};1=ext4:${OTHER}`,
    `gpt:${UID};1=none`,
  ],
  ...[
    'gpt',
    'PMBR',
    'PMBR',
    'PMBR',
    'no table;1=none',
    'ambivalent',
    `ext4:${OTHER}+swap:${OTHER}`,
  ],
  ...[
    'PMBR;?=unknown data',
    'no table;1=none;2=unknown data',
    `gpt:${OTHER};1=none;2=unknown data`,
  ],
] as const;

const identityOf = (
  wwn: string | undefined,
  serial: string | undefined,
  part: number | undefined,
  size = '1073741824',
): string =>
  [
    ...(wwn === undefined ? [] : [`wwn=${wwn}`]),
    ...(serial === undefined ? [] : [`serial=${serial}`]),
    ...(part === undefined ? [] : [`partition=${part}`]),
    `size=${size}`,
  ].join(' ');

const identities = fc.record({
  wwn: fc.constantFrom(...WWNS),
  serial: fc.constantFrom(...SERIALS),
  presence: fc.constantFrom(...PRESENCES),
  /** Size on record, in bytes. */
  size: fc.constantFrom(...SIZES),
});

const path: BlockDevice = { ...plainDisk, name: 'sdc', device: '8:32' };

const devices = fc
  .record({
    kind: fc.constantFrom('disk', 'partition', 'logical' as const),
    found: fc.constantFrom(...FOUND),
    isBlank: fc.constantFrom(true, false),
    known: identities,
    hasPath: fc.boolean(),
  })
  .map(({ kind, found, isBlank, known: { wwn, serial, presence }, hasPath }): DeviceFacts => {
    const base = { disk: plainDisk, partition, logical }[kind];
    const content = kind === 'partition' && /gpt|PMBR|table/.test(found) ? '' : found;
    const [type = '', uuid] = content.split(/[:;+]/);
    const one = { found: 'one' as const, type, ...(uuid === undefined ? {} : { uuid }) };
    const isRead = /^(ext4|xfs|gpt):/.test(content) && !content.includes('+');
    const nothing = content === '' || content.startsWith('no table');
    const sig = nothing
      ? { found: 'none' as const }
      : isRead
        ? one
        : { found: 'ambivalent' as const };
    const part = {
      ...plainDisk,
      name: `${base.name}1`,
      device: '8:17',
      parent: base.name,
      type: 'part',
    };
    const hasPart = /;1=/.test(content);
    return {
      ...base,
      ...{ content, isBlank: content === '' && isBlank, presence, signature: sig },
      identity:
        kind === 'logical'
          ? base.identity
          : identityOf(wwn, serial, kind === 'partition' ? 2 : undefined),
      uuids: [...base.uuids, ...(content.match(/[0-9a-f-]{36}/g) ?? [])],
      partitions: hasPart ? [part] : [],
      printedParts: hasPart ? [{ ...part, ...base.printed, isBlank: /;1=none/.test(content) }] : [],
      tableUuids: content.startsWith('gpt') ? [UID] : [],
      otherPaths: hasPath && kind !== 'logical' ? [path] : [],
    };
  });

const uses = (device: DeviceFacts): fc.Arbitrary<Use | undefined> =>
  fc.option(
    fc.record({
      of: fc.constantFrom(
        ...[device.name, ...device.partitions.map(({ name }) => name)],
        ...[
          ...(device.disk ? [device.disk.name] : []),
          ...device.otherPaths.map(({ name }) => name),
          'sdz',
        ],
      ),
      by: fc.constantFrom('mount', 'loop', 'holder', 'swap' as const),
    }),
    { nil: undefined, freq: 2 },
  );

/** Returns records of another Volume, possibly for this device. */
const owners = (device: DeviceFacts): fc.Arbitrary<Owner | undefined> =>
  fc.option(
    fc.oneof(
      fc.constant({ uid: OTHER }),
      fc.constant({ uid: 'another', device: { identity: device.identity } }),
      identities.map(({ wwn, serial, presence }) => ({
        uid: 'another',
        device: { identity: identityOf(wwn, serial, undefined), ...(presence && { presence }) },
      })),
    ),
    { nil: undefined, freq: 2 },
  );

const intents = (device: DeviceFacts): fc.Arbitrary<Intent | undefined> =>
  fc.option(
    fc
      .record({
        known: fc.option(identities, { nil: undefined }),
        before: fc.constantFrom('none', ...GIVEN),
        begun: fc.boolean(),
      })
      .map(({ known, before, begun }) => {
        const part = device.partition?.number;
        const found =
          known === undefined || device.dmUuid !== undefined
            ? device
            : {
                ...device,
                presence: known.presence,
                identity: identityOf(known.wwn, known.serial, part, known.size),
              };
        return intentFor(found, { signature: before, consent: before, ...(begun && { begun }) });
      }),
    { nil: undefined },
  );

const usersOf = (device: DeviceFacts, use: Use | undefined): Partial<ObservedRaw> => {
  const all = [
    device,
    ...device.partitions,
    ...(device.disk ? [device.disk] : []),
    ...device.otherPaths,
  ];
  const number = all.find(({ name }) => name === use?.of)?.device ?? '8:240';
  const holder: BlockDevice = {
    ...plainDisk,
    name: 'dm-9',
    device: '252:9',
    type: 'crypt',
    parent: use?.of,
  };
  const loop = {
    name: 'loop9',
    number: 9,
    device: '7:9',
    backingInode: '1',
    autoclear: false,
    readOnly: false,
  };
  return {
    mounts: new Map(use?.by === 'mount' ? [[number, ['/mnt']]] : []),
    swaps: use?.by === 'swap' ? [`/dev/${use.of}`] : [],
    devices: [...all, ...(use?.by === 'holder' ? [holder] : [])],
    loops:
      use?.by === 'loop'
        ? [{ ...loop, backingFile: `/dev/${use.of}`, wholeFile: true, sizeBytes: 1n << 30n }]
        : [],
  };
};

export const cases: fc.Arbitrary<Case> = devices.chain((device) =>
  fc
    .record({
      operation: fc.constantFrom<VolumeOperation>('provision', 'provision', 'attach', 'delete'),
      use: uses(device),
      owner: owners(device),
      intent: intents(device),
      mode: fc.constantFrom('Filesystem', 'Block' as const),
      onDelete: fc.constantFrom('Delete', 'Wipe', 'Retain' as const),
      consent: fc.constantFrom('nothing', 'what is there', 'none', ...GIVEN),
      isDone: fc.boolean(),
      recorded: fc.option(identities, { nil: undefined, freq: 2 }),
      wiped: fc.constantFrom(undefined, undefined, 0n, 1n << 26n),
    })
    .map(
      ({
        operation,
        use,
        owner,
        intent,
        mode,
        onDelete,
        consent,
        isDone,
        recorded,
        wiped,
      }): Case => {
        const carried = device.content === '' && !device.isBlank ? 'unknown data' : device.content;
        const overwrite = consent === 'what is there' ? carried || undefined : consent;
        const identity =
          recorded && device.dmUuid === undefined
            ? identityOf(recorded.wwn, recorded.serial, device.partition?.number, recorded.size)
            : undefined;
        const made = intent !== undefined && isDone;
        const observed = rawNode(device, {
          ...usersOf(device, use),
          ...{
            intent,
            others: owner === undefined ? [] : [owner],
            recordFiles: intent !== undefined,
          },
          ...{
            done: made ? { sizeBytes: device.sizeBytes } : undefined,
            wiped: made ? wiped : undefined,
          },
        });
        const desired: DesiredRaw = {
          ...rawDesired,
          ...{ mode, onDelete, overwrite: consent === 'nothing' ? undefined : overwrite, identity },
          ...{ fs: mode === 'Filesystem' ? { type: 'ext4', options: [] } : undefined },
          recorded: identity !== undefined,
        };
        return { operation, desired, observed, device, use, owner };
      },
    ),
);
