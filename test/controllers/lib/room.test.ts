import { describe, expect, test } from '@jest/globals';
import type { CsiStorageCapacity, KubeNode } from '../../../src/api/core.ts';
import type { KubeObject } from '../../../src/api/meta.ts';
import { reason } from '../../../src/api/reasons.ts';
import type { Volume } from '../../../src/api/volume.ts';
import { capacityName, decideCapacity } from '../../../src/controllers/lib/capacity/capacity.ts';
import { createRooms, type Room } from '../../../src/controllers/lib/capacity/capacity-cache.ts';
import {
  type CapacityEventsDeps,
  createCapacityEvents,
} from '../../../src/controllers/lib/capacity/capacity-events.ts';
import { createCapacityReconciler } from '../../../src/controllers/lib/capacity/capacity-reconciler.ts';
import { directoryRoom, groupRoom } from '../../../src/controllers/lib/capacity/room.ts';
import type { Informer } from '../../../src/kube/informer.ts';
import type { KubeClient } from '../../../src/kube/types.ts';
import {
  directoryRoomProbes,
  readDirectoryRoom,
  readGroupRoom,
} from '../../../src/storage/room.ts';
import { EMIT_AGAIN_AFTER } from '../../../src/workqueue/emit-again.ts';
import { missing, result } from '../../support/fake-executor.ts';
import { memoryLogger } from '../../support/logger.ts';
import { diskRow, lvRow, report, VIEW, vgRow, viewAnswers } from '../../support/lvm-reports.ts';
import { GIB, node, storageClass, volume } from '../provisioner/claim-input.ts';

const SILENT: CapacityEventsDeps = {
  events: { event() {} },
  logger: memoryLogger(),
  clock: { now: () => 0 },
};
const HOME = '/var/lib/metalk8s/storage/sparse';
const MIB = 1n << 20n;
/** Capacity with 100 MiB free on a device of 200 MiB, of which a twentieth stays free. */
const FREE = 90n * MIB;
/** Returns lsblk's output for block devices, by their numbers. */
const devices = (sizes: Record<string, bigint>) =>
  result(
    0,
    JSON.stringify({
      blockdevices: Object.entries(sizes).map(([number, size]) => ({
        ...{ kname: number, 'maj:min': number, pkname: null, type: 'disk', size: String(size) },
        ...{ ro: false, serial: null, wwn: null },
      })),
    }),
  );

const sparse = (uid: string, size: string, more: Partial<Volume['spec']> = {}): Volume => {
  const { metadata, spec } = volume();
  return {
    ...volume(),
    metadata: { ...metadata, name: uid, uid },
    spec: { ...spec, sparseLoopDevice: { size }, ...more },
  };
};

