import { holds } from '../../src/nodes/check-preconditions.ts';
import type { Probe, ProbeResult, Step } from '../../src/nodes/job.ts';
import { deviceProbes, rawProbes, readRaw } from '../../src/storage/block/observe.ts';
import { LSBLK } from '../../src/storage/block-devices.ts';
import type { DesiredRaw, ObservedRaw } from '../../src/storage/types.ts';
import type { Killed } from './fake-node.ts';
import { UdevRules } from './udev-rules.ts';

/**
 * Data at an offset of a device: a signature, or foreign bytes that no program recognizes (type
 * '').
 */
interface Mark {
  at: bigint;
  type: string;
  uuid?: string;
  /** Set if the writing program was killed halfway. */
  torn?: boolean;
}
interface Area {
  sizeBytes: bigint;
  marks: Mark[];
}
interface Partition extends Area {
  start: bigint;
  guid: string;
}

export interface FakeDisk extends Area {
  /** Kernel name, which may change at a reboot. */
  name: string;
  /** Persistent name, as under /dev/disk/by-id. */
  id: string;
  serial: string;
  /** Device-mapper UUID of a logical volume. */
  dm?: string;
  /** Content of the GPT, valid while `blkid` can read it. */
  table: { uuid: string; partitions: Map<number, Partition> };
  /** Numbers of partitions with a kernel device. */
  known: Set<number>;
}

/** Error of a step that may fail because of a race. */
export class Raced extends Error {}

const LSBLK_LINE = LSBLK.join(' ');
const MIB = 1n << 20n;
const RECORDS = '/var/lib/stowage/volumes';
const ok = (stdout = ''): ProbeResult => ({
  exit: 0,
  stdout: stdout.replace(/\n+$/, ''),
  stderr: '',
});
const failed = (exit: number, stderr = ''): ProbeResult => ({ exit, stdout: '', stderr });
const missing = failed(1, 'stat: No such file or directory');

export function fakeDisk(name: string, more: Partial<FakeDisk> = {}): FakeDisk {
  const table = { uuid: '', partitions: new Map<number, Partition>() };
  return {
    name,
    id: `disk-${name}`,
    serial: `SERIAL-${name}`,
    sizeBytes: 640n * MIB,
    marks: [],
    table,
    known: new Set(),
    ...more,
  };
}

/** Divides a disk into two partitions, which the kernel knows. */
export function divide(disk: FakeDisk, uuid: string, guids: readonly [string, string]): FakeDisk {
  const half = disk.sizeBytes / 2n;
  writeTable(disk, uuid, [
    { start: MIB, sizeBytes: half - MIB, guid: guids[0], marks: [] },
    { start: half, sizeBytes: half - MIB, guid: guids[1], marks: [] },
  ]);
  disk.known = new Set([1, 2]);
  return disk;
}

/**
 * Disks and records of a node, as far as plans use them: commands are interpreted by their argv.
 */
export class FakeDisks {
  readonly records = new Map<string, string>();
  readonly links = new Map<string, string>();
  readonly rules = new UdevRules();
  /** `id` of each disk that a step wrote to. */
  readonly written = new Set<string>();
  readonly disks: FakeDisk[];
  readonly looked: Probe[] = [];
  #starts = 1;

  constructor(...disks: FakeDisk[]) {
    this.disks = disks;
  }

