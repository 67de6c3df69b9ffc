import type { Precondition, Step } from '../../src/nodes/job.ts';
import type { LogicalVolume } from '../../src/storage/lvm/facts.ts';
import { dmNameOf, dmUuidOf, isTagged } from '../../src/storage/lvm/names.ts';
import { parseIntent } from '../../src/storage/records.ts';
import type { DesiredLvm, DeviceFacts, ObservedLvm } from '../../src/storage/types.ts';
import type { Killed } from './fake-node.ts';
import { dm, free, group, lv, lvmNode, pool, VG_UUID } from './lvm-input.ts';
import { stepsWithoutDisks } from './lvm-words.ts';
import { UdevRules } from './udev-rules.ts';

const RECORDS = '/var/lib/stowage/volumes/';
const EXTENT = group.extentBytes;

/** Data of a populated volume. */
export const FILLED = 'all of it';

interface Made {
  facts: LogicalVolume;
  /** Content in the form of a consent, or '' for none. */
  content: string;
  /** User data, which no program inspects. */
  data: string;
  fsBytes: bigint;
  /** Size of the kernel's device, which may lag behind LVM's metadata. */
  deviceBytes: bigint;
  /** Number of bytes from the start that read as zeros. Later bytes are undefined. */
  zeroBytes: bigint;
  /** Set if LVM excluded the volume from udev, and was killed before it lifted that. */
  unseen: boolean;
  /** Set if the thin pool does not have the volume, since lvcreate was killed. */
  unsent: boolean;
  mounted: boolean;
}

/** The job ends at a precondition, and the next plan continues. */
export class Guarded extends Error {}

/** State that a killed lvcreate leaves of a thin volume. */
export type HalfThin = 'unseen' | 'unsent';

/**
 * Volume group with free space and at most one logical volume, as far as plans use it. Steps are
 * interpreted by their argv.
 */
export class FakeLvm {
  readonly records = new Map<string, string>();
  made: Made | undefined;
  linked = false;
  readonly rules = new UdevRules();
  /** Content of the free extents. */
  readonly left: { content: string };
  /** Destroyed contents, in order. */
  readonly destroyed: string[] = [];
  #uuids = 0;

  readonly #halfThin: HalfThin;

  constructor(content = '', halfThin: HalfThin = 'unseen') {
    this.left = { content };
    this.#halfThin = halfThin;
  }

  observe(desired: DesiredLvm): ObservedLvm {
    const { made } = this;
    const text = (what: string) => this.records.get(`${RECORDS}${desired.uid}.${what}`);
    const [intent, done, wiped] = ['intent', 'done', 'wiped'].map(text);
    const reachable = made?.facts.active && !made.facts.suspended;
    const facts = reachable ? this.#device(made) : undefined;
    const wanted = (desired.sizeBytes + EXTENT - 1n) / EXTENT;
    const missing = wanted - (made?.facts.sizeBytes ?? 0n) / EXTENT;
    const blkid = { blkid: this.left.content, blkidExit: this.left.content === '' ? 2 : 0 };
    return lvmNode({
      volumes: [...(made === undefined ? [] : [made.facts]), pool],
      free:
        desired.thinPool === undefined && missing > 0n
          ? [{ ...free, count: missing, sizeBytes: missing * EXTENT, ...this.left, ...blkid }]
          : [],
      target: facts === undefined ? { is: 'missing' } : { is: 'device', facts },
      devices: facts === undefined ? [] : [facts],
      intent: intent === undefined ? undefined : parseIntent(intent),
      done: done === undefined ? undefined : { sizeBytes: BigInt(done) },
      wiped: wiped === undefined ? undefined : BigInt(wiped),
      recordFiles: this.records.size > 0,
      link: this.linked && facts !== undefined ? facts.device : undefined,
      mounts: made?.mounted
        ? new Map([[dm.device, [`/run/stowage/mounts/${desired.uid}`]]])
        : new Map(),
    });
  }