describe('available capacity for files', () => {
  const copy = (place: string) => ({ uid: 'c', place, sizeBytes: 2n * GIB });
  const facts = (free: bigint, allocated: Record<string, bigint> = {}, floorBytes = 0n) => ({
    ...{ freeBytes: free, floorBytes, sizeBytes: undefined },
    allocated: new Map(Object.entries(allocated)),
    beside: new Set([HOME]),
  });
  const from = { source: { snapshotContentName: 's' } };
  const options = { source: 'x', format: 'qcow2' };
  const QCOW2 = {
    source: { populator: { builtin: 'Image', namespace: 'n', name: 'i', options }, uid: 'u' },
  } as const;
  test.each<[string, bigint, Parameters<typeof directoryRoom>]>([
    ['is the free space', 10n * GIB, [facts(10n * GIB), [], [], 1]],
    ['excludes promised space', 8n * GIB, [facts(10n * GIB), [sparse('a', '2Gi')], [], 1]],
    [
      'counts the allocated blocks of a volume once',
      8n * GIB,
      [facts(9n * GIB, { [`${HOME}/a`]: GIB }), [sparse('a', '2Gi')], [], 1],
    ],
    [
      'counts the blocks of a partial file once',
      8n * GIB,
      [facts(9n * GIB, { [`${HOME}/a.partial`]: GIB }), [sparse('a', '2Gi')], [], 1],
    ],
    [
      'counts a copy as if it shared no blocks',
      7n * GIB,
      [facts(9n * GIB, { [`${HOME}/a`]: GIB }), [sparse('a', '2Gi', from)], [], 1],
    ],
    [
      'excludes the download beside a volume that is filled from a qcow2',
      6n * GIB - 32n * MIB - 16n * MIB,
      [facts(10n * GIB), [{ ...sparse('a', '2Gi', QCOW2), status: {} }], [], 1],
    ],
    [
      'excludes no download once the volume is filled',
      8n * GIB,
      [
        facts(10n * GIB),
        [
          {
            ...sparse('a', '2Gi', QCOW2),
            status: { prepared: { node: 'n1', paths: [`${HOME}/a`], identity: '1:2' } },
          },
        ],
        [],
        1,
      ],
    ],
    ['excludes promised copies', 8n * GIB, [facts(10n * GIB), [], [copy(HOME)], 1]],
    ['ignores copies elsewhere', 10n * GIB, [facts(10n * GIB), [], [copy('/x')], 1]],
    [
      'ignores volumes elsewhere',
      10n * GIB,
      [
        facts(10n * GIB),
        [sparse('a', '2Gi', { sparseLoopDevice: { size: '2Gi', directory: '/x' } })],
        [],
        1,
      ],
    ],
    ['excludes the reserve', 7n * GIB, [facts(10n * GIB, {}, GIB), [sparse('a', '2Gi')], [], 1]],
    [
      'does not overcommit the reserve',
      16n * GIB,
      [facts(10n * GIB, {}, GIB), [sparse('a', '2Gi')], [], 2],
    ],
    ['includes the overcommit', 18n * GIB, [facts(10n * GIB), [sparse('a', '2Gi')], [], 2]],
    [
      'is negative if more is promised than exists',
      -GIB,
      [facts(GIB), [sparse('a', '2Gi')], [], 1],
    ],
  ])('%s', (_, expected, args) => {
    expect(directoryRoom(...args)).toBe(expected);
  });

  const mounts = result(
    0,
    '24 1 254:0 / / rw - ext4 /dev/vda rw\n30 24 254:1 / /srv\\040x rw - xfs /dev/vdb rw',
  );
  const folders = [HOME, '/srv x/sparse'];
  const results = (more: [string, ReturnType<typeof result>][]) =>
    new Map([
      ...directoryRoomProbes(HOME, folders).map(
        ({ name }) => [name, missing] as [string, typeof missing],
      ),
      ['free /var', result(0, '100|1048576')] as [string, typeof missing],
      ['mounts', mounts] as [string, typeof missing],
      ['block devices', devices({ '254:0': 200n * MIB, '254:1': GIB })] as [string, typeof missing],
      ['directory', missing] as [string, typeof missing],
      ['directory path', result(0, HOME)] as [string, typeof missing],
      ['file systems', result(0, '254:0 a-b')] as [string, typeof missing],
      ...more,
    ]);

  test('is read at the nearest existing directory, with files on the same file system', () => {
    const rows = result(0, `8|u1\n16|u2.partial\nx\n`);
    const room = readDirectoryRoom(
      HOME,
      folders,
      results([
        [`files ${HOME}`, rows],
        ['files /srv x/sparse', rows],
      ]),
    );
    expect(room.freeBytes).toBe(100n * MIB);
    expect(room.floorBytes).toBe(10n * MIB);
    expect([...room.beside]).toEqual([HOME]);
    expect([...room.allocated]).toEqual([
      [`${HOME}/u1`, 4096n],
      [`${HOME}/u2.partial`, 8192n],
    ]);
  });

  test.each<[string, bigint, ReturnType<typeof result>]>([
    ['a twentieth', 10n * MIB, devices({ '254:0': 200n * MIB })],
    ['no more than 1 GiB', GIB, devices({ '254:0': 100n * GIB })],
    ['64 MiB of a file system without a block device', 64n * MIB, devices({ '254:1': 200n * MIB })],
    ['64 MiB where lsblk fails', 64n * MIB, result(1)],
    ['64 MiB where lsblk prints no JSON', 64n * MIB, result(0, '')],
  ])('leaves a reserve of %s', (_, expected, lsblk) => {
    expect(readDirectoryRoom(HOME, folders, results([['block devices', lsblk]])).floorBytes).toBe(
      expected,
    );
  });

  test('is an error if a directory cannot be listed', () => {
    const denied = { ...result(1), stderr: 'find: Permission denied' };
    expect(() => readDirectoryRoom(HOME, folders, results([[`files ${HOME}`, denied]]))).toThrow(
      'Permission denied',
    );
  });

  test('is observed again after a reservation in an unobserved directory', async () => {
    const promised = [sparse('a', '2Gi')];
    const rooms = createRooms({
      executor: {
        observe: async () => new Map([...results([]), ['files /b', missing]]),
      },
      clock: { now: () => 0 },
      volumesOn: () => promised,
      copiesOn: () => [],
    });
    const place = { type: 'sparse', directory: HOME } as const;
    await rooms.observe('n1', place);
    expect(rooms.room('n1', place, 1)).toEqual({ freeBytes: FREE - 2n * GIB });
    promised.push(sparse('b', '3Gi', { sparseLoopDevice: { size: '3Gi', directory: '/b' } }));
    expect(rooms.room('n1', place, 1)).toBeUndefined();
    await rooms.observe('n1', place);
    expect(rooms.room('n1', place, 1)).toEqual({ freeBytes: FREE - 5n * GIB });
  });

  test('is kept if another node changes during the observation', async () => {
    const rooms = createRooms({
      executor: {
        observe: async () => {
          rooms.forget('n2');
          return results([]);
        },
      },
      clock: { now: () => 0 },
      volumesOn: () => [],
      copiesOn: () => [],
    });
    const place = { type: 'sparse', directory: HOME } as const;
    await rooms.observe('n1', place);
    expect(rooms.room('n1', place, 1)).toEqual({ freeBytes: FREE });
  });
});