  observe(desired: DesiredRaw): ObservedRaw {
    const look = (probes: readonly Probe[]) => {
      this.looked.push(...probes);
      return new Map(probes.map(({ name, argv }) => [name, this.#answer(argv)] as const));
    };
    const first = look(rawProbes(desired));
    return readRaw(desired, first, look(deviceProbes(first, desired)));
  }

  /**
   * Runs all steps to their end.
   * @throws Raced for a failure that may be a race, Error for another failed step or precondition
   */
  run(steps: readonly Step[]): void {
    for (const step of steps) {
      this.#check(step);
      const exit = this.#execute(step.argv, step.stdin ?? '');
      if (exit !== 0)
        throw new (step.failureMeansConflict ? Raced : Error)(
          `"${step.name}" failed with status ${exit}`,
        );
    }
  }

  /** Crashes in the step with that number, after all steps before it. */
  crash(steps: readonly Step[], number: number, killed: Killed): void {
    this.run(steps.slice(0, number));
    const step = steps[number];
    if (step === undefined || killed === 'before') return;
    this.#check(step);
    if (killed === 'after') this.#execute(step.argv, step.stdin ?? '');
    else this.#half(step);
  }

  /** Reboots: the kernel rereads all tables, and may find the disks in another order. */
  reboot(exchange: boolean): void {
    const [first, second] = this.disks;
    if (exchange && first !== undefined && second !== undefined && first.dm === undefined) {
      [first.name, second.name] = [second.name, first.name];
    }
    this.#starts++;
    this.rules.clear();
    for (const disk of this.disks)
      disk.known = new Set(readable(disk) ? disk.table.partitions.keys() : []);
    this.#makeLinks();
  }

  /** Returns the area at a path, with its disk. */
  area(path: string): { disk: FakeDisk; number?: number; area: Area } | undefined {
    for (const disk of this.disks) {
      if (path === `/dev/${disk.name}` || path === `/dev/disk/by-id/${disk.id}`)
        return { disk, area: disk };
      for (const number of disk.known) {
        const paths = [`/dev/${disk.name}${number}`, `/dev/disk/by-id/${disk.id}-part${number}`];
        // The kernel keeps a partition that was removed from the table.
        if (paths.includes(path)) return { disk, number, area: partitionOf(disk, number) };
      }
    }
    return undefined;
  }

  #check(step: Step): void {
    for (const { argv, expect, refusal } of step.preconditions) {
      const answer = this.#answer(argv);
      if (!holds(expect, answer))
        throw new Error(
          `precondition of "${step.name}": ${refusal}: ${answer.exit} ${answer.stdout}`,
        );
    }
  }

  #answer(argv: readonly string[]): ProbeResult {
    const last = argv.at(-1) ?? '';
    const line = argv.join(' ');
    const found = this.area(last);
    if (line === LSBLK_LINE) return ok(JSON.stringify({ blockdevices: this.#rows() }));
    if (line.startsWith('lsblk --raw')) {
      const rows = this.#rows().filter(
        ({ kname, pkname }) =>
          last === `/dev/${kname}` || (!argv.includes('-d') && last === `/dev/${pkname}`),
      );
      return rows.length === 0
        ? failed(32)
        : ok(rows.map((row) => Object.values(row).join(' ')).join('\n'));
    }
    if (line.startsWith('stat -L -c %F')) {
      return found === undefined ? missing : ok(`block special file|${toHex(numberOf(found))}`);
    }
    if (line.startsWith('stat -L')) {
      const target = this.area(this.links.get(last) ?? '');
      return target === undefined ? missing : ok(toHex(numberOf(target)));
    }
    if (/^blkid -p( -[nu] [^ ]+)? -o export/.test(line)) return blkid(argv, found);
    if (/^blkid -p( -[nu] [^ ]+)? -o value/.test(line)) {
      const printed = blkid(argv, found);
      const wanted = argv.filter((_, index) => argv[index - 1] === '-s');
      const lines = printed.stdout.split('\n').map((each) => each.split('='));
      const values = wanted.flatMap((key) => lines.find(([name]) => name === key)?.[1] ?? []);
      return { ...printed, stdout: values.join('\n') };
    }
    if (line.startsWith('wipefs -J')) return ok(JSON.stringify({ signatures: signatures(found) }));
    if (line.startsWith('wipefs -n'))
      return ok(
        signatures(found)
          .map(({ type }) => type)
          .join('\n'),
      );
    if (line.startsWith('dd if=/dev/') || line.startsWith('mkfs.ext4 -n ')) return ok();
    if (argv[0] === 'cmp') return this.#execute(argv, '') === 0 ? ok() : failed(1);
    if (argv[0] === 'od') {
      const at = BigInt(argv[argv.indexOf('-j') + 1] ?? 0) - 56n;
      const header = found?.area.marks.find((mark) => mark.type === 'gpt' && mark.at === at);
      return header === undefined ? ok(' 00') : ok(bytesOf(found?.disk.table.uuid ?? ''));
    }
    if (line === 'cat /proc/sys/kernel/random/boot_id') return ok(`start-${this.#starts}`);
    if (line.startsWith('cat /sys/class/block/')) {
      const [, , , , name = '', what] = last.split('/');
      const device = this.area(`/dev/${name}`);
      if (what === 'diskseq' && device !== undefined)
        return ok(String(this.disks.indexOf(device.disk) + 1));
      const value =
        what === 'partition' ? device?.number : device?.number ? undefined : device?.disk.dm;
      return value === undefined ? failed(1, 'cat: No such file or directory') : ok(String(value));
    }
    if (argv[0] === 'cat' && last.startsWith(RECORDS)) {
      const text = this.records.get(last);
      return text === undefined ? failed(1, 'cat: No such file or directory') : ok(text);
    }
    if (line.startsWith(`find ${RECORDS}/`)) {
      const paths = [...this.records.keys()];
      const uid = /-name (\S+)\.\* ?$/.exec(line)?.[1];
      return uid === undefined
        ? ok(
            paths
              .filter((path) => path.endsWith('.intent'))
              .map((path) => `@${path.slice(RECORDS.length + 1)}\n${this.records.get(path)}`)
              .join(''),
          )
        : ok(paths.filter((path) => path.startsWith(`${RECORDS}/${uid}.`)).join('\n'));
    }
    if (line.startsWith('test ! -e')) return this.records.has(last) ? failed(1) : ok();
    // Nothing uses a device here. Each command's output proves that it did search.
    if (argv[0] === 'losetup' || argv[0] === 'test') return ok();
    if (argv[0] === 'cat')
      return ok(last === '/proc/swaps' ? 'Filename Type Size Used Priority' : '');
    if (argv[0] === 'timeout') return ok('/character special file|1:3/');
    if (argv[0] === 'find') {
      if (argv.includes('-lname')) return ok('//dev/null/');
      const said = {
        '/proc': ' / /proc ',
        '/sys/fs': '/sys/fs',
        '-L': '/character special file|1:3/',
      };
      return ok(argv[1] === '-H' ? '/dev/null' : (said[argv[1] as keyof typeof said] ?? ''));
    }
    // No logical volume here has a tag.
    if (argv[0] === 'lvs') return ok();
    throw new Error(`no answer to ${line}`);
  }

  #rows() {
    return this.disks.flatMap((disk) =>
      [undefined, ...disk.known].map((number) => {
        const device = { disk, ...(number === undefined ? {} : { number }) };
        return {
          kname: `${disk.name}${number ?? ''}`,
          'maj:min': numberOf(device),
          pkname: number === undefined ? null : disk.name,
          type: number !== undefined ? 'part' : disk.dm === undefined ? 'disk' : 'lvm',
          size: String((number === undefined ? disk : partitionOf(disk, number)).sizeBytes),
          ro: false,
          serial: number === undefined && disk.serial !== '' ? disk.serial : null,
          wwn: null,
        };
      }),
    );
  }

  /** @returns the exit status */
  #execute(argv: readonly string[], stdin: string): number {
    const [program = '', ...rest] = argv;
    const last = argv.at(-1) ?? '';
    const option = (name: string) => rest.find((word) => word.startsWith(name))?.slice(name.length);
    switch (program) {
      case 'install':
      case 'sync':
      case 'true':
        return 0;
      case 'mv':
        this.records.set(last, this.records.get(rest.at(-2) ?? '') ?? '');
        this.records.delete(rest.at(-2) ?? '');
        return 0;
      case 'rm':
        for (const path of rest) {
          this.records.delete(path);
          this.links.delete(path);
        }
        this.rules.remove(rest);
        return 0;
      case 'find':
        this.rules.write(argv);
        return 0;
      case 'dd': {
        const path = option('of=') ?? '';
        if (path.startsWith(RECORDS)) this.records.set(path, stdin);
        else this.#zero(path, BigInt(option('seek=') ?? 0), BigInt(option('count=') ?? 0));
        return 0;
      }
      case 'cmp': {
        const from = BigInt(option('--ignore-initial=')?.split(':')[0] ?? 0);
        const path = rest[rest.indexOf('--') + 1] ?? '';
        return this.#marks(path, from, from + BigInt(option('--bytes=') ?? 0)).length === 0 ? 0 : 1;
      }
      case 'wipefs':
        for (const path of rest.filter((word) => word.startsWith('/dev/'))) {
          const { area } = this.#write(path);
          area.marks = area.marks.filter(({ type }) => type === '');
        }
        return 0;
      case 'mkfs.ext4':
        this.#write(last).area.marks.push({
          at: 0x438n,
          type: 'ext4',
          uuid: rest[rest.indexOf('-U') + 1] ?? '',
        });
        return 0;
      case 'mkfs.xfs':
        this.#write(last).area.marks.push({ at: 0n, type: 'xfs', uuid: option('uuid=') ?? '' });
        return 0;
      case 'sgdisk': {
        const { disk } = this.#write(last);
        const [number, guid = ''] = option('--partition-guid=')?.split(':') ?? [];
        if (rest.includes('--clear')) {
          const partition = { start: MIB, sizeBytes: disk.sizeBytes - 2n * MIB, guid, marks: [] };
          writeTable(disk, option('--disk-guid=') ?? '', [partition]);
        } else {
          partitionOf(disk, Number(number)).guid = guid;
          disk.table.uuid = option('--disk-guid=') ?? disk.table.uuid;
        }
        return 0;
      }
      case 'sh': {
        // stowage-adopt
        const [path = '', uuid = ''] = rest.slice(4);
        const [mark] = fileSystems(this.#write(path).area);
        if (mark === undefined) throw new Error(`no file system on ${path}`);
        mark.uuid = uuid;
        delete mark.torn;
        return 0;
      }
      case 'partx': {
        const { disk } = this.#get(last);
        const number = rest[rest.indexOf('--nr') + 1];
        if (rest[0] === '--delete') {
          const any = disk.known.size > 0;
          disk.known = new Set();
          return any ? 0 : 1;
        }
        const numbers = readable(disk) ? [...disk.table.partitions.keys()] : [];
        const told = rest.includes('--nr')
          ? numbers.filter((each) => String(each) === number)
          : numbers;
        for (const each of told) disk.known.add(each);
        return told.length === 0 ? 1 : 0;
      }
      case 'flock':
        // Concurrent jobs reload the udev rules one after another.
        return this.#execute(rest.slice(rest.indexOf('udevadm')), stdin);
      case 'udevadm':
        this.#makeLinks();
        return 0;
    }
    throw new Error(`no program ${argv.join(' ')}`);
  }