  #device({ facts, content, deviceBytes }: Made): DeviceFacts {
    const [type = '', uuid] = content.split(':');
    const dmUuid = dmUuidOf(VG_UUID, facts.uuid);
    return {
      ...dm,
      sizeBytes: deviceBytes,
      content,
      signature: content === '' ? { found: 'none' } : { found: 'one', type, ...(uuid && { uuid }) },
      uuids: uuid === undefined ? [] : [uuid],
      identity: `dm=${dmUuid} size=${facts.sizeBytes}`,
      dmUuid,
      printed: {
        ...dm.printed,
        blkid: content,
        blkidExit: content === '' ? 2 : 0,
        wipefs: content,
      },
    };
  }

  /**
   * Runs all steps to their end.
   * @throws Guarded if an unfinished volume could be activated
   * @throws Error for another failed precondition, or a failed step
   */
  run(steps: readonly Step[]): void {
    for (const step of stepsWithoutDisks(steps)) {
      for (const precondition of step.preconditions) this.#check(step, precondition);
      this.#execute(step);
    }
  }

  /** Crashes in the step with that number, after all steps before it. */
  crash(steps: readonly Step[], number: number, killed: Killed): void {
    this.run(steps.slice(0, number));
    const [step] = stepsWithoutDisks(steps.slice(number, number + 1));
    if (step === undefined || killed === 'before') return;
    for (const precondition of step.preconditions) this.#check(step, precondition);
    if (killed === 'after') this.#execute(step);
    else this.#half(step);
  }

  reboot(): void {
    this.rules.clear();
    this.linked = false;
    if (this.made === undefined) return;
    this.made.unseen = false;
    this.made.mounted = false;
    this.made.deviceBytes = this.made.facts.sizeBytes;
    this.#set({ active: false, suspended: false, device: undefined });
  }

  #set(facts: Partial<LogicalVolume>): void {
    const made = this.#own();
    made.facts = { ...made.facts, ...facts };
  }

  #own(): Made {
    if (this.made === undefined) throw new Error('there is no logical volume');
    return this.made;
  }

  #check({ name }: Step, { argv, expect, refusal, reason }: Precondition): void {
    const line = argv.join(' ');
    const content = line.startsWith('blkid -p -O ')
      ? this.left.content
      : (this.made?.content ?? '');
    const answers: [RegExp, () => { exit: number; stdout: string }][] = [
      [/^lvs .*data_percent/, () => said(pool.uuid)],
      [/^lvs .*--select/, () => (this.made === undefined ? said() : said(this.#own().facts.uuid))],
      [
        /^lvs .*lv_uuid vg0/,
        () =>
          said(...(line.endsWith(`/${this.#own().facts.name}`) ? [this.#own().facts.uuid] : [])),
      ],
      [/^lvs .*lv_tags vg0/, () => said(this.#own().facts.tags.join(','))],
      [/^test ! -e/, () => ({ exit: this.records.has(argv.at(-1) ?? '') ? 1 : 0, stdout: '' })],
      [/^blkid .*-s UUID \/dev/, () => ({ exit: 0, stdout: content.split(':')[1] ?? '' })],
      [/^blkid/, () => ({ exit: content === '' ? 2 : 0, stdout: content })],
      [/^wipefs/, () => ({ exit: 0, stdout: content })],
      [/^lvchange --activate y/, () => ({ exit: this.#activate() ? 0 : 5, stdout: '' })],
    ];
    const found = answers.find(([pattern]) => pattern.test(line))?.[1]();
    if (found === undefined) return;
    const text = expect.stdout;
    const holds =
      (expect.exit ?? found.exit) === found.exit &&
      (text === undefined ||
        ('is' in text
          ? found.stdout === text.is
          : found.stdout.includes(text.has) && !found.stdout.includes(text.lacks)));
    const failed = `precondition of "${name}": ${refusal}: ${found.exit} ${found.stdout}`;
    if (!holds) {
      throw reason?.code === 'ThinVolumeActivated' ? new Guarded(failed) : new Error(failed);
    }
  }

  #create({ argv }: Step, half: boolean): void {
    if (this.made !== undefined) throw new Error('the name is taken');
    const after = (option: string) => argv[argv.indexOf(option) + 1] ?? '';
    const thin = argv.includes('--thinpool');
    const unsent = half && thin && this.#halfThin === 'unsent';
    const unseen = half && !unsent;
    const content = thin ? '' : this.left.content;
    if (content !== '' && !unseen) {
      if (!argv.includes('--yes')) throw new Error(`lvcreate asks about ${content}`);
      this.destroyed.push(content);
    }
    const sizeBytes = thin
      ? BigInt(after('--virtualsize').slice(0, -1))
      : BigInt(after('--extents')) * EXTENT;
    const uuid = `${lv.uuid.slice(0, -1)}${this.#uuids++}`;
    const tags = [after('--addtag')];
    this.made = {
      facts: {
        ...lv,
        uuid,
        tags,
        sizeBytes,
        ...(thin ? { kind: 'V', pool: 'pool', dataPercent: 0 } : {}),
        ...(unsent ? { active: false, device: undefined } : {}),
      },
      ...{ content: unseen ? content : '', data: '', fsBytes: 0n, unseen, unsent, mounted: false },
      deviceBytes: sizeBytes,
      zeroBytes: thin ? sizeBytes : 0n,
    };
    this.#makeLink();
  }

  /** Updates the link as udev does. */
  #makeLink(): void {
    const { made } = this;
    if (made === undefined || !made.facts.active || made.unseen) {
      this.linked = false;
      return;
    }
    const keys = {
      'ATTR{dm/uuid}': dmUuidOf(VG_UUID, made.facts.uuid),
      'ATTR{dm/name}': dmNameOf({ vgName: 'vg0', name: made.facts.name }),
    };
    this.linked = this.rules.linksOf(keys).length > 0;
  }

  #half(step: Step): void {
    const [program = ''] = step.argv;
    if (program === 'lvcreate') this.#create(step, true);
    else if (program === 'lvextend') {
      const { deviceBytes } = this.#own();
      this.#execute(step);
      this.#own().deviceBytes = deviceBytes;
      this.#set({ suspended: true });
    } else if (program.startsWith('mkfs.')) {
      this.#own().content = `${program.slice(5)}:${step.argv.at(-2)?.replace('uuid=', '')}`;
      this.#own().data = '';
    } else if (program === 'sh' && step.argv.includes('stowage-image'))
      this.#fill(step.argv, 'half of it');
    else if (program === 'dd' && step.argv[1] === 'if=/dev/zero') this.#own().content = '';
  }

  #execute({ argv, stdin = '' }: Step): void {
    const [program = '', ...args] = argv;
    const last = args.at(-1) ?? '';
    switch (program) {
      case 'dd': {
        const of = args.find((arg) => arg.startsWith('of='))?.slice(3) ?? '';
        if (of.startsWith(RECORDS)) this.records.set(of, stdin.trim());
        else {
          this.#destroy();
          this.#zero(args);
        }
        return;
      }
      case 'mv':
        this.records.set(last, this.records.get(args.at(-2) ?? '') ?? '');
        this.records.delete(args.at(-2) ?? '');
        return;
      case 'rm':
        for (const path of args) this.records.delete(path);
        this.rules.remove(args);
        return;
      case 'find':
        this.rules.write(argv);
        return;
      case 'lvcreate':
        this.#create({ name: '', argv, preconditions: [] }, false);
        return;
      case 'lvextend':
        this.#set({ sizeBytes: BigInt(args[args.indexOf('--extents') + 1] ?? 0) * EXTENT });
        this.#own().deviceBytes = this.#own().facts.sizeBytes;
        return;
      case 'lvremove':
        if (
          !this.#own().facts.active &&
          args.some((arg) => arg.includes(`lv_uuid=${this.#own().facts.uuid}&&`))
        ) {
          this.left.content = this.#own().content;
          this.made = undefined;
        }
        return;
      case 'lvchange':
        this.#change(args);
        return;
      case 'mkfs.ext4':
      case 'mkfs.xfs': {
        const made = this.#own();
        made.content = `${program.slice(5)}:${args.at(-2)?.replace('uuid=', '')}`;
        made.fsBytes = made.facts.sizeBytes;
        made.data = '';
        return;
      }
      case 'wipefs':
        this.#destroy();
        return;
      case 'lvrename':
        this.#set({ name: last.split('/')[1] ?? '' });
        return;
      case 'sh':
        if (args.includes('stowage-image')) this.#fill(args);
        if (args.includes('stowage-grow')) this.#own().fsBytes = this.#own().deviceBytes;
        if (args.includes('stowage-adopt')) this.#own().content = `${args.at(-2)}:${args.at(-3)}`;
        return;
      case 'umount':
        this.#own().mounted = false;
        return;
      case 'flock':
      case 'udevadm':
        this.#makeLink();
        return;
    }
  }

  /** Writes a disk image: as a file of the file system, or in its place. */
  #fill(args: readonly string[], data = FILLED): void {
    const made = this.#own();
    if (made.facts.tags.some((tag) => !tag.startsWith('stowage.dev/unfinished='))) {
      throw new Error('it is the Volume that is filled');
    }
    made.data = data;
    if (args.includes('block')) made.content = 'gpt:of-the-image';
  }

  #zero(args: readonly string[]): void {
    const made = this.#own();
    const [seek = 0n, count = 0n] = ['seek=', 'count='].map((word) =>
      BigInt(args.find((each) => each.startsWith(word))?.slice(word.length) ?? 0),
    );
    if (seek <= made.zeroBytes && made.zeroBytes < seek + count) made.zeroBytes = seek + count;
  }

  #destroy(): void {
    const made = this.#own();
    if (made.content !== '') this.destroyed.push(made.content);
    Object.assign(made, { content: '', data: '' });
  }

  #change(args: readonly string[]): void {
    const after = (option: string) =>
      args.slice(args.indexOf(option) + 1, args.indexOf(option) + 2);
    const { tags } = this.#own().facts;
    if (args.some((arg) => /^--(add|del)tag$/.test(arg))) {
      const gone = args.includes('--deltag') ? after('--deltag') : [];
      const added = args.includes('--addtag') ? after('--addtag') : [];
      this.#set({ tags: [...tags.filter((each) => !gone.includes(each)), ...added] });
    } else if (args.includes('--refresh')) {
      this.#own().unseen = false;
      this.#own().deviceBytes = this.#own().facts.sizeBytes;
      this.#set({ suspended: false });
    } else if (args.includes('n')) {
      if (this.#own().mounted) throw new Error('in use');
      this.linked = false;
      this.#set({ active: false, device: undefined });
    } else if (!this.#activate()) throw new Error('No data available');
  }

  /** @returns false if the thin pool does not have the volume */
  #activate(): boolean {
    if (this.#own().unsent) return false;
    this.#set({ active: true, device: lv.device });
    this.#makeLink();
    return true;
  }

  isTagged = (uid: string): boolean => this.made !== undefined && isTagged(this.made.facts, uid);
}

/** Returns output of LVM, with the message that it adds while a disk's metadata are incomplete. */
const said = (...lines: string[]) => ({
  exit: 0,
  stdout: ['  Retrying metadata scan.', ...lines.map((line) => `  ${line}`)].join('\n'),
});