describe('available capacity in a directory', () => {
  const ROOM = {
    ...{ 'free /data/volumes': missing, 'free /data': result(0, '100|1048576') },
    ...{ 'files /data/volumes': missing, directory: missing },
    mounts: result(0, '24 1 8:2 / / rw - ext4 /dev/sda2 rw'),
    'directory path': result(0, '/data/volumes'),
    'file systems': result(0, '8:2 a-2\n8:17 b-17'),
    'block devices': devices({ '8:2': 200n * MIB, '8:17': 200n * MIB }),
  };
  const onB = {
    version: 1,
    directory: '/data/volumes',
    uuid: 'b-17',
    type: 'xfs',
    source: 'x',
    path: '/',
  };
  const mounted = result(
    0,
    `${ROOM.mounts.stdout}\n36 24 8:17 / /data/volumes rw - xfs /dev/sdb1 rw`,
  );

  test.each<[string, Record<string, ReturnType<typeof result>>, true | undefined, object]>([
    ['without a record', {}, undefined, { freeBytes: FREE }],
    ['with requireMount, mounted', { mounts: mounted }, true, { freeBytes: FREE }],
    [
      'with requireMount, not mounted',
      {},
      true,
      {
        refused: expect.stringMatching(
          /^\/data\/volumes is on the root file system, and requireMount is set/,
        ),
      },
    ],
    [
      'with a record, not mounted',
      { directory: result(0, JSON.stringify(onB)) },
      undefined,
      {
        refused: expect.stringMatching(
          /^the file system of \/data\/volumes is not mounted: .* remove the record/,
        ),
      },
    ],
    [
      'with a record, mounted',
      { directory: result(0, JSON.stringify(onB)), mounts: mounted },
      undefined,
      { freeBytes: FREE },
    ],
    [
      'with a damaged record',
      { directory: result(0, '{') },
      undefined,
      {
        unknown: expect.stringContaining('is damaged'),
        detail: expect.objectContaining({ code: 'RecordDamaged' }),
      },
    ],
  ])('%s', async (_, more, requireMount, expected) => {
    const rooms = createRooms({
      executor: { observe: async () => new Map(Object.entries({ ...ROOM, ...more })) },
      clock: { now: () => 0 },
      volumesOn: () => [],
      copiesOn: () => [],
    });
    const place = {
      type: 'sparse',
      directory: '/data/volumes',
      ...(requireMount && { requireMount }),
    } as const;
    await rooms.observe('n1', place);
    expect(rooms.room('n1', place, 1)).toEqual(expected);
  });
});