  /** Carries out a part of a program, if there is a state between nothing and all. */
  #half(step: Step): void {
    const [program, ...rest] = step.argv;
    const last = step.argv.at(-1) ?? '';
    if (program === 'rm') this.records.delete(rest.find((path) => this.records.has(path)) ?? '');
    if (program === 'dd' && step.stdin !== undefined)
      this.#execute(step.argv, step.stdin.slice(0, 10));
    if (program === 'dd' && step.stdin === undefined) {
      const count = BigInt(rest.find((word) => word.startsWith('count='))?.slice(6) ?? 0);
      const half = (count / 2n / MIB) * MIB;
      this.#execute(
        step.argv.map((word) => (word.startsWith('count=') ? `count=${half}` : word)),
        '',
      );
    }
    // wipefs processes devices in order, and their signatures in order.
    if (program === 'wipefs') {
      const path = rest.find(
        (word) => word.startsWith('/dev/') && signatures(this.area(word)).length > 0,
      );
      const { area } = this.#write(path ?? last);
      const first = area.marks.findIndex(({ type }) => type !== '');
      if (first >= 0) area.marks.splice(first, 1);
    }
    // The UUID is readable long before the file system is complete.
    if (program === 'mkfs.xfs') {
      this.#execute(step.argv, '');
      for (const mark of this.#get(last).area.marks) mark.torn = true;
    }
    // XFS has a copy of its UUID in each allocation group; programs read the first one.
    if (program === 'sh' && rest.at(-2) === 'xfs') {
      this.#execute(step.argv, '');
      for (const mark of fileSystems(this.#get(rest[4] ?? '').area)) mark.torn = true;
    }
    if (program === 'sgdisk' && !rest.includes('--clear')) {
      this.#execute(
        step.argv.filter((word) => !word.startsWith('--disk-guid=')),
        '',
      );
    }
    // sgdisk writes the copy at the end first.
    if (program === 'sgdisk' && rest.includes('--clear')) {
      this.#execute(step.argv, '');
      const { disk } = this.#get(last);
      disk.marks = disk.marks.filter(({ at, type }) => type === '' || at > MIB);
    }
  }

  #makeLinks(): void {
    this.links.clear();
    for (const disk of this.disks) {
      for (const number of [undefined, ...disk.known]) {
        const area = number === undefined ? disk : partitionOf(disk, number);
        const path = `/dev/${disk.name}${number ?? ''}`;
        const [mark] = fileSystems(area);
        if (mark?.uuid !== undefined) this.links.set(`/dev/disk/by-uuid/${mark.uuid}`, path);
        const keys = {
          [number === undefined ? 'ENV{DEVTYPE}' : 'ENV{PARTN}']:
            number === undefined ? 'disk' : `${number}`,
          'ATTRS{diskseq}': String(this.disks.indexOf(disk) + 1),
          'ATTR{dm/uuid}': number === undefined ? disk.dm : undefined,
        };
        for (const link of this.rules.linksOf(keys)) this.links.set(link, path);
        if (number !== undefined)
          this.links.set(`/dev/disk/by-partuuid/${partitionOf(disk, number).guid}`, path);
      }
    }
  }

  #zero(path: string, from: bigint, count: bigint): void {
    const { disk, number, area } = this.#write(path);
    const outside = (offset: bigint) => (mark: Mark) =>
      mark.at + offset < from || mark.at + offset >= from + count;
    area.marks = area.marks.filter(outside(0n));
    if (number !== undefined) return;
    for (const partition of disk.table.partitions.values()) {
      partition.marks = partition.marks.filter(outside(partition.start));
    }
  }

  #marks(path: string, from: bigint, to: bigint): Mark[] {
    const { disk, number, area } = this.#get(path);
    const inner =
      number === undefined
        ? [...disk.table.partitions.values()].flatMap(({ start, marks }) =>
            marks.map((mark) => ({ ...mark, at: mark.at + start })),
          )
        : [];
    return [...area.marks, ...inner].filter(({ at }) => at >= from && at < to);
  }

  #write(path: string) {
    const found = this.#get(path);
    this.written.add(
      found.number === undefined ? found.disk.id : `${found.disk.id}-part${found.number}`,
    );
    return found;
  }

  #get(path: string) {
    const found = this.area(path);
    if (found === undefined) throw new Error(`no device ${path}`);
    return found;
  }
}

function writeTable(disk: FakeDisk, uuid: string, partitions: readonly Partition[]): void {
  disk.table = { uuid, partitions: new Map(partitions.map((each, index) => [index + 1, each])) };
  disk.marks.push(
    { at: 0x1fen, type: 'PMBR' },
    { at: 0x200n, type: 'gpt' },
    { at: disk.sizeBytes - 512n, type: 'gpt' },
  );
}

function partitionOf(disk: FakeDisk, number: number): Partition {
  const partition = disk.table.partitions.get(number);
  if (partition === undefined) throw new Error(`no partition ${number} of ${disk.name}`);
  return partition;
}

/** blkid requires a protective MBR for a GPT; wipefs finds remains without one. */
const readable = ({ marks }: Area) =>
  marks.some(({ type }) => type === 'PMBR') && marks.some(({ type }) => type === 'gpt');

const fileSystems = ({ marks }: Area) =>
  marks.filter(({ type }) => type !== '' && type !== 'PMBR' && type !== 'gpt');

function numberOf({ disk, number = 0 }: { disk: FakeDisk; number?: number }): string {
  const letter = disk.name.charCodeAt(disk.name.length - 1) - 97;
  return disk.dm === undefined ? `8:${letter * 16 + number}` : `252:${number}`;
}

const toHex = (device: string) =>
  device
    .split(':')
    .map((part) => Number(part).toString(16))
    .join(':');