describe('available capacity for logical volumes', () => {
  const lvm = (name: string, size: string, thinPool?: string): Volume => {
    const { sparseLoopDevice: _, ...spec } = volume().spec;
    return {
      ...volume(),
      metadata: { name },
      spec: { ...spec, lvmLogicalVolume: { vgName: 'vg0', size, ...(thinPool && { thinPool }) } },
    };
  };
  const snap = (lvName: string, place: string, gib: bigint) => ({
    ...{ uid: lvName, lvName, place },
    sizeBytes: gib * GIB,
  });
  const thick = { vgName: 'vg0', thinPool: undefined };
  const thin = { vgName: 'vg0', thinPool: 'pool' };
  test.each<[string, bigint, Parameters<typeof groupRoom>]>([
    [
      'in a group: excludes volumes that are not provisioned yet',
      7n * GIB,
      [
        { sizeBytes: 10n * GIB, promisedBytes: 0n, made: new Map([['a', 2n * GIB]]) },
        thick,
        [lvm('a', '2Gi'), lvm('b', '3Gi'), lvm('c', '1Gi', 'pool')],
        [],
        1,
      ],
    ],
    [
      'in a group: excludes the pending expansion of a volume',
      6n * GIB,
      [
        { sizeBytes: 10n * GIB, promisedBytes: 0n, made: new Map([['a', 2n * GIB]]) },
        thick,
        [lvm('a', '6Gi')],
        [],
        1,
      ],
    ],
    [
      'in a pool: is its size less all promised space',
      12n * GIB,
      [
        { sizeBytes: 10n * GIB, promisedBytes: 5n * GIB, made: new Map() },
        thin,
        [lvm('b', '3Gi', 'pool')],
        [],
        2,
      ],
    ],
    [
      'in a pool: excludes snapshots that LVM does not list yet',
      1n * GIB,
      [
        { sizeBytes: 10n * GIB, promisedBytes: 5n * GIB, made: new Map([['snap-b', 2n * GIB]]) },
        thin,
        [],
        [
          snap('snap-a', 'vg0/pool', 4n),
          snap('snap-b', 'vg0/pool', 2n),
          snap('snap-c', 'vg0/other', 3n),
        ],
        1,
      ],
    ],
  ])('%s', (_, expected, args) => {
    expect(groupRoom(...args)).toBe(expected);
  });

  const vg = (...names: string[]) =>
    report('vg', ...names.map((vg_name) => vgRow({ vg_name, vg_free_count: '3' })));
  const lvs = report(
    'lv',
    lvRow({ lv_name: 'pool', lv_attr: 'twi-aotz--', lv_size: '1000', lv_layout: 'thin,pool' }),
    lvRow({
      lv_name: 'a',
      lv_attr: 'Vwi-a-tz--',
      lv_size: '300',
      pool_lv: 'pool',
      lv_layout: 'thin,sparse',
    }),
  );
  const read = (groups: ReturnType<typeof result>, thinPool?: string) =>
    readGroupRoom(
      VIEW,
      'vg0',
      thinPool,
      new Map([
        ['groups', groups],
        ['disks', report('pv', diskRow('/dev/sda'))],
        ['logical volumes', lvs],
      ]),
    );

  test('is read from the volume group or the thin pool', () => {
    expect(read(vg('vg0', 'vg1'))).toMatchObject({ sizeBytes: 3n * 4194304n, promisedBytes: 0n });
    expect(read(vg('vg0'), 'pool')).toMatchObject({ sizeBytes: 1000n, promisedBytes: 300n });
  });

  test.each([
    [vg(), undefined, 'there is no volume group vg0'],
    [vg('vg0', 'vg0'), undefined, 'the node has several volume groups named vg0'],
    [vg('vg0'), 'a', 'there is no thin pool vg0/a'],
  ])('is an error if the group or pool is missing or ambiguous', (vgs, pool, message) => {
    expect(() => read(vgs, pool)).toThrow(message);
  });
});

describe('a refusal because free extents contain data', () => {
  const place = { type: 'lvm', vgName: 'vg0', thinPool: undefined } as const;
  const all = new Map([
    ...viewAnswers,
    ['groups', report('vg', vgRow({ vg_free_count: '1024' }))],
    ['disks', report('pv', diskRow('/dev/sda'))],
    ['logical volumes', report('lv')],
  ] as const);
  const world = async () => {
    const state = { now: 0 };
    const rooms = createRooms({
      executor: { observe: async () => all },
      clock: { now: () => state.now },
      volumesOn: () => [],
      copiesOn: () => [],
    });
    const room = async (of: Parameters<typeof rooms.observe>[1]) => {
      await rooms.observe('n1', of);
      return rooms.room('n1', of, 1);
    };
    return { rooms, room, state };
  };

  test('is kept for five minutes: the smallest size per node and class parameters', async () => {
    const { rooms, room, state } = await world();
    rooms.refuse('n1', place, 3n * GIB);
    rooms.refuse('n1', place, 2n * GIB);
    rooms.refuse('n1', place, 3n * GIB);
    rooms.refuse('n2', place, 1n);
    expect(await room(place)).toEqual({ freeBytes: 4n * GIB, refusedBytes: 2n * GIB });
    expect(await room({ ...place, overwrite: true })).toEqual({ freeBytes: 4n * GIB });
    rooms.forget('n1');
    expect(await room(place)).toMatchObject({ refusedBytes: 2n * GIB });
    state.now = 300_001;
    expect(await room(place)).toEqual({ freeBytes: 4n * GIB });
  });

  test('keeps the published capacity below the refused size', async () => {
    const { rooms } = await world();
    const told: string[] = [];
    const objects = (...list: KubeObject[]) =>
      ({ get: () => list[0], recordWrite() {} }) as unknown as Informer<never>;
    const reconcile = createCapacityReconciler({
      client: {
        get: async () => ({}),
        create: async (_: unknown, { capacity }: { capacity: string }) => told.push(capacity),
      } as unknown as KubeClient,
      storageClasses: objects(storageClass({ parameters: { type: 'lvm', vgName: 'vg0' } })),
      nodes: objects(node('n1')),
      capacities: objects(),
      rooms,
      managesNode: () => true,
      namespace: 'stowage',
      ...SILENT,
    });
    rooms.refuse('n1', place, 2n * GIB);
    await reconcile('dynamic/n1');
    expect(told).toEqual([String(2n * GIB - 1n)]);
  });
});

describe('decideCapacity', () => {
  const where = { storageClass: 'c', node: 'n1', hostname: 'h1', namespace: 'stowage' };
  const known = (capacity: string) => ({ capacity }) as CsiStorageCapacity;
  test.each<[string, Parameters<typeof decideCapacity>[1], CsiStorageCapacity | undefined, string]>(
    [
      ['a new capacity', { freeBytes: 100n }, undefined, 'create 100'],
      ['a negative capacity as 0', { freeBytes: -5n }, undefined, 'create 0'],
      ['a changed capacity', { freeBytes: 98n }, known('100'), 'update 98'],
      ['no small changes', { freeBytes: 99n }, known('100'), 'rest'],
      ['an exhausted capacity', { freeBytes: 0n }, known('1'), 'update 0'],
      ['0 for an unusable place', { refused: 'not mounted' }, known('100'), 'update 0'],
      ['0 for a new unusable place', { refused: 'not mounted' }, undefined, 'create 0'],
      ['no unknown capacity', { unknown: 'away' }, known('100'), 'rest'],
      ['no capacity for a removed place', undefined, known('100'), 'delete'],
      ['no new object for a removed place', undefined, undefined, 'rest'],
    ],
  )('publishes %s', (_, room, before, expected) => {
    const action = decideCapacity(where, room, before);
    const said =
      action === undefined
        ? 'rest'
        : 'object' in action
          ? `${action.do} ${action.object.capacity}`
          : action.do;
    expect(said).toBe(expected);
  });

  test('names the object by class and node, and selects the node by hostname', () => {
    expect(capacityName('a', 'b')).toMatch(/^stowage-[0-9a-f]{32}$/);
    expect(capacityName('a', 'b')).not.toBe(capacityName('a', 'c'));
    expect(decideCapacity(where, { freeBytes: 1n }, undefined)).toMatchObject({
      object: {
        nodeTopology: { matchLabels: { 'kubernetes.io/hostname': 'h1' } },
        storageClassName: 'c',
      },
    });
  });
});

test('deletes a capacity of another hostname label, since its topology is immutable', () => {
  const where = { storageClass: 'c', node: 'n1', hostname: 'h1', namespace: 'stowage' };
  const known = (hostname: string) =>
    ({
      capacity: '1',
      nodeTopology: { matchLabels: { 'kubernetes.io/hostname': hostname } },
    }) as unknown as CsiStorageCapacity;
  const name = capacityName('c', 'n1');
  expect(decideCapacity(where, { freeBytes: 1n }, known('n1'))).toEqual({ do: 'delete', name });
  expect(decideCapacity(where, { freeBytes: 1n }, known('h1'))).toBeUndefined();
  expect(decideCapacity(where, { unknown: 'away' }, known('n1'))).toBeUndefined();
});