/** Formats a GUID as od prints it from a GPT header. */
function bytesOf(guid: string): string {
  const [a = '', b = '', c = '', d = '', e = ''] = guid
    .split('-')
    .map((part) => part.match(/../g) ?? []);
  return [...[a, b, c].map((part) => [...part].reverse()), d, e]
    .flat()
    .map((byte) => ` ${byte}`)
    .join('');
}

function signatures(found: { area: Area } | undefined) {
  return (found?.area.marks ?? [])
    .filter(({ type }) => type !== '')
    .map(({ at, type, uuid }) => ({ offset: `0x${at.toString(16)}`, type, uuid: uuid ?? null }));
}

function blkid(argv: readonly string[], found: ReturnType<FakeDisks['area']>): ProbeResult {
  if (found === undefined) return failed(2);
  const { disk, number, area } = found;
  // `-n ext4,xfs` limits the search to these types; `-u nofilesystem,…` excludes all file systems.
  const types = argv[2] === '-n' ? argv[3]?.split(',') : argv[2] === '-u' ? [] : undefined;
  const seen = fileSystems(area).filter(({ type }) => types?.includes(type) ?? true);
  const table = number === undefined && readable(disk);
  if (seen.length + (table ? 1 : 0) > 1) return failed(8, 'ambivalent result');
  const [mark] = seen;
  const lines = [
    ...(mark === undefined ? [] : [`UUID=${mark.uuid}`, `TYPE=${mark.type}`]),
    ...(table ? [`PTUUID=${disk.table.uuid}`, 'PTTYPE=gpt'] : []),
    ...(number !== undefined && readable(disk)
      ? [
          'PART_ENTRY_SCHEME=gpt',
          `PART_ENTRY_UUID=${partitionOf(disk, number).guid}`,
          `PART_ENTRY_NUMBER=${number}`,
        ]
      : []),
  ];
  return lines.length === 0 ? failed(2) : ok([`DEVNAME=${argv.at(-1)}`, ...lines].join('\n'));
}