describe('a published CSIStorageCapacity', () => {
  const objects = <T extends KubeObject>(...list: T[]) =>
    ({ get: (name: string) => list.find(({ metadata }) => metadata.name === name) }) as Informer<T>;

  /** Reconciles one class on n1. @returns the outcome, and the requests that were sent */
  async function reconcile(
    nodes: Informer<KubeNode>,
    acts: boolean,
    { room, hostname }: { room?: Room; hostname?: string } = {},
  ) {
    const sent: string[] = [];
    const run = createCapacityReconciler({
      client: {
        get: async () => ({}),
        delete: async (_: unknown, name: string) => sent.push(`delete ${name}`),
      } as unknown as KubeClient,
      storageClasses: objects(storageClass()),
      nodes,
      capacities: objects({
        ...{
          apiVersion: 'storage.k8s.io/v1',
          kind: 'CSIStorageCapacity',
          storageClassName: 'dynamic',
        },
        metadata: { name: capacityName('dynamic', 'n1') },
        ...(hostname !== undefined && {
          nodeTopology: { matchLabels: { 'kubernetes.io/hostname': hostname } },
        }),
      }),
      rooms: { room: () => room, observe: async () => {}, refuse() {}, forget() {} },
      managesNode: () => acts,
      namespace: 'stowage',
      ...SILENT,
    });
    return { outcome: await run('dynamic/n1'), sent };
  }

  test('is kept if the observation of the node is outdated at once', async () => {
    expect(await reconcile(objects(node('n1')), true)).toEqual({
      outcome: { requeueAfterMs: 60_000 },
      sent: [],
    });
  });

  test('is deleted with the node', async () => {
    const { sent } = await reconcile(objects(), true);
    expect(sent).toEqual([`delete ${capacityName('dynamic', 'n1')}`]);
  });

  test('is deleted, and then published again, if the node has another hostname label', async () => {
    const given = { room: { freeBytes: 1n }, hostname: 'earlier' };
    expect(await reconcile(objects(node('n1')), true, given)).toEqual({
      outcome: { retry: true },
      sent: [`delete ${capacityName('dynamic', 'n1')}`],
    });
  });

  test('is kept if another process manages the node', async () => {
    expect(await reconcile(objects(), false)).toEqual({ outcome: undefined, sent: [] });
  });
});

describe('unknown capacity', () => {
  const place = { type: 'sparse', directory: '/srv/volumes' } as const;
  const AWAY = { unknown: "sudo refused 'stat -f -- /srv'" };

  function world() {
    const time = { ms: 0 };
    const events: string[] = [];
    const details: unknown[] = [];
    const logger = memoryLogger();
    const tell = createCapacityEvents({
      events: {
        event(_, type, reason, message, detail) {
          events.push(`${type} ${reason} ${message}`);
          details.push(detail);
        },
      },
      clock: { now: () => time.ms },
      logger,
    });
    return {
      time,
      events,
      details,
      lines: logger.lines,
      tell: (room: Room) => tell(storageClass(), 'n1', place, room),
    };
  }
  const UNKNOWN =
    "Warning RoomUnknown available capacity of node n1 is unknown: sudo refused 'stat -f -- /srv'";

  test('is reported once by event and log, and again after the event expires', () => {
    const { time, events, lines, tell } = world();
    tell(AWAY);
    time.ms = EMIT_AGAIN_AFTER - 1;
    tell({ unknown: AWAY.unknown });
    expect(events).toEqual([UNKNOWN]);
    expect(lines).toEqual([
      {
        level: 'warn',
        fields: { storageClass: 'dynamic', node: 'n1', reason: AWAY.unknown },
        message: 'free space unknown',
      },
    ]);
    time.ms = EMIT_AGAIN_AFTER;
    tell(AWAY);
    expect(events).toEqual([UNKNOWN, UNKNOWN]);
  });

  test('is reported again for another reason, but not for another message', () => {
    const { events, tell } = world();
    tell({ unknown: 'port 1', detail: reason('JobDied', {}) });
    tell({ unknown: 'port 2', detail: reason('JobDied', {}) });
    tell({ unknown: 'port 2', detail: reason('UseUnknown', { device: 'x' }) });
    expect(events.map((text) => text.at(-1))).toEqual(['1', '2']);
  });

  test('is followed by one event when the capacity is known again', () => {
    const { events, details, tell } = world();
    const known = { freeBytes: 1n };
    for (const room of [known, AWAY, known, known]) tell(room);
    expect(events).toEqual([
      UNKNOWN,
      'Normal RoomKnown node n1: available capacity in /srv/volumes is known again',
    ]);
    expect(details).toEqual([
      { code: 'RoomUnknown', parameters: { node: 'n1' } },
      { code: 'RoomKnown', parameters: { node: 'n1', place: '/srv/volumes' } },
    ]);
  });
});
